"""The values of an entry's fields: what each must be, told in words where it is not."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from mcpyard.domain.definition.parsing import describe
from mcpyard.domain.narrowing import is_array, is_object
from mcpyard.formats.fields import OAUTH_LISTS, OAUTH_TEXTS, Field

_PORTS: Final = range(1, 2**16)


class Wrong(Exception):
    """A value that its field cannot have; `where` leads into it."""

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where


def text(value: object, where: str = "") -> str:
    """A string."""
    if not isinstance(value, str):
        raise Wrong(f"expected a string, found {describe(value)}", where)
    return value


def texts(value: object) -> tuple[str, ...]:
    """A list of strings."""
    if not is_array(value):
        raise Wrong(f"expected a list of strings, found {describe(value)}")
    return tuple(text(item, f"[{index}]") for index, item in enumerate(value))


def pairs(value: object) -> Mapping[str, str]:
    """An object of strings."""
    if not is_object(value):
        raise Wrong(f"expected an object of strings, found {describe(value)}")
    return {name: text(item, f".{name}") for name, item in value.items()}


def boolean(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Wrong(f"expected true or false, found {describe(value)}")
    return value


def time(value: object) -> float:
    """A length of time."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Wrong(f"expected a number, found {describe(value)}")
    if not 0 < value < float("inf"):
        raise Wrong(f"must be greater than 0, found {describe(value)}")
    return value


def port(value: object) -> int:
    """The number of a port."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value not in _PORTS:
        raise Wrong(f"expected a port from 1 to 65535, found {describe(value)}")
    return int(value)


READERS: Final[Mapping[Field, Callable[[object], Any]]] = {
    Field.COMMAND: text,
    Field.ARGS: texts,
    Field.ENV: pairs,
    Field.URL: text,
    Field.ENABLED: boolean,
    Field.HEADERS: pairs,
    Field.CWD: text,
    Field.CALL_TIMEOUT: time,
    Field.START_TIMEOUT: time,
    Field.ONLY_TOOLS: texts,
    Field.EXCEPT_TOOLS: texts,
    Field.ENV_VARS: texts,
    Field.ENV_HEADERS: pairs,
    Field.BEARER: text,
    Field.OAUTH_CALLBACK_PORT: port,
    **dict.fromkeys(OAUTH_TEXTS, text),
    **dict.fromkeys(OAUTH_LISTS, texts),
}
