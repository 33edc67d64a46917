"""What a browser asks: parts of the path, forms, and who it is."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote

from starlette.requests import Request

from mcpyard.asgi_scope import caller_name
from mcpyard.domain.errors import ArgumentsRefused, Problem

_MOST_FIELDS: Final = 5_000
_SOMEBODY: Final = "page"


class Form:
    """The fields of a form, in the order they stand on the page."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self._fields = fields

    def __getitem__(self, name: str) -> str:
        """The last value of a field; empty where there is none."""
        return next((value for key, value in reversed(self._fields) if key == name), "")

    def __contains__(self, name: str) -> bool:
        return any(key == name for key, _ in self._fields)

    def pairs(self) -> list[tuple[str, str]]:
        """Every field with its value."""
        return [*self._fields]

    def all(self, name: str) -> list[str]:
        """Every value of a field."""
        return [value for key, value in self._fields if key == name]


async def form(request: Request) -> Form:
    """The form that a body is."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        fields = parse_qsl(body, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise ArgumentsRefused.of(Problem("", "the form has too many fields")) from None
    return Form(fields)


def part(request: Request, name: str) -> str:
    """A part of the path, unquoted."""
    return unquote(request.path_params[name])


def caller(request: Request) -> str:
    """Who asks, in the words of the journal."""
    return caller_name(request.scope, _SOMEBODY)


def chosen(query: Mapping[str, str], name: str) -> str | None:
    """A choice in an address; None where nothing is chosen."""
    return query.get(name) or None
