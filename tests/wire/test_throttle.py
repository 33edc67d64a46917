"""`Retry-After`: a remote server that asks to wait is sent nothing until then."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from mcpyard.domain.cause import Code
from mcpyard.wire.remote.throttle import LONGEST, Throttle, retry_after
from tests.runtime.waiting import eventually
from tests.wire.http_scripts import answer, handshake, served, with_session
from tests.wire.servers import Script, Talk, call, notice

pytestmark = [pytest.mark.real, pytest.mark.spec("F2.6")]

NOW = datetime.now(UTC)


def date(seconds: float) -> str:
    return format_datetime((NOW + timedelta(seconds=seconds)).replace(microsecond=0), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "120"}, 120),
        ({"retry-after": " 7 "}, 7),
        ({"retry-after": "0"}, 0),
        ({"retry-after": "9" * 30}, LONGEST),
        ({"retry-after": "86400"}, LONGEST),
        ({"retry-after": date(90), "date": date(0)}, 90),
        ({"retry-after": date(9_000_000), "date": date(0)}, LONGEST),
        ({"retry-after": date(0), "date": date(60)}, 0),
        ({"retry-after": "soon"}, 0),
        ({"retry-after": "-5"}, 0),
        ({"retry-after": "1.5"}, 0),
        ({}, 0),
    ],
)
def test_both_forms_are_read_up_to_an_hour(headers: dict[str, str], seconds: float) -> None:
    assert retry_after(headers) == seconds


def test_a_date_counts_from_now_where_the_server_does_not_say_its_time() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=1_000), usegmt=True)
    assert 0 < retry_after({"retry-after": soon}) <= 1_000


def test_only_the_two_statuses_that_mean_it_throttle() -> None:
    throttle = Throttle()
    assert not throttle.note(500, {"retry-after": "9"})
    assert not throttle.note(429, {})
    assert throttle.left == 0
    assert throttle.note(503, {"retry-after": "9"})
    assert throttle.note(429, {"retry-after": "5"})
    assert 5 < throttle.left <= 9, "an earlier answer that asks for longer stays in force"


def refusing(status: int, **headers: str) -> Script:
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def script(talk: Talk) -> None:
        await talk.body(status, b"slow down", "text/plain", named)

    return script


@pytest.mark.parametrize(("status", "untaken"), [(429, True), (503, False)])
@pytest.mark.parametrize("wait", ["3000", date(3_000)], ids=["seconds", "date"])
async def test_after_a_refusal_with_a_time_nothing_is_sent(
    status: int, untaken: bool, wait: str
) -> None:
    script = refusing(status, Retry_After=wait, Date=date(0))
    async with served(script) as (link, recorder, server):
        link.send(call(1))
        cause = await recorder.failure(1)
        assert (cause.code, cause.untaken) == (Code.HTTP_ERROR, untaken)
        waits = f"HTTP {status}: the server asks to wait 3000 s (Retry-After)"
        assert cause.message == f"{waits}: slow down"
        assert 2_900 < cause.retry_after <= 3_000
        link.send(call(2))
        cause = await recorder.failure(2)
        assert cause.untaken
        assert "(Retry-After)" in cause.message
        assert len(server.heard) == 1
        assert recorder.losses == []


async def test_a_refusal_without_a_time_throttles_nothing() -> None:
    async with served(refusing(429)) as (link, recorder, server):
        for number in (1, 2):
            link.send(call(number))
            assert (await recorder.failure(number)).retry_after == 0
        assert len(server.heard) == 2


async def test_a_server_that_asked_to_wait_is_spoken_to_again_afterwards() -> None:
    refused = False

    async def script(talk: Talk) -> None:
        nonlocal refused
        if refused:
            await answer(talk)
        else:
            refused = True
            await refusing(503, Retry_After="1")(talk)

    async with served(script) as (link, recorder, server):
        link.send(call(1))
        await recorder.failure(1)
        # A notification is not lost: it waits until the server may be sent something.
        link.send(notice("notifications/roots/list_changed"))
        await server.hears("POST", 2)
        link.send(call(2))
        await recorder.answer(2)


async def test_the_stream_of_a_session_is_not_asked_for_while_the_server_wants_to_wait() -> None:
    async def script(talk: Talk) -> None:
        await refusing(429, Retry_After="3000")(talk)

    async with served(with_session(script)) as (link, recorder, server):
        await handshake(link, recorder)
        link.open_get_stream()
        await server.hears("GET")
        assert await eventually(lambda: link.throttle.left > 0)
        link.send(call(5))
        await recorder.failure(5)
        assert [each.method for each in server.heard].count("GET") == 1
    assert "DELETE" not in [each.method for each in server.heard]
