"""Whatever a server writes, the yard's memory stays bounded: measured at its peak."""

from pathlib import Path

import pytest

from tests.faults.hosting import MEBIBYTE, hosted
from tests.faults.watching import zoo

pytestmark = pytest.mark.real

ROOM = 40 * MEBIBYTE
"""A message of 16 MiB may be held, and once more while it grows or is handed on."""


async def test_an_answer_of_a_hundred_megabytes_is_skipped_not_held(tmp_path: Path) -> None:
    async with hosted(tmp_path, {"odd": zoo("long_line")}) as host:
        await host.connected()
        before = host.peak()
        refused = await host.call("odd", "misbehave", "100")
        answered = await host.call("odd", "echo", "still here")
        grown = host.peak() - before
    assert refused["error"] == "ProtocolBroken"
    assert answered["text"] == "still here"
    assert grown < ROOM


async def test_a_line_without_end_ends_the_server_not_the_yard(tmp_path: Path) -> None:
    servers = {"odd": zoo("no_newline"), "bystander": zoo("good")}
    async with hosted(tmp_path, servers) as host:
        before, peak = await host.connected(), host.peak()
        refused = await host.call("odd", "misbehave")
        answered = await host.call("bystander", "echo", "still here")
        after = await host.connected()
        grown = host.peak() - peak
    assert (refused["error"], refused["message"]) == (
        "ProtocolBroken",
        'the server "odd": the server writes output without line breaks',
    )
    assert answered["text"] == "still here"
    assert after["bystander"]["pid"] == before["bystander"]["pid"]
    assert after["odd"]["pid"] != before["odd"]["pid"]
    assert grown < ROOM


@pytest.mark.parametrize("mode", ["floods_stderr", "garbage_lines", "many_tools"])
async def test_what_a_server_says_beside_its_answers_is_not_collected(
    tmp_path: Path, mode: str
) -> None:
    async with hosted(tmp_path, {"odd": zoo(mode)}) as host:
        await host.connected()
        before = host.peak()
        for _ in range(300):
            await host.call("odd", "echo", "hello")
        grown = host.peak() - before
    assert grown < 8 * MEBIBYTE
