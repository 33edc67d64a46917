"""`mcpyard calls`: the journal of calls, and what is recorded of each."""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlencode

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.confirmation import confirm
from mcpyard.cli.output import clean, one_line, table
from mcpyard.cli.printing import JsonObject, decode_object, print_raw
from mcpyard.client.discovery import RunningYard, need_yard
from mcpyard.domain.edges import EXIT_USAGE
from mcpyard.domain.narrowing import object_of

CallsAction: TypeAlias = Literal["ls", "show", "purge", "record"]
CommandKind: TypeAlias = Literal["curl", "cli", "python"]

_CALLS: Final = "/api/mcp/calls"
_CLUSTER: Final = "/api/cluster"
_RECORDING: Final = "/api/mcp/recording"
_MODES: Final = ("on", "off", "auto")

_HEAD: Final = ("ID", "TIME (UTC)", "SERVER", "TOOL", "OUTCOME", "MS", "BYTES", "CALLER")

_NOT_RECORDED: Final = (
    "Arguments and result are not recorded. To record calls: mcpyard calls record on"
)

_REASONS: Final = {
    "off": "switched off",
    "no-home": "nothing is stored without a home",
    "library": "a program uses mcpyard as a library",
    "network": "others than this machine can reach mcpyard",
    "cluster": "mcpyard is part of a cluster",
    "tokens": "there are call tokens, which others may have",
}


@dataclass(frozen=True, slots=True)
class CallsRequest:
    """What to do: the word after the action, the filters of a list, and how to show a call."""

    action: CallsAction = "ls"
    word: str | None = None
    filters: dict[str, str | int | None] = field(default_factory=dict[str, str | int | None])
    command: CommandKind | None = None
    yes: bool = False


def calls(home: Path, request: CallsRequest, *, as_json: bool) -> int:
    """List calls, show one, delete what is recorded, or say whether to record."""
    _check(request)
    yard = need_yard(home)
    match request.action:
        case "ls":
            return _list(yard, request, as_json=as_json)
        case "show":
            return _show(yard, request, as_json=as_json)
        case "purge":
            return _purge(yard, request, as_json=as_json)
        case "record":
            return _record(yard, request.word, as_json=as_json)


def _check(request: CallsRequest) -> None:
    if request.action == "show" and request.word is None:
        raise usage("calls show: ID is missing", "list the calls: mcpyard calls ls")
    if request.action in {"ls", "purge"} and request.word is not None:
        raise usage(f"calls {request.action}: takes no ID")
    if request.action == "record" and request.word not in {None, *_MODES}:
        raise usage(f"calls record: must be one of {', '.join(_MODES)}")
    if request.action != "ls" and any(each is not None for each in request.filters.values()):
        raise usage("filters apply to calls ls only")
    if request.action != "show" and request.command is not None:
        raise usage("--as applies to calls show only")


def _list(yard: RunningYard, request: CallsRequest, *, as_json: bool) -> int:
    chosen = {name: value for name, value in request.filters.items() if value is not None}
    raw = yard.get(f"{_CALLS}?{urlencode(chosen)}" if chosen else _CALLS)
    if as_json:
        return print_raw(raw)
    page = decode_object(raw)
    missing, every = page["missing"], page["calls"]
    in_cluster = bool(missing) or any("node" in each for each in every)
    own = decode_object(yard.get(_CLUSTER))["node"] if in_cluster else None
    rows = [
        (
            _id_of(each, own),
            str(each["at"])[:19].replace("T", " "),
            clean(str(each["server"])),
            clean(str(each["tool"])),
            one_line(str(each["outcome"])),
            f"{each['ms']:.1f}",
            str(each["bytesIn"] + each["bytesOut"]),
            clean(str(each["who"])),
            *([clean(str(each.get("node", own)))] if in_cluster else []),
        )
        for each in every
    ]
    table((*_HEAD, "NODE") if in_cluster else _HEAD, rows, "No calls.")
    if missing:
        names = clean(", ".join(missing))
        print(f"calls made at {names} are missing: no answer within 2 s", file=sys.stderr)
    return 0


def _id_of(call: JsonObject, own: str | None) -> str:
    """The id of a call; each node of a cluster numbers its own."""
    node = call.get("node", own)
    return str(call["id"]) if node == own else clean(f"{node}.{call['id']}")


def _show(yard: RunningYard, request: CallsRequest, *, as_json: bool) -> int:
    word = str(request.word)
    node, _, number = word.rpartition(".")
    if node and number.isdigit():
        raise usage(
            f"call {word} is in the journal of the node {node}",
            f"run this there: mcpyard calls show {number}",
        )
    if not word.isdigit():
        raise usage("calls show: ID must be a number", "list the calls: mcpyard calls ls")
    raw = yard.get(f"{_CALLS}/{word}")
    call = decode_object(raw)
    if request.command is not None:
        return _print_command(call, request.command)
    if as_json:
        return print_raw(raw)
    _print_call(call)
    return 0


def _print_command(call: JsonObject, kind: CommandKind) -> int:
    text = object_of(call["commands"]).get(kind)
    if not text:
        raise usage(f"call {call['id']}: the arguments are not recorded in full")
    print(clean(str(text)))
    return 0


def _print_call(call: JsonObject) -> None:
    version = f" ({call['serverVersion']})" if call["serverVersion"] else ""
    facts = {
        "call": str(call["id"]),
        "time": str(call["at"]),
        "server": f"{call['server']}{version}",
        "tool": str(call["tool"]),
        "outcome": str(call["outcome"]),
        "caller": str(call["who"]),
        "duration": _duration(call),
        "size": f"{call['bytesIn']} bytes in, {call['bytesOut']} bytes out",
    }
    for name, text in facts.items():
        print(f"{name + ':':10} {one_line(text)}")
    for each in call["passedOver"]:
        print(f"{'skipped:':10} {one_line(each['server'])}: {one_line(each['why'])}")
    if not call["recorded"]:
        print(_NOT_RECORDED)
    for part in ("error", "arguments", "result"):
        if text := call[part]:
            _print_text(part, text)


def _duration(call: JsonObject) -> str:
    whole = f"{call['ms']:.1f} ms"
    if call["queueMs"] is None:
        return whole
    return f"{whole} (waited {call['queueMs']:.1f} ms, server {call['serverMs']:.1f} ms)"


def _print_text(part: str, text: JsonObject) -> None:
    notes = [f"{text['tokens']} tokens"] if text["tokens"] else []
    notes += ["secrets masked"] if text["masked"] else []
    notes += [f"cut, {text['size']} bytes in all"] if text["cut"] else []
    print(f"\n{part}{' (' + ', '.join(notes) + ')' if notes else ''}:")
    print(clean(_indented(str(text["text"]))))


def _indented(text: str) -> str:
    """JSON on several lines; any other text as it is."""
    try:
        value: Any = json.loads(text)
    except ValueError:
        return text
    return json.dumps(value, indent=2, ensure_ascii=False)


def _purge(yard: RunningYard, request: CallsRequest, *, as_json: bool) -> int:
    if not request.yes and not confirm("This deletes the recorded arguments and results"):
        return EXIT_USAGE
    raw = yard.delete(_CALLS)
    if as_json:
        return print_raw(raw)
    print(f"deleted the arguments and results of {decode_object(raw)['calls']} calls")
    return 0


def _record(yard: RunningYard, mode: str | None, *, as_json: bool) -> int:
    raw = yard.get(_RECORDING) if mode is None else yard.put(_RECORDING, {"mode": mode})
    if as_json:
        return print_raw(raw)
    state = decode_object(raw)
    if state["recording"]:
        print(f"recording is on ({state['mode']})")
    else:
        why = _REASONS.get(str(state["reason"]), str(state["reason"]))
        print(f"recording is off ({state['mode']}): {why}")
    print(f"{state['calls']} calls recorded, {state['bytes']} bytes, {state['dropped']} dropped")
    return 0
