"""A server's templates lead addresses to it, and cannot stop the gateway."""

import pytest

from tests.gateway.scripts import scripted
from tests.gateway.talking import odd_server, talking

pytestmark = pytest.mark.real

BOMB = "{+a}" * 40 + "!"
NEARLY = "{+a}" * 30 + "!" + "{+a}" * 2
TARGET = "x://" + "a" * 60


def lists(*templates: str) -> dict[str, object]:
    return {"resources/templates/list": [{"uriTemplate": each, "name": each} for each in templates]}


@pytest.mark.spec("F2.2")
@pytest.mark.parametrize("bomb", [BOMB, NEARLY])
async def test_no_template_stops_the_gateway(bomb: str) -> None:
    async with talking({"bad": scripted(lists(bomb)), "old": odd_server()}) as talk:
        met = await talk.meet()
        assert "error" in await met.ask("resources/read", uri=TARGET)
        await met.ask("resources/subscribe", uri=TARGET)
        ref = {"type": "ref/resource", "uri": TARGET}
        await met.ask("completion/complete", ref=ref, argument={"name": "a", "value": ""})
        assert "error" in await talk.ask_modern("resources/read", uri=TARGET)
        assert (await met.ask("ping"))["result"] == {}


async def test_an_address_goes_to_the_server_whose_template_it_fits() -> None:
    contents = {"contents": [{"uri": "x://1/two", "text": "here"}]}
    answers = {**lists("x://{id}/two"), "resources/read x://1/two": contents}
    async with talking({"one": odd_server(), "two": scripted(answers)}) as talk:
        read = await talk.ask_modern("resources/read", uri="x://1/two")
        assert read["result"]["contents"] == contents["contents"]
