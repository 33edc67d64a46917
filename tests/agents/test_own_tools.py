"""The application's own functions as tools."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Literal, cast

import pytest
from pydantic import BaseModel, Field

from mcpyard import Outcome, own_tool
from mcpyard.domain.errors import DefinitionError, NameRefused, TimedOut
from mcpyard.yard.calls.outcome import ErrorKind
from mcpyard.yard.calls.parts import Image, Text


class Weather(BaseModel):
    city: str
    degrees: float


@dataclass
class Location:
    city: str


async def weather(
    place: Location, unit: Literal["C", "F"] = "C", days: Annotated[int, Field(ge=1)] = 1
) -> Weather:
    """Tell the weather."""
    return Weather(city=f"{place.city} in {unit}", degrees=days)


def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


def anything(thing: object = None, **more: object) -> object:
    return {"thing": thing, **more}


def test_the_schemas_come_from_the_annotations() -> None:
    tool = own_tool(weather)
    assert (tool.name, tool.description, tool.origin) == ("weather", "Tell the weather.", "own")
    assert tool.input_schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["place"],
        "properties": {
            "place": {"$ref": "#/$defs/Location"},
            "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
            "days": {"type": "integer", "minimum": 1, "default": 1},
        },
        "$defs": {
            "Location": {
                "title": "Location",
                "type": "object",
                "additionalProperties": False,
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            }
        },
    }
    assert tool.output_schema is not None
    assert tool.output_schema["required"] == ["city", "degrees"]
    assert own_tool(shout).output_schema is None
    assert own_tool(lambda: 0, name="zero").input_schema == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


async def test_arguments_become_what_the_function_wants() -> None:
    outcome = await own_tool(weather).call({"place": {"city": "Oslo"}, "days": "2"})
    assert outcome.structured == {"city": "Oslo in C", "degrees": 2.0}
    assert outcome.text == '{"city":"Oslo in C","degrees":2.0}'
    assert (outcome.server, outcome.tool, outcome.error) == ("own", "weather", None)


async def test_arguments_that_do_not_fit_never_reach_the_function() -> None:
    outcome = await own_tool(weather).call({"place": {}, "unit": "K", "extra": 1})
    assert outcome.error is ErrorKind.VALIDATION
    for part in ("place.city: Field required", "unit: ", "extra: "):
        assert part in outcome.text


async def test_a_function_that_is_not_async_stalls_nobody() -> None:
    release = threading.Event()

    def wait_for_others() -> str:
        release.wait(4)
        return "released" if release.is_set() else "stalled"

    waiting = asyncio.create_task(own_tool(wait_for_others).call())
    await asyncio.sleep(0)
    release.set()
    assert (await waiting).text == "released"


async def test_past_its_time_limit_nobody_waits_for_a_function() -> None:
    async def never() -> None:
        await asyncio.get_running_loop().create_future()

    outcome = await own_tool(never).call(timeout=0.01)
    assert (outcome.error, outcome.text) == (ErrorKind.TIMEOUT, "never: took longer than 0.01 s")


@pytest.mark.parametrize(
    ("value", "text", "structured"),
    [
        (None, "", None),
        ("words", "words", None),
        (3, "3", None),
        ([1, 2], "[1,2]", None),
        ([], "[]", None),
        ({"a": datetime(2026, 1, 1, tzinfo=UTC)}, '{"a":"2026-01-01T00:00:00Z"}', ...),
        (Text("part"), "part", None),
    ],
)
async def test_what_a_function_gives_becomes_a_result(
    value: object, text: str, structured: object
) -> None:
    outcome = await own_tool(lambda: value, name="give").call()
    assert (outcome.text, outcome.error) == (text, None)
    assert structured is ... or outcome.structured == structured


async def test_parts_and_whole_outcomes_are_passed_on() -> None:
    picture = Image("QQ==", "image/png")
    outcome = Outcome(b'{"content": []}', "elsewhere", "t", 1.0)
    assert (await own_tool(lambda: [Text("a"), picture], name="t").call()).parts[1] == picture
    assert await own_tool(lambda: outcome, name="t").call() is outcome


CIRCLE: list[object] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize("value", [object(), {"deep": [object()]}, CIRCLE, "\ud800"])
async def test_a_result_that_cannot_be_written_is_an_error_outcome(value: object) -> None:
    outcome = await own_tool(lambda: value, name="odd").call()
    assert outcome.error is ErrorKind.TOOL
    assert outcome.text.startswith("odd: ")


@pytest.mark.parametrize(
    "error", [ValueError("no"), TimeoutError("inner"), StopIteration(), StopAsyncIteration()]
)
async def test_an_exception_of_a_function_is_an_error_outcome(error: Exception) -> None:
    def breaks() -> None:
        raise error

    async def breaks_later() -> None:
        raise error

    for function in (breaks, breaks_later):
        outcome = await own_tool(function).call()
        assert outcome.error is ErrorKind.TOOL


async def test_an_error_of_the_yard_in_a_function_keeps_its_kind() -> None:
    async def asks() -> None:
        raise TimedOut("a server took too long")

    assert (await own_tool(asks).call()).error is ErrorKind.TIMEOUT


async def test_methods_partials_and_callable_objects_are_functions_too() -> None:
    class Counter:
        async def __call__(self, by: int) -> str:
            return f"by {by}"

        def method(self, by: int) -> str:
            return f"method by {by}"

    for function in (Counter(), Counter().method, partial(Counter().method)):
        tool = own_tool(function, name="count", title="Count", annotations={"readOnlyHint": True})
        assert (await tool.call({"by": 2})).text.endswith("by 2")
        assert (tool.title, tool.annotations) == ("Count", {"readOnlyHint": True})
    assert "method by" in (await own_tool(Counter().method).call({"by": 1})).text


async def test_a_function_may_take_whatever_comes() -> None:
    outcome = await own_tool(anything).call({"a": [1]})
    assert outcome.structured == {"thing": None, "a": [1]}


@pytest.mark.parametrize("name", ["", "with space", "x" * 65, "汉字", "a.b"])
def test_a_name_that_agents_would_not_accept_is_refused(name: str) -> None:
    with pytest.raises(NameRefused, match="must be 1 to 64"):
        own_tool(anything, name=name or "-" * 70)


def test_what_is_no_function_is_refused_by_what_it_is() -> None:
    with pytest.raises(TypeError, match=r"^'x' is neither a function nor a tool"):
        own_tool(cast("Callable[..., object]", "x"))


def test_a_function_without_a_usable_name_needs_one() -> None:
    with pytest.raises(NameRefused, match="<lambda>"):
        own_tool(lambda: 0)


def positional_only(a: int, /) -> int:
    return a


def many(*args: int) -> int:
    return sum(args)


def handle(lock: threading.Lock) -> None:
    del lock


def unreadable(x: "Nowhere") -> None:  # noqa: F821  # pyright: ignore[reportUndefinedVariable]  on purpose
    del x


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (positional_only, "positional_only.a: cannot be given by name"),
        (many, "many.args: cannot be given by name"),
        (handle, "handle.lock: .* cannot be described as JSON"),
        (unreadable, "unreadable.annotations: cannot be read: .*Nowhere"),
    ],
)
def test_a_parameter_that_cannot_be_described_is_named(
    function: Callable[..., object], problem: str
) -> None:
    with pytest.raises(DefinitionError, match=problem):
        own_tool(function)


def test_tokens_grow_with_what_a_tool_says_of_itself() -> None:
    assert 0 < own_tool(shout).tokens < own_tool(shout, description="x" * 400).tokens
