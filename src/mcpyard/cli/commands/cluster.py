"""`mcpyard cluster`: sets up a cluster, shows its nodes, and moves servers between them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.confirmation import confirm
from mcpyard.cli.output import clean, table
from mcpyard.cli.printing import JsonObject, decode_object, decode_objects
from mcpyard.client.discovery import RunningYard, need_yard, segment, server_path

NodeAction = Literal["status", "drain", "forget", "move", "rebalance"]

_DRY: Final = frozenset({"drain", "move"})

_WHY: Final = {
    "chosen": "least filled",
    "taken-over": "taken over from {source}",
    "stopped": "{source} was stopped",
    "moved": "moved from {source}",
    "drained": "{source} was drained",
    "rebalanced": "rebalanced from {source}",
    "cannot-run": "could not run on {source}",
}
"""Why a server is on its node."""

_HAPPENED: Final = {
    "joined": "{node} joined",
    "lost": "{node} stopped responding, {by} took over",
    "left": "{node} was stopped",
    "draining": "{node} is drained",
    "forgotten": "{node} was removed",
    "moving": "moving from {source} to {node}",
    "placed": "on {node}",
    "stayed": "stays on {node}",
}
"""What events of nodes, and of servers, say."""

_OBSTACLES: Final = {
    "no-node": "no other node is up",
    "labels": "no node has its labels",
    "full": "no node has room",
    "cannot-run": "it cannot run there",
}


class ActionOptions(Struct, frozen=True, kw_only=True):
    """The options of the actions about nodes."""

    servers: bool
    events: bool
    dry_run: bool
    yes: bool
    as_json: bool


def use_cluster(
    action: NodeAction, names: Sequence[str], home: Path, choices: ActionOptions
) -> int:
    """Show the cluster of a running mcpyard, or change it."""
    if choices.dry_run and action not in _DRY:
        raise usage(f"cluster {action} has no --dry-run", "drain and move have one")
    match action, [*names]:
        case "status", []:
            return _show(need_yard(home), choices)
        case "rebalance", []:
            return _rebalance(need_yard(home), as_json=choices.as_json)
        case "drain", [node]:
            return _drain(need_yard(home), node, choices)
        case "forget", [node]:
            return _forget(need_yard(home), node, choices)
        case "move", [server, node]:
            return _move(need_yard(home), server, node, choices)
        case _:
            raise usage(
                f"cluster {action} takes other words than these", "see: mcpyard cluster --help"
            )


def _show(yard: RunningYard, choices: ActionOptions) -> int:
    path = f"/api/cluster?placements={int(choices.servers)}&events={int(choices.events)}"
    cluster = decode_object(yard.get(path))
    _print_cluster(cluster, as_json=choices.as_json)
    if choices.servers and not choices.as_json:
        print()
        rows = [_placement_row(each) for each in cluster["placements"]]
        table(("SERVER", "NODE", "WHY"), rows, "no servers")
    if choices.events and not choices.as_json:
        print()
        rows = [_event_row(each) for each in cluster["events"]]
        table(("TIME (UTC)", "EVENT"), rows, "no events")
    return 0


def _event_row(event: JsonObject) -> tuple[str, str]:
    at, by = str(event["at"] or "")[:19].replace("T", " "), event["by"]
    text = (
        _HAPPENED.get(event["kind"], "").format(**event) if event["node"] else "no node can run it"
    )
    if event["kind"] == "placed" and event["why"]:
        text += f", {_WHY.get(event['why'], '').format(source=event['source'])}"
    text += f", by {by}" if by and event["kind"] != "lost" else ""
    return at, clean(f"{event['name']}: {text}" if event["server"] else text)


def _placement_row(placed: JsonObject) -> tuple[str, str, str]:
    node = clean(str(placed["node"] or "-"))
    if placed["nextNode"]:
        node += f" -> {clean(str(placed['nextNode']))}"
    return clean(str(placed["name"])), node, clean(_why(placed))


def _why(placed: JsonObject) -> str:
    if placed["pinned"]:
        return "belongs to its machine"
    reason = placed["nodeReason"]
    if reason is None:
        return "no node runs it"
    labels = " ".join(f"{key}={value}" for key, value in reason["labels"].items())
    parts = [_WHY.get(reason["why"], "").format(source=reason["source"])]
    parts += [f"by {reason['by']}"] if reason["by"] else []
    parts += [f"only nodes with {labels}"] if labels else []
    parts += ["kept over a restart"] if reason["kept"] else []
    return ", ".join(each for each in parts if each)


def _print_cluster(cluster: JsonObject, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(cluster))
        return 0
    rows = [
        (
            _state(each),
            clean(str(each["name"])) + (" (this one)" if each["name"] == cluster["node"] else ""),
            f"{each['servers']}/{each['capacity']}",
            f"{each['beatAgeMs'] / 1000:.1f} s" if cluster["database"] == "ok" else "",
            clean(str(each["version"])),
            clean(" ".join(f"{key}={value}" for key, value in each["labels"].items())),
        )
        for each in cluster["nodes"]
    ]
    table(("STATE", "NODE", "SERVERS", "BEAT", "VERSION", "LABELS"), rows, "no nodes")
    for each in cluster["nodes"]:
        if (problem := each.get("problem")) and each["state"] != "left":
            print(clean(f"{each['name']} cannot be reached: {problem}"))
    if cluster["database"] == "away":
        print("the database cannot be reached: changes are refused, running servers answer")
    if cluster["isolated"]:
        print("this node is isolated: it answers programs on its own machine only")
    return 0


def _state(node: JsonObject) -> str:
    if node["reachable"] or node["state"] == "left":
        return str(node["state"])
    return f"{node['state']}, unreachable"


def _drain(yard: RunningYard, node: str, choices: ActionOptions) -> int:
    path = f"/api/cluster/nodes/{segment(node)}/drain"
    if choices.dry_run:
        plan = decode_object(yard.post(f"{path}?dryRun=1"))
        return _print_plan(plan, f"{clean(node)} has no servers", as_json=choices.as_json)
    return _print_cluster(decode_object(yard.post(path)), as_json=choices.as_json)


def _print_plan(plan: JsonObject, nothing: str, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(plan))
        return 0
    rows = [
        (
            clean(str(each["name"])),
            clean(str(each["source"])),
            clean(str(each["target"] or "stays")),
            _how(each),
        )
        for each in plan["moves"]
    ]
    table(("SERVER", "FROM", "TO", "HOW"), rows, nothing)
    return 0


def _how(move: JsonObject) -> str:
    obstacle = _OBSTACLES.get(move["obstacle"] or "", "")
    if not move["target"]:
        return obstacle
    if move["target"] == move["source"]:
        return "it is there"
    how = "ends, then starts there" if move["singleton"] else "starts there, then ends here"
    return f"{how}; {obstacle}" if obstacle else how


def _forget(yard: RunningYard, node: str, choices: ActionOptions) -> int:
    if not choices.yes and not confirm(
        f"The node {clean(node)} is removed, and its name is refused"
    ):
        return 1
    yard.delete(f"/api/cluster/nodes/{segment(node)}")
    done = json.dumps({"forgotten": node}) if choices.as_json else f"removed the node {clean(node)}"
    print(done)
    return 0


def _move(yard: RunningYard, server: str, node: str, choices: ActionOptions) -> int:
    body = {"node": node, "dryRun": choices.dry_run}
    answer = decode_object(yard.post(server_path(server, "move"), body))
    if choices.dry_run:
        return _print_plan(answer, "", as_json=choices.as_json)
    if choices.as_json:
        print(json.dumps(answer))
    elif answer["nextNode"]:
        print(f"{clean(server)}: moving from {answer['node']} to {answer['nextNode']}")
    else:
        print(f"{clean(server)}: on {answer['node']}")
    return 0


def _rebalance(yard: RunningYard, *, as_json: bool) -> int:
    moves = decode_objects(yard.post("/api/cluster/rebalance"))
    if as_json:
        print(json.dumps(moves))
    else:
        count = "1 server moves" if len(moves) == 1 else f"{len(moves)} servers move"
        print(count if moves else "nothing to move")
    return 0
