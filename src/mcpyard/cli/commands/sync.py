"""`mcpyard sync`: one set of servers in every client."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcpyard.cli.cli_errors import EXIT_FAILED, usage
from mcpyard.cli.client_servers import folder_of, reach
from mcpyard.cli.commands.approve import consent_lines
from mcpyard.cli.commands.connect import bridge_command
from mcpyard.cli.commands.copy import print_warnings
from mcpyard.cli.confirmation import confirm, on_terminal, says_yes
from mcpyard.cli.output import clean, table
from mcpyard.cli.printing import JsonObject
from mcpyard.cli.sync_questions import ask_conflicts, ask_variant

_ABSENT: Final = "-"
_QUIET: Final = frozenset({"same", "missing", "differs"})


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """What to sync, and how, as it was typed."""

    home: Path
    project: Path | None
    targets: Sequence[str] = ()
    yes: bool = False
    dry_run: bool = False
    check: bool = False
    as_json: bool = False
    unverified: bool = False

    def ask(self, what: str, *, writes: bool = False, **more: object) -> JsonObject:
        """Ask the running mcpyard, or the files themselves."""
        body: dict[str, object] = {"project": folder_of(self.project), **more}
        if what in {"plan", "apply", "adopt"}:
            body["targets"] = [*self.targets]
        if what in {"plan", "apply"}:
            more_members = {
                "command": bridge_command(self.home),
                "check": self.check,
                "unverified": self.unverified,
            }
            body = {"decisions": [], **more_members, **body}
        return reach(
            self.home, self.project, lambda servers: servers.sync(what, body), writes=writes
        )


def sync(action: str, options: SyncOptions) -> int:
    """Plan, apply, adopt or approve."""
    if options.check and action != "plan":
        raise usage("--check compares and changes nothing", "mcpyard sync --check")
    actions = {"plan": _plan, "apply": _apply, "adopt": _adopt, "approve": _approve}
    return actions[action](options)


def _plan(options: SyncOptions) -> int:
    plan = options.ask("plan")
    failed = options.check and plan["different"]
    if options.as_json:
        print(json.dumps(plan))
        return EXIT_FAILED if failed else 0
    _print_plan(plan)
    if options.check:
        print(f"{plan['different']} different" if failed else "no differences", file=sys.stderr)
        return EXIT_FAILED if failed else 0
    _print_summary(plan)
    return 0


def _apply(options: SyncOptions) -> int:
    plan = options.ask("plan")
    if not options.as_json:
        _print_plan(plan)
        for file in plan["files"]:
            print(clean(file["diff"]), end="")
    decisions: list[JsonObject] = []
    if not options.yes and not options.dry_run:
        decisions = ask_conflicts(plan) if on_terminal() else []
        if (plan["writes"] or decisions) and not confirm(_consequence(plan, len(decisions))):
            print("nothing changed", file=sys.stderr)
            return EXIT_FAILED
    done = plan if options.dry_run else options.ask("apply", writes=True, decisions=decisions)
    if options.as_json:
        print(json.dumps(done))
    else:
        _print_outcome(done, dry_run=options.dry_run)
    broken = any(each["problems"] for each in done["targets"])
    return EXIT_FAILED if done["conflicts"] or broken else 0


def _adopt(options: SyncOptions) -> int:
    done = options.ask("adopt", chosen={}, dryRun=True)
    chosen: dict[str, str] = {}
    if not options.yes and on_terminal() and not options.dry_run:
        chosen = ask_variant(done)
    if options.dry_run:
        done = options.ask("adopt", chosen=chosen, dryRun=True)
    else:
        done = options.ask("adopt", writes=True, chosen=chosen)
    if options.as_json:
        print(json.dumps(done))
    else:
        rows = [
            (each["outcome"], clean(each["name"]), ", ".join(each["targets"]), each["reason"])
            for each in done["servers"]
        ]
        table(("OUTCOME", "NAME", "IN", "REASON"), rows, "no servers found")
        print_warnings(done["warnings"])
    return EXIT_FAILED if done["conflicts"] else 0


def _approve(options: SyncOptions) -> int:
    waiting = options.ask("waiting")
    if not options.as_json:
        for server in waiting["servers"]:
            for line in consent_lines(server):
                print(line, file=sys.stderr)
        if waiting["servers"] and not options.yes and on_terminal() and not says_yes("Approve?"):
            print("not approved", file=sys.stderr)
            return EXIT_FAILED
    done = options.ask("approve", writes=True, digest=waiting["digest"])
    if options.as_json:
        print(json.dumps(done))
    else:
        names = ", ".join(clean(each) for each in done["servers"])
        where = clean(str(done["folder"]))
        print(f"approved {where}: {names}" if names else f"nothing to approve in {where}")
    return 0


def _print_plan(plan: JsonObject) -> None:
    """The matrix of servers and clients, and what has to be said about cells."""
    targets = [each["target"] for each in plan["targets"]]
    states = {(each["server"], each["target"]): each for each in plan["cells"]}
    rows = [
        (clean(name), *(_word(states.get((name, target))) for target in targets))
        for name in sorted({each["server"] for each in plan["cells"]})
    ]
    table(("SERVER", *map(clean, targets)), rows, "no servers")
    for target in plan["targets"]:
        for problem in target["problems"]:
            place = problem["place"]
            where = f"{place['file']}:{place['line']}: " if place else ""
            line = f"problem: {target['target']}: {where}{problem['message']}"
            print(clean(line), file=sys.stderr)
    for cell in plan["cells"]:
        _print_cell(cell)
    print_warnings(plan["warnings"])


def _print_cell(cell: JsonObject) -> None:
    where = f"{cell['server']} in {cell['target']}"
    noteworthy = cell["state"] not in _QUIET and cell["wanted"]
    if noteworthy or cell["differences"] or cell["state"] in {"conflict", "prune"}:
        parts = (cell["state"], where, cell["reason"])
        print(clean(": ".join(filter(None, parts))), file=sys.stderr)
    for each in cell["differences"]:
        source, entry = (each[word] or _ABSENT for word in ("source", "entry"))
        line = f"  {each['field']}: source {source}, {cell['target']} {entry}"
        print(clean(line), file=sys.stderr)
    print_warnings(cell["warnings"], f"{where}: ")


def _word(cell: JsonObject | None) -> str:
    return str(cell["state"]) if cell else _ABSENT


def _print_summary(plan: JsonObject) -> None:
    print(f"{_counted(plan)}", file=sys.stderr)
    if plan["writes"]:
        print("apply it: mcpyard sync apply", file=sys.stderr)


def _counted(plan: JsonObject) -> str:
    parts = [f"{plan['writes']} to change"]
    parts += [f"{plan[word]} {word}" for word in ("conflicts", "waiting") if plan[word]]
    return ", ".join(parts)


def _consequence(plan: JsonObject, decided: int) -> str:
    files = len(plan["files"])
    more = f" and {decided} decisions" if decided else ""
    return f"{plan['writes']} entries in {files} files{more} will be written"


def _print_outcome(done: JsonObject, *, dry_run: bool) -> None:
    if dry_run:
        _print_summary(done)
    elif done["edit"] is None:
        print("nothing to change", file=sys.stderr)
    else:
        files = len(done["files"])
        line = f"changed {files} files; undo it: mcpyard undo {done['edit']}"
        print(line, file=sys.stderr)
    print_warnings(done["warnings"])
    if not dry_run and done["conflicts"]:
        print(f"{done['conflicts']} conflicts left as they are", file=sys.stderr)
