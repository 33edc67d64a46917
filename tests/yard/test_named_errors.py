"""An error that reaches a caller says which server it is about, and what to do about that one."""

import pytest

from mcpyard.domain.errors import (
    ArgumentsRefused,
    CallRefused,
    Disabled,
    Disconnected,
    ServerUnknown,
    TimedOut,
    YardError,
)
from mcpyard.domain.remedies import remedy
from tests.yard.test_fallback import ASKED, READS, Library, local


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            Disconnected("the process exited with code 137"),
            'the server "my laws": the process exited with code 137',
        ),
        (TimedOut("no answer within 1 s"), 'the server "my laws": no answer within 1 s'),
        (Disconnected('the server "my laws" is stopped'), 'the server "my laws" is stopped'),
        (CallRefused("its own words"), "its own words"),
    ],
)
async def test_what_went_wrong_with_a_server_names_it_once(error: YardError, message: str) -> None:
    library = Library(READS, **{"my laws": local()})
    library.fail("my laws", error)
    async with library.open() as yard:
        for call in (
            yard.call("mcp_my_laws_search", ASKED),
            yard.call_tool("my laws", "search", ASKED),
        ):
            with pytest.raises(type(error)) as raised:
                await call
            assert (raised.value.message, str(raised.value)) == (message, message)
            assert raised.value.server == "my laws"


async def test_a_server_that_has_fallbacks_is_named_too() -> None:
    library = Library({}, a=local(fallback=["b"]), b=local())
    library.fail("a", Disconnected("lost in flight"))
    async with library.open() as yard:
        with pytest.raises(Disconnected, match=r'^the server "a": lost in flight; no fallback was'):
            await yard.call("mcp_a_search", ASKED)


@pytest.mark.parametrize("fallback", [[], ["b"]])
@pytest.mark.parametrize("arguments", [[1], [], "text", 0])
async def test_arguments_that_are_no_object_are_refused(
    arguments: object, fallback: list[str]
) -> None:
    library = Library(a=local(fallback=fallback), b=local())
    async with library.open() as yard:
        with pytest.raises(ArgumentsRefused, match="arguments: must be an object"):
            await yard.call("mcp_a_search", arguments)  # pyright: ignore[reportArgumentType]  the point
    assert library.called == []


def test_what_to_do_names_the_server_where_it_is_known() -> None:
    assert remedy(Disabled("x")) == "Enable it: mcpyard edit NAME --enable"
    assert remedy(Disabled("x").about("a b")) == "Enable it: mcpyard edit 'a b' --enable"


def test_an_error_that_knows_better_what_to_do_says_it() -> None:
    assert remedy(ServerUnknown("x").advising("Look elsewhere.")) == "Look elsewhere."
