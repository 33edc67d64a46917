"""Whether the tests would notice: `python -m bench.fire.guards [NAME ...]`.

In a copy of the project each guard is taken out in turn, and the tests that look at it are run; at
least one of them must fail, and none may fail with the guard in its place.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.measuring import ROOT, Figures

COPIED = ("src", "tests", "bench", "scripts", "docs", "pyproject.toml", "README.md")
SECONDS = 300


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard: where it stands, what to write instead, and who looks at it."""

    file: str
    stands: str
    instead: str
    tests: tuple[str, ...]


GUARDS = {
    "token": Guard(
        "api/security/authenticator.py",
        "return strange_browser() if is_looking(incoming) else self._unknown(incoming)",
        "return None",
        ("tests/api/test_guard.py",),
    ),
    "host": Guard(
        "api/security/host_names.py",
        "if host not in self._hosts and not _is_address_of(incoming, host):",
        "if False:",
        ("tests/api/test_guard.py",),
    ),
    "origin": Guard(
        "api/security/host_names.py",
        "if not incoming.is_public and is_foreign(incoming):",
        "if False:",
        ("tests/api/test_guard.py",),
    ),
    "masking": Guard(
        "yard/masking.py",
        "return mask(value) if is_literal(value) else value",
        "return value",
        ("tests/yard/test_masking.py", "tests/api/test_secrets.py"),
    ),
    "schema check": Guard(
        "yard/calls/pipeline.py",
        "if problems := route.validator.check(parsed):",
        "if problems := ():",
        ("tests/yard/test_yard.py", "tests/gateway/test_gateway_bad_input.py"),
    ),
    "schema check of a fallback": Guard(
        "yard/calls/fallback.py",
        "if not self.checked and (problems := self.route.validator.check(self.arguments)):",
        "if problems := ():",
        ("tests/yard/test_fallback.py",),
    ),
    "rights of a caller": Guard(
        "yard/calls/call_context.py",
        "return self.allows(server, route) if self.allows else route.policy.enabled",
        "return route.policy.enabled",
        ("tests/gateway/test_gateway_fallback.py",),
    ),
    "progress of a scanner": Guard(
        "formats/editors/patterns.py",
        "if after <= before:",
        "if False:",
        ("tests/formats/test_patterns.py",),
    ),
    "revocation": Guard(
        "api/security/keys.py",
        "self.revocations.dispatch(who)\n        if self.other_nodes is None:",
        "if self.other_nodes is None:",
        ("tests/gateway/test_revoked.py",),
    ),
    "read-back of JSON": Guard(
        "formats/editors/jsonc_guard.py",
        "if not right:",
        "if False:",
        ("tests/formats/test_jsonc_remove.py",),
    ),
    "read-back of TOML": Guard(
        "formats/editors/toml_guard.py",
        "if not self._gives(after.value) or not self._keeps_the_rest(after.sheet):",
        "if False:",
        ("tests/formats/test_toml_remove.py",),
    ),
    "read-back of a file": Guard(
        "sources/client_files.py",
        "if path.read_bytes() != after.encode():",
        "if False:",
        ("tests/clients/test_disk.py",),
    ),
    "keeper": Guard(
        "runtime/processes/keeper.py",
        "    finally:\n        keeper.end_all()",
        "    finally:\n        pass",
        ("tests/runtime/test_keeper_kills.py", "tests/faults/test_no_orphans.py"),
    ),
    "frame limit": Guard(
        "wire/framer.py",
        "if self._held.tell() > self._limit:",
        "if False:",
        ("tests/wire/test_framer.py",),
    ),
    "lock of a home": Guard(
        "store/home.py",
        "fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "pass",
        ("tests/store/test_home.py",),
    ),
    "lock of a file": Guard(
        "sources/locking.py",
        "fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "pass",
        ("tests/clients/test_disk.py",),
    ),
    "compare-and-swap of a text": Guard(
        "sources/writing.py",
        "if _read(path) != before:",
        "if False:",
        ("tests/sources/test_writing.py",),
    ),
    "compare-and-swap of a record": Guard(
        "yard/edit.py",
        "if change.expected not in",
        "if False and change.expected not in",
        ("tests/yard/test_edit.py",),
    ),
    "most expressions of a template": Guard(
        "gateway/uri_templates.py",
        "if len(text) > LONGEST or len(expressions) > MOST_EXPRESSIONS:",
        "if len(text) > LONGEST:",
        ("tests/gateway/test_templates.py",),
    ),
    "linear matching of templates": Guard(
        "gateway/uri_templates.py",
        "        reached = 1\n",
        "        parts = (re.escape(text) + f'[^{ends}]*' for text, ends in self.before)\n"
        "        pattern = ''.join(parts) + re.escape(self.after)\n"
        "        return re.fullmatch(pattern, address.text) is not None\n"
        "        reached = 1\n",
        ("tests/gateway/test_templates.py",),
    ),
    "owner form of addresses": Guard(
        "gateway/resource_uris.py",
        "if is_free and not carries_owner(place.own):",
        "if True:",
        ("tests/gateway/test_gateway_addresses.py",),
    ),
    "capabilities that are forwarded": Guard(
        "gateway/abilities.py",
        "return orjson.dumps(forwarded)",
        "return orjson.dumps(declared)",
        ("tests/gateway/test_gateway_carried.py",),
    ),
    "refusal of tasks": Guard(
        "yard/calls/results.py",
        "if in_handshake or bytes(result.result_type) == TASK_TYPE:",
        "if False:",
        ("tests/gateway/test_gateway_carried.py",),
    ),
    "end by the watchdog": Guard(
        "cli/daemon/watchdog_process.py",
        "if missed >= steps:",
        "if False:",
        ("tests/cli/test_watchdog.py",),
    ),
    "signals of up": Guard(
        "cli/commands/up.py",
        "(signal.SIGTERM, signal.SIGINT, signal.SIGHUP)",
        "(signal.SIGTERM, signal.SIGINT)",
        ("tests/cli/test_up.py",),
    ),
    "breaker of a server": Guard(
        "domain/health.py",
        "if self._opens():",
        "if False:",
        ("tests/domain/test_health.py",),
    ),
    "breaker of a tool": Guard(
        "yard/calls/breakers.py",
        "if breaker.trying:",
        "if False:",
        ("tests/yard/test_breakers.py",),
    ),
    "sub-reaper": Guard(
        "runtime/processes/adoption.py",
        "prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0",
        "True",
        ("tests/runtime/test_lost_keepers.py",),
    ),
    "sparing of other children": Guard(
        "runtime/processes/adoption.py",
        "            and row.key not in self._others\n",
        "",
        ("tests/runtime/test_lost_keepers.py",),
    ),
    "pulse of a keeper": Guard(
        "runtime/processes/keeper_client.py",
        "while run.unanswered < self._pulse.misses:",
        "while True:",
        ("tests/runtime/test_lost_keepers.py",),
    ),
    "signature of a mark": Guard(
        "runtime/processes/marks.py",
        "return Mark.parse(text) if valid else None",
        "return Mark.parse(text)",
        ("tests/runtime/test_orphans.py",),
    ),
}


def failing(guard: Guard, folder: Path) -> str:
    """The first test that fails without a guard; empty when none does."""
    place = folder / "src" / "mcpyard" / guard.file
    text = place.read_text()
    place.write_text(text.replace(guard.stands, guard.instead))
    try:
        return first_failure(guard.tests, folder)
    finally:
        place.write_text(text)


def first_failure(tests: tuple[str, ...], folder: Path) -> str:
    """The first of some tests that fails; empty when none does."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    failure = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failure[1] if failure else ""


def main() -> None:
    figures = Figures()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in COPIED:
            place = ROOT / name
            if place.is_dir():
                ignored = shutil.ignore_patterns("node_modules", "__pycache__")
                shutil.copytree(place, folder / name, ignore=ignored)
            else:
                shutil.copy(place, folder / name)
        names = sys.argv[1:] or [*GUARDS]
        for tests in dict.fromkeys(GUARDS[name].tests for name in names):
            failure = first_failure(tests, folder)
            figures.at_most(f"{', '.join(tests)} {failure}", len(failure) > 0, 0)
        for name in names:
            failure = failing(GUARDS[name], folder)
            figures.show(name, failure)
            figures.at_least("  noticed", len(failure) > 0, 1)
    figures.leave()


if __name__ == "__main__":
    main()
