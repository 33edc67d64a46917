"""`mcpyard token`: the call tokens of the gateway, and the admin token."""

import json
from pathlib import Path
from typing import Final, Literal, TypeAlias

from mcpyard.cli.cli_errors import CliError, usage
from mcpyard.cli.output import clean, table
from mcpyard.cli.printing import decode_object, decode_objects, print_raw
from mcpyard.client.discovery import RunningYard, find_yard, need_yard, segment
from mcpyard.store.home import Home

TokenAction: TypeAlias = Literal["ls", "create", "revoke", "rotate"]

_TOKENS: Final = "/api/tokens"


def manage_tokens(
    home: Path, action: TokenAction, name: str | None, profile: str | None, *, as_json: bool
) -> int:
    """List, create or revoke call tokens, or rotate the admin token."""
    if (name is None) == (action in {"create", "revoke"}):
        raise usage(f"token {action}: {'NAME is missing' if name is None else 'takes no NAME'}")
    if profile is not None and action != "create":
        raise usage("--profile applies to token create only")
    if action == "rotate":
        return _rotate(home, as_json=as_json)
    yard = need_yard(home)
    if action == "ls":
        return _list(yard, as_json=as_json)
    if action == "create":
        return _create(yard, {"name": name, "profile": profile}, as_json=as_json)
    return _revoke(yard, str(name), as_json=as_json)


def _list(yard: RunningYard, *, as_json: bool) -> int:
    raw = yard.get(_TOKENS)
    if as_json:
        return print_raw(raw)
    rows = [
        (
            clean(str(each["name"])),
            f"/mcp/{clean(str(each['profile']))}" if each["profile"] else "/mcp",
            str(each["created"])[:10],
            str(each["lastUsed"] or "never")[:10],
            "revoked" if each["revoked"] else "",
        )
        for each in decode_objects(raw)
    ]
    table(("NAME", "ENDPOINT", "CREATED", "LAST USED", "STATE"), rows)
    return 0


def _create(yard: RunningYard, token: dict[str, object], *, as_json: bool) -> int:
    raw = yard.post(_TOKENS, token)
    if as_json:
        return print_raw(raw)
    print(decode_object(raw)["token"])
    return 0


def _revoke(yard: RunningYard, name: str, *, as_json: bool) -> int:
    yard.delete(f"{_TOKENS}/{segment(name)}")
    print(json.dumps({"revoked": name}) if as_json else f"revoked {clean(name)}")
    return 0


def _rotate(home: Path, *, as_json: bool) -> int:
    folder = Home(home)
    if folder.token_is_fixed:
        raise CliError(
            "the admin token is set by MCPYARD_TOKEN",
            hint="change that variable and restart mcpyard",
        )
    if yard := find_yard(home):
        yard.post(f"{_TOKENS}/rotate")
    else:
        folder.renew_token()
    print(json.dumps({"rotated": True}) if as_json else "admin token rotated")
    return 0
