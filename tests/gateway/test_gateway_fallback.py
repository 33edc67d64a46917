"""A fallback server answers through the gateway, whatever the client sent, within its rights."""

from pathlib import Path
from typing import Any

import pytest

from tests.gateway.fallbacks import FOREIGN, main_is_away
from tests.gateway.talking import Message, text_of

pytestmark = pytest.mark.real

TOOL = "mcp_main_nonce"


def params(text: str, meta: dict[str, object]) -> dict[str, Any]:
    return {"name": TOOL, "arguments": {"text": text}, **({"_meta": meta} if meta else {})}


@pytest.mark.spec("F1.1")
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_fallback_answers_whatever_meta_the_client_sent(tmp_path: Path, era: str) -> None:
    async with main_is_away(tmp_path, era) as talk:
        session = await talk.meet()
        for number, meta in enumerate(FOREIGN):
            response = await session.ask("tools/call", **params(f"{number}", meta))
            assert text_of(response) == f"{number}"
            body, headers = talk.modern("tools/call", params(f"modern {number}", {}), **meta)
            answer: Message = (await talk.post(body, **headers)).json()
            assert text_of(answer) == f"modern {number}"


@pytest.mark.spec("F1.2")
@pytest.mark.parametrize("meta", FOREIGN[:2])
async def test_a_fallback_never_leads_outside_the_callers_profile(
    tmp_path: Path, meta: dict[str, object]
) -> None:
    async with main_is_away(tmp_path, "legacy") as talk:
        profiles = talk.served.yard.profiles
        off = {"spare": {"nonce": {"enabled": False}}}
        await profiles.create({"name": "both", "servers": ["*"]})
        await profiles.create({"name": "one", "servers": ["main"]})
        await profiles.create({"name": "off", "servers": ["*"], "tools": off})
        for profile, is_answered in (("both", True), ("one", False), ("off", False)):
            session = await talk.meet(f"/mcp/{profile}")
            response = await session.ask("tools/call", **params("x", meta))
            assert ("result" in response) is is_answered, response
            if not is_answered:
                assert "spare" not in response["error"]["message"]
