"""The application's own functions as tools."""

import asyncio
import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import msgspec
import orjson
from pydantic import TypeAdapter, ValidationError

from mcpyard.catalog.names import name_fault
from mcpyard.domain.errors import NameRefused, Problem, YardError
from mcpyard.yard.calls.call_context import Progress
from mcpyard.yard.calls.outcome import ErrorKind, Outcome
from mcpyard.yard.toolbox.agent_tool import OWN, Tool
from mcpyard.yard.toolbox.docstrings import read_docstring
from mcpyard.yard.toolbox.failures import kind_of
from mcpyard.yard.toolbox.own_results import result_of
from mcpyard.yard.toolbox.own_schema import Function, arguments_of, input_schema, output_schema

log = logging.getLogger(__name__)


def own_tool(
    function: Function,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    annotations: Mapping[str, object] | None = None,
) -> Tool:
    """Make a tool of a typed function, `async` or not.

    A function that is not `async` runs in a thread; after a timeout, the call fails while the
    function continues to run.

    Args:
        function: Its parameters must be accepted by keyword.
        name: The exposed name; default the name of the function.
        title: The display name.
        description: The description for the model; default the docstring of the function. What it
            says under `Args:` describes the parameters.
        annotations: Hints such as `readOnlyHint`.

    Raises:
        NameRefused: The name is invalid.
        DefinitionError: A parameter has no JSON schema; names the parameter.
        TypeError: `function` is not callable.
    """
    if not callable(function):
        raise TypeError(f"{function!r:.80} is neither a function nor a tool")
    called = name or str(getattr(function, "__name__", ""))
    if fault := name_fault(called):
        raise NameRefused.of(Problem("name", f'"{called[:80]}" {fault}'))
    arguments = arguments_of(function, called)
    documented = read_docstring(inspect.getdoc(function) or "")
    return Tool(
        name=called,
        title=title,
        description=description or documented.description,
        input_schema=input_schema(arguments, documented.arguments),
        output_schema=output_schema(function),
        annotations=dict(annotations or {}),
        native=called,
        calling=_OwnFunction(function, called, arguments).call,
    )


@dataclass(frozen=True, slots=True)
class _OwnFunction:
    function: Function
    name: str
    arguments: TypeAdapter[Any]

    async def call(
        self,
        arguments: Mapping[str, object] | None,
        seconds: float | None,
        progress: Progress | None,
    ) -> Outcome:
        """Call the function; a failure is an error outcome."""
        del progress
        try:
            validated = self.arguments.validate_python(dict(arguments or {}))
        except ValidationError as error:
            return self._failed(ErrorKind.VALIDATION, _sentences(error))
        began = perf_counter()
        try:
            async with asyncio.timeout(seconds):
                outcome = await self._run(validated)
        except TimeoutError:
            outcome = self._failed(ErrorKind.TIMEOUT, f"took longer than {seconds} s")
        if outcome.server != OWN:
            return outcome
        return msgspec.structs.replace(outcome, ms=(perf_counter() - began) * 1000)

    async def _run(self, arguments: dict[str, Any]) -> Outcome:
        try:
            value = await self._value(arguments)
            if isinstance(value, Outcome):
                return value
            raw = orjson.dumps(result_of(value))
        except YardError as error:
            return self._failed(kind_of(error), error.message)
        except Exception as error:
            log.exception("the application's tool %s failed", self.name)
            return self._failed(ErrorKind.TOOL, f"{type(error).__name__}: {error}")
        return Outcome(raw, OWN, self.name, 0.0)

    async def _value(self, arguments: dict[str, Any]) -> object:
        if _is_async(self.function):
            value = self.function(**arguments)
        else:
            value = await asyncio.to_thread(_in_thread, self.function, arguments)
        return await value if inspect.isawaitable(value) else value

    def _failed(self, kind: ErrorKind, message: str) -> Outcome:
        return Outcome.failed(kind, f"{self.name}: {message}", server=OWN, tool=self.name)


def _in_thread(function: Function, arguments: dict[str, Any]) -> object:
    try:
        return function(**arguments)
    except StopIteration as error:
        # No future can carry it: whoever waited would wait for ever.
        raise RuntimeError("StopIteration") from error


def _is_async(function: Function) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  asks for the method, not whether it is there
    )


def _sentences(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:10]
    )
