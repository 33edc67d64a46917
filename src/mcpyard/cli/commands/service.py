"""`mcpyard service`: mcpyard as a user service of systemd."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

from mcpyard.cli.cli_errors import CliError, usage
from mcpyard.cli.daemon.service_unit import (
    MARK,
    NAME,
    ServiceOptions,
    environment_file_of,
    make_environment,
    make_unit,
    unit_path,
)
from mcpyard.cli.daemon.systemctl import SystemctlResult, systemctl
from mcpyard.cli.output import clean
from mcpyard.domain.edges import EXIT_UNREACHABLE
from mcpyard.domain.errors import YardBusy
from mcpyard.store.atomic_files import write_private
from mcpyard.store.home import Home

ServiceAction: TypeAlias = Literal["install", "uninstall", "status"]

_LINGER: Final = "the service stops when you sign out; to keep it running: loginctl enable-linger"


def manage_service(
    action: ServiceAction, options: ServiceOptions, *, only_print: bool, as_json: bool
) -> int:
    """Install or uninstall the service, or print its status."""
    if only_print and action != "install":
        raise usage("--print works with service install only")
    if only_print:
        return _print_unit(make_unit(options), as_json=as_json)
    if action == "install":
        return _print(_install(options), as_json=as_json)
    if action == "uninstall":
        return _print(_uninstall(), as_json=as_json)
    status = _status(options.home)
    _print(status, as_json=as_json)
    return 0 if status["active"] == "active" else EXIT_UNREACHABLE


def _install(options: ServiceOptions) -> Mapping[str, object]:
    unit, path = make_unit(options), unit_path()
    secrets = make_environment(options) if options.node else b""
    # Fails before anything is written, where there is no systemd.
    _systemctl("daemon-reload")
    _check_ours(path)
    if _query("is-active") != "active":
        _check_free(options.home)
    path.parent.mkdir(parents=True, exist_ok=True)
    _write_secrets(options.environment_file, secrets, path)
    write_private(path, unit.encode())
    _systemctl("daemon-reload")
    _systemctl("enable", NAME)
    _systemctl("restart", NAME)
    written = {"secrets": str(options.environment_file)} if secrets else {}
    return {"installed": str(path), **written, "hint": _LINGER}


def _write_secrets(file: Path, content: bytes, unit: Path) -> None:
    """Keep the secrets of a node in a file; a unit that needs none has none any more."""
    before = _secrets_of(unit)
    if content:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(file, content)
    if before and (not content or before != file):
        before.unlink(missing_ok=True)


def _secrets_of(unit: Path) -> Path | None:
    return environment_file_of(unit.read_text(errors="replace")) if unit.exists() else None


def _uninstall() -> Mapping[str, object]:
    path = unit_path()
    if not path.exists():
        return {"uninstalled": None, "hint": f"no service is installed: {path} does not exist"}
    _check_ours(path)
    _systemctl("disable", "--now", NAME)
    if secrets := _secrets_of(path):
        secrets.unlink(missing_ok=True)
    path.unlink(missing_ok=True)
    _systemctl("daemon-reload")
    return {"uninstalled": str(path)}


def _status(home: Path) -> Mapping[str, object]:
    path, running = unit_path(), Home(home).running()
    return {
        "unit": str(path) if path.exists() else None,
        "enabled": _query("is-enabled"),
        "active": _query("is-active"),
        "yard": running.url if running else None,
    }


def _check_ours(path: Path) -> None:
    if path.exists() and not path.read_text(errors="replace").startswith(MARK):
        raise CliError(
            f"{path} was not written by mcpyard and is left unchanged",
            hint="move or delete the file first",
            slug="not-ours",
        )


def _check_free(home: Path) -> None:
    running = Home(home).running()
    if running and not running.substitute:
        raise YardBusy(
            f"mcpyard is already running (pid {running.pid}, home: {home}); stop it first"
        )


def _query(verb: str) -> str:
    """The one word that systemctl prints."""
    return _run(verb, NAME).output or "not-found"


def _systemctl(*words: str) -> None:
    result = _run(*words)
    if result.code:
        reason = result.error or f"exit code {result.code}"
        raise CliError(
            f"systemctl {' '.join(words)}: {reason}",
            hint=f"check its log: journalctl --user -u {NAME}",
            slug="service-failed",
        )


def _run(*words: str) -> SystemctlResult:
    return asyncio.run(systemctl(*words))


def _print_unit(unit: str, *, as_json: bool) -> int:
    print(json.dumps({"path": str(unit_path()), "unit": unit}) if as_json else unit, end="")
    if as_json:
        print()
    return 0


def _print(report: Mapping[str, object], *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(report))
    else:
        for key, value in report.items():
            print(f"{key:11} {clean(str(value or 'none'))}")
    return 0
