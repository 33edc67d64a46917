"""Servers that say no at first: to our version, or to what a token is good for."""

from itertools import count

import httpx2
import pytest

from mcpyard.wire.eras import ClientFace
from mcpyard.wire.link import LinkFailed
from mcpyard.wire.remote.http_errors import Challenge, challenge_of
from mcpyard.wire.session import Opening, open_session
from tests.wire.fakes import FakeLink, RpcFailure

FACE = ClientFace("yard", "1.0")
DISCOVERED = {"supportedVersions": ["2026-07-28"], "capabilities": {}}
SOON = Opening(deadline=2, silence=60)
OURS = {"supported": ["2026-07-28"]}


async def test_a_server_that_refuses_our_version_and_names_it_is_asked_once_more() -> None:
    link, attempts = FakeLink(), count()
    refusal = RpcFailure(-32022, data=OURS)
    link.script = {"server/discover": lambda _: DISCOVERED if next(attempts) else refusal}
    session = await open_session(link, FACE, SOON)
    assert session.era == "modern"
    assert link.methods == ["server/discover"] * 2
    await session.close()


async def test_a_server_that_goes_on_refusing_is_not_asked_for_ever() -> None:
    link = FakeLink()
    link.script = {
        "server/discover": lambda _: RpcFailure(-32022, data=OURS),
        "initialize": lambda _: RpcFailure(-32022, data=OURS),
    }
    with pytest.raises(LinkFailed):
        await open_session(link, FACE, SOON)
    assert link.methods == ["server/discover", "server/discover", "initialize"]


def challenge_from(status: int, header: str) -> Challenge | None:
    return challenge_of(httpx2.Response(status, headers={"WWW-Authenticate": header}))


def test_a_token_that_is_not_good_for_this_asks_for_another_sign_in() -> None:
    lacking = 'Bearer error="insufficient_scope", scope="files:write"'
    challenge = challenge_from(403, lacking)
    assert challenge
    assert challenge.scope == "files:write"
    assert challenge_from(403, 'Bearer error="invalid_request"') is None
    assert challenge_from(400, lacking) is None
    assert challenge_from(401, "Bearer")


def test_what_was_granted_before_is_asked_for_again() -> None:
    header = 'Bearer error="insufficient_scope", scope="files:write files:read", realm="x"'
    challenge = challenge_from(403, header)
    assert challenge
    widened = challenge.widened("files:read mail")
    assert widened == header.replace("files:write files:read", "files:read mail files:write")
    first = challenge_from(401, 'Bearer scope="files:write"')
    assert first
    assert first.widened("mail") == 'Bearer scope="files:write"', "a first sign-in asks for its own"
