"""`mcpyard token`: the call tokens of the gateway, and the admin token."""

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal, TypeAlias

from mcpyard.cli.cli_errors import CliError, usage
from mcpyard.cli.durations import read_life
from mcpyard.cli.output import clean, table
from mcpyard.cli.printing import JsonObject, decode_object, decode_objects, print_raw
from mcpyard.client.discovery import RunningYard, find_yard, need_yard, segment
from mcpyard.domain.narrowing import texts_of
from mcpyard.domain.stored import SOON
from mcpyard.store.home import Home

TokenAction: TypeAlias = Literal["ls", "create", "revoke", "rotate"]

_TOKENS: Final = "/api/tokens"


@dataclass(frozen=True, slots=True)
class TokenTerms:
    """The options of a new token: its profile, and how long it works, such as 30d."""

    profile: str | None = None
    expires: str | None = None

    def body(self, name: str) -> dict[str, object]:
        """What is asked for."""
        if self.expires is None:
            return {"name": name, "profile": self.profile}
        expires = datetime.now(UTC) + timedelta(seconds=read_life("--expires", self.expires))
        return {"name": name, "profile": self.profile, "expires": expires.isoformat()}


def manage_tokens(
    home: Path, action: TokenAction, name: str | None, terms: TokenTerms, *, as_json: bool
) -> int:
    """List, create or revoke call tokens, or rotate the admin token."""
    _check(action, name, terms)
    if action == "rotate":
        return _rotate(home, as_json=as_json)
    body = terms.body(str(name))
    yard = need_yard(home)
    if action == "ls":
        return _list(yard, as_json=as_json)
    if action == "create":
        return _create(yard, body, as_json=as_json)
    return _revoke(yard, str(name), as_json=as_json)


def _check(action: TokenAction, name: str | None, terms: TokenTerms) -> None:
    if (name is None) == (action in {"create", "revoke"}):
        raise usage(f"token {action}: {'NAME is missing' if name is None else 'takes no NAME'}")
    if action != "create" and terms != TokenTerms():
        option = "--expires" if terms.profile is None else "--profile"
        raise usage(f"{option} applies to token create only")


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
            str(each["expires"] or "never")[:10],
            _state(each),
        )
        for each in decode_objects(raw)
    ]
    table(("NAME", "ENDPOINT", "CREATED", "LAST USED", "EXPIRES", "STATE"), rows)
    return 0


def _state(token: JsonObject) -> str:
    if token["revoked"]:
        return "revoked"
    if not token["expires"]:
        return ""
    left = datetime.fromisoformat(str(token["expires"])) - datetime.now(UTC)
    if left <= timedelta():
        return "expired"
    return "expires soon" if left <= SOON else ""


def _create(yard: RunningYard, token: dict[str, object], *, as_json: bool) -> int:
    raw = yard.post(_TOKENS, token)
    if as_json:
        return print_raw(raw)
    print(decode_object(raw)["token"])
    return 0


def _revoke(yard: RunningYard, name: str, *, as_json: bool) -> int:
    missing = _unconfirmed(yard.delete(f"{_TOKENS}/{segment(name)}"))
    if as_json:
        print(json.dumps({"revoked": name, **({"unconfirmed": missing} if missing else {})}))
    else:
        print(f"revoked {clean(name)}")
    return _report(missing)


def _unconfirmed(raw: bytes) -> list[str]:
    """The nodes of a cluster that did not confirm a revocation."""
    return texts_of(decode_object(raw)["unconfirmed"]) if raw else []


def _report(missing: list[str]) -> int:
    """Name the nodes where a revoked token may still work."""
    if not missing:
        return 0
    names = ", ".join(clean(each) for each in missing)
    print(f"warning: not confirmed within 2 s by {names}: it may still work there", file=sys.stderr)
    return 1


def _rotate(home: Path, *, as_json: bool) -> int:
    folder = Home(home)
    if folder.token_is_fixed:
        raise CliError(
            "the admin token is set by MCPYARD_TOKEN",
            hint="change that variable and restart mcpyard",
        )
    missing: list[str] = []
    if yard := find_yard(home):
        missing = _unconfirmed(yard.post(f"{_TOKENS}/rotate"))
    else:
        folder.renew_token()
    if as_json:
        print(json.dumps({"rotated": True, **({"unconfirmed": missing} if missing else {})}))
    else:
        print("admin token rotated")
    return _report(missing)
