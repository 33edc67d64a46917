"""`mcpyard secret`: values that references such as `${NAME}` find after the environment."""

import getpass
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from mcpyard.cli.cli_errors import EXIT_FAILED, usage
from mcpyard.cli.confirmation import confirm
from mcpyard.cli.output import clean, table
from mcpyard.cli.printing import JsonObject, decode_object, decode_objects, print_raw
from mcpyard.client.discovery import RunningYard, need_yard, segment

SecretAction: TypeAlias = Literal["ls", "set", "rm"]

_SECRETS: Final = "/api/secrets"


@dataclass(frozen=True, slots=True)
class SecretTerms:
    """How a secret is set or removed."""

    key_ring: bool = False
    allow: Path | None = None
    yes: bool = False


def manage_secrets(
    home: Path, action: SecretAction, name: str | None, terms: SecretTerms, *, as_json: bool
) -> int:
    """List, set or delete secrets."""
    if (name is None) == (action != "ls"):
        raise usage(f"secret {action}: {'NAME is missing' if name is None else 'takes no NAME'}")
    if action != "set" and (terms.key_ring or terms.allow):
        option = "--keyring" if terms.key_ring else "--allow"
        raise usage(f"{option} applies to secret set only")
    yard = need_yard(home)
    if action == "ls":
        return _list(yard, as_json=as_json)
    if action == "set":
        return _set(yard, str(name), terms, as_json=as_json)
    return _remove(yard, str(name), terms, as_json=as_json)


def _list(yard: RunningYard, *, as_json: bool) -> int:
    raw = yard.get(_SECRETS)
    if as_json:
        return print_raw(raw)
    rows = [
        (
            clean(str(each["name"])),
            str(each["store"]),
            clean(", ".join(each["usedBy"])),
            clean(_note(each)),
        )
        for each in decode_objects(raw)
    ]
    table(("NAME", "STORE", "USED BY", "NOTE"), rows, "no secrets")
    return 0


def _note(secret: JsonObject) -> str:
    if secret["overridden"]:
        return "the environment sets it, too, and takes precedence"
    if not secret["readable"]:
        return "sealed with another key; set it again"
    if secret["needsConsent"]:
        return f"not allowed for {', '.join(secret['needsConsent'])}"
    return ""


def _set(yard: RunningYard, name: str, terms: SecretTerms, *, as_json: bool) -> int:
    value = _value(name)
    body: dict[str, object] = {
        "value": value,
        "store": "key-ring" if terms.key_ring else "mcpyard",
        "allow": [str(terms.allow.resolve() / ".mcp.json")] if terms.allow else [],
    }
    raw = yard.put(f"{_SECRETS}/{segment(name)}", body)
    return _print(raw, f"set {clean(name)}", as_json=as_json)


def _remove(yard: RunningYard, name: str, terms: SecretTerms, *, as_json: bool) -> int:
    if not terms.yes:
        secrets = decode_objects(yard.get(_SECRETS))
        users = [str(user) for each in secrets if each["name"] == name for user in each["usedBy"]]
        what = f"; {', '.join(users)} will not find it" if users else ""
        if not confirm(clean(f'the secret "{name}" will be deleted{what}')):
            print("nothing deleted", file=sys.stderr)
            return EXIT_FAILED
    raw = yard.delete(f"{_SECRETS}/{segment(name)}")
    return _print(raw, f"deleted {clean(name)}", as_json=as_json)


def _print(raw: bytes, done: str, *, as_json: bool) -> int:
    if as_json:
        return print_raw(raw)
    change = decode_object(raw)
    users = ", ".join(map(str, change["launchedAnew"]))
    print(f"{done}; used by {clean(users)}" if users else done)
    if change["edit"]:
        print(f"undo it: mcpyard undo {change['edit']}", file=sys.stderr)
    return 0


def _value(name: str) -> str:
    """The value, from the standard input or typed unseen: arguments are seen by everyone."""
    if sys.stdin.isatty():
        return getpass.getpass(f"{name}: ")
    return sys.stdin.read().removesuffix("\n").removesuffix("\r")
