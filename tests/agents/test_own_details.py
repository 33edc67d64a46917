"""What functions of the application say of their parameters, and give as results."""

import asyncio
import base64

import pytest

from mcpyard import ErrorKind, Image, Text, own_tool
from mcpyard.yard.toolbox.docstrings import read_docstring

GOOGLE = """Find a note.

It may be old.

Args:
    query: What to look for,
        in any language.
    limit (int): How many.

Returns:
    The notes.
"""
NUMPY = """Find a note.

Parameters
----------
query : str
    What to look for.
limit
    How many.

Returns
-------
str
"""
REST = """Find a note.

:param query: What to look for,
    in any language.
:param int limit: How many.
:returns: The notes.
"""


@pytest.mark.parametrize(
    ("text", "query", "rest"),
    [
        (GOOGLE, "What to look for, in any language.", "Returns:\n    The notes."),
        (NUMPY, "What to look for.", "Returns\n-------\nstr"),
        (REST, "What to look for, in any language.", ":returns: The notes."),
    ],
)
def test_a_docstring_describes_its_parameters(text: str, query: str, rest: str) -> None:
    docstring = read_docstring(text)
    assert docstring.arguments == {"query": query, "limit": "How many."}
    assert docstring.description.startswith("Find a note.")
    assert docstring.description.endswith(rest)
    assert "What to look for" not in docstring.description


@pytest.mark.parametrize("text", ["", "Args:", "Args:\n    words without a name", "Find a note."])
def test_a_docstring_without_parameters_has_none(text: str) -> None:
    assert read_docstring(text).arguments == {}


def test_parameters_are_described_in_the_schema() -> None:
    def find(query: str, limit: int = 3, *, other: bool = False) -> str:
        return f"{query} {limit} {other}"

    find.__doc__ = GOOGLE
    tool = own_tool(find)
    assert tool.input_schema["properties"] == {
        "query": {"type": "string", "description": "What to look for, in any language."},
        "limit": {"type": "integer", "default": 3, "description": "How many."},
        "other": {"type": "boolean", "default": False},
    }


PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    ("data", "kind", "mime"),
    [
        (PNG, "image", "image/png"),
        (b"\xff\xd8\xff\xe0", "image", "image/jpeg"),
        (b"RIFF\0\0\0\0WEBP", "image", "image/webp"),
        (b"RIFF\0\0\0\0WAVE", "audio", "audio/wav"),
        (b"%PDF-1.7", "resource", "application/pdf"),
        (b"RIFF\0\0\0\0AVI ", "resource", "application/octet-stream"),
        (b"\xff\xfe\xfd", "resource", "application/octet-stream"),
    ],
)
async def test_binary_results_are_what_they_begin_with(data: bytes, kind: str, mime: str) -> None:
    outcome = await own_tool(lambda: data, name="get").call()
    (part,) = outcome.result["content"]  # type: ignore[misc]
    assert part["type"] == kind
    inner = part.get("resource", part)
    assert inner["mimeType"] == mime
    assert base64.b64decode(inner.get("data") or inner["blob"]) == data


async def test_text_in_bytes_and_parts_beside_texts_are_kept_in_order() -> None:
    def mixed() -> list[object]:
        return ["see", PNG, Text("that is all"), bytearray(b"words")]

    outcome = await own_tool(mixed).call()
    assert [type(each) for each in outcome.parts] == [Text, Image, Text, Text]
    assert outcome.text == "see\nthat is all\nwords"


async def test_bytes_within_a_structure_are_base64() -> None:
    outcome = await own_tool(lambda: {"data": b"\xff"}, name="get").call()
    assert outcome.structured == {"data": "_w=="}


async def test_a_time_out_says_how_long_it_took() -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    outcome = await own_tool(hang).call(timeout=0.05)
    assert outcome.error is ErrorKind.TIMEOUT
    assert outcome.ms >= 50
