"""`mcpyard service`: the yard as a service of the user's systemd."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from mcpyard.cli.cli_errors import Complaint, usage
from mcpyard.cli.daemon.service_unit import MARK, NAME, ServiceOptions, make_unit, unit_path
from mcpyard.cli.output import clean
from mcpyard.domain.errors import EXIT_UNREACHABLE, YardBusy
from mcpyard.store.atomic_files import write_private
from mcpyard.store.home import Home

_PATIENCE: Final = 60.0
_AWAY: Final = ("connect to bus", "not been booted with systemd")
_LINGER: Final = "it ends when you sign out; to keep it running: loginctl enable-linger"
_WITHOUT: Final = (
    "run `mcpyard up` by other means; `mcpyard service install --print` shows how systemd would"
)


class ServiceAction(StrEnum):
    """What can be done with the service."""

    INSTALL = "install"
    UNINSTALL = "uninstall"
    STATUS = "status"


def manage_service(
    action: ServiceAction, wish: ServiceOptions, *, only_print: bool, as_json: bool
) -> int:
    """Do it; `Complaint` where systemd is not there or refuses."""
    if only_print and action is not ServiceAction.INSTALL:
        raise usage("--print goes with install")
    if only_print:
        return _print_unit(make_unit(wish), as_json=as_json)
    if action is ServiceAction.INSTALL:
        return _tell(_install(wish), as_json=as_json)
    if action is ServiceAction.UNINSTALL:
        return _tell(_uninstall(), as_json=as_json)
    status = _status(wish.home)
    _tell(status, as_json=as_json)
    return 0 if status["active"] == "active" else EXIT_UNREACHABLE


def _install(wish: ServiceOptions) -> Mapping[str, object]:
    unit, path = make_unit(wish), unit_path()
    # Before anything is written: whether it answers at all.
    _systemctl("daemon-reload")
    _check_ours(path)
    if _asked("is-active") != "active":
        _check_free(wish.home)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_private(path, unit.encode())
    _systemctl("daemon-reload")
    _systemctl("enable", NAME)
    _systemctl("restart", NAME)
    return {"installed": str(path), "hint": _LINGER}


def _uninstall() -> Mapping[str, object]:
    path = unit_path()
    if not path.exists():
        return {"uninstalled": None, "hint": f"there was none at {path}"}
    _check_ours(path)
    _systemctl("disable", "--now", NAME)
    path.unlink(missing_ok=True)
    _systemctl("daemon-reload")
    return {"uninstalled": str(path)}


def _status(home: Path) -> Mapping[str, object]:
    path, running = unit_path(), Home(home).running()
    return {
        "unit": str(path) if path.exists() else None,
        "enabled": _asked("is-enabled"),
        "active": _asked("is-active"),
        "yard": running.url if running else None,
    }


def _check_ours(path: Path) -> None:
    if path.exists() and not path.read_text(errors="replace").startswith(MARK):
        raise Complaint(
            f"{path} was not written by mcpyard, so it is left alone",
            hint="move it away first",
            slug="not-ours",
        )


def _check_free(home: Path) -> None:
    if running := Home(home).running():
        raise YardBusy(f"a yard (pid {running.pid}) holds {home} already; end it first")


def _asked(question: str) -> str:
    """One word of systemd's; its exit status says no more than that."""
    said = _run(question, NAME)
    _check_there(said)
    return said.stdout.strip() or "not-found"


def _systemctl(*words: str) -> None:
    said = _run(*words)
    _check_there(said)
    if said.returncode:
        raise Complaint(
            f"systemctl {' '.join(words)}: {said.stderr.strip() or f'status {said.returncode}'}",
            hint=f"journalctl --user -u {NAME} may say more",
            slug="service-failed",
        )


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("systemctl")
    if program is None:
        raise _no_systemd("there is no systemctl on PATH")
    try:
        return subprocess.run(  # noqa: S603  our own words
            [program, "--user", *words],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_PATIENCE,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise _no_systemd(f"systemctl did not answer in {_PATIENCE:g} s") from None


def _check_there(said: subprocess.CompletedProcess[str]) -> None:
    words = said.stderr.strip()
    if said.returncode and any(each in words for each in _AWAY):
        raise _no_systemd(words)


def _no_systemd(why: str) -> Complaint:
    return Complaint(
        f"systemd does not run here for this user: {why}",
        hint=_WITHOUT,
        slug="no-systemd",
        exit_code=EXIT_UNREACHABLE,
    )


def _print_unit(unit: str, *, as_json: bool) -> int:
    print(json.dumps({"path": str(unit_path()), "unit": unit}) if as_json else unit, end="")
    if as_json:
        print()
    return 0


def _tell(told: Mapping[str, object], *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(told))
    else:
        for key, value in told.items():
            print(f"{key:11} {clean(str(value or 'none'))}")
    return 0
