"""Arguments that were typed as JSON, or read out of a form by the page's script."""

import json
from typing import Final

import orjson

from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.domain.narrowing import is_object
from mcpyard.domain.nesting import nested_deeper

DEEPEST: Final = 64


def read_arguments(sent: str) -> dict[str, object]:
    """The object in a text.

    Raises:
        ArgumentsRefused: It is not JSON, or no object.
    """
    try:
        arguments: object = orjson.loads(sent or "{}")
    except json.JSONDecodeError as error:
        raise ArgumentsRefused.of(Problem("", f"this is not JSON: {error}")) from None
    if not is_object(arguments) or nested_deeper(arguments, DEEPEST):
        raise ArgumentsRefused.of(Problem("", "the arguments must be an object"))
    return arguments
