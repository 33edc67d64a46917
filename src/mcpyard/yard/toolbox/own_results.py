"""What a function of the application returns, as the result of a call."""

import base64
from collections.abc import Sequence
from typing import Final

import orjson
from pydantic_core import to_jsonable_python

from mcpyard.domain.narrowing import is_sequence
from mcpyard.yard.calls.parts import Audio, Image, Resource, ResourceLink, Text, Unknown, write_part

_PART: Final = (Text, Image, Audio, Resource, ResourceLink, Unknown)
_BINARY: Final = (bytes, bytearray)

_KINDS: Final = (
    (b"\x89PNG\r\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
)
_RIFF: Final = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}


def result_of(value: object) -> dict[str, object]:
    """The return value of a function, as a result object."""
    if value is None or isinstance(value, str):
        return {"content": [{"type": "text", "text": value or ""}]}
    listed = [*value] if is_sequence(value) else [value]
    if _has_parts(listed):
        return {"content": [_part(each) for each in listed]}
    plain: object = to_jsonable_python(value, bytes_mode="base64")
    text = orjson.dumps(plain).decode()
    result: dict[str, object] = {"content": [{"type": "text", "text": text}]}
    # The protocol has room for objects only.
    if isinstance(plain, dict):
        result["structuredContent"] = plain
    return result


def _has_parts(values: Sequence[object]) -> bool:
    """Whether values are parts of a result, or texts and binary data beside such."""
    kinds = (*_PART, *_BINARY)
    some = any(isinstance(each, kinds) for each in values)
    return some and all(isinstance(each, (str, *kinds)) for each in values)


def _part(value: object) -> object:
    if isinstance(value, _PART):
        return write_part(value)
    if isinstance(value, _BINARY):
        return write_part(_binary_part(bytes(value)))
    return write_part(Text(str(value)))


def _binary_part(data: bytes) -> Text | Image | Audio | Resource:
    """Binary data as what its first bytes say that it is; text where it is text."""
    mime = _mime(data)
    encoded = base64.b64encode(data).decode()
    if mime.startswith("image/"):
        return Image(encoded, mime)
    if mime.startswith("audio/"):
        return Audio(encoded, mime)
    if mime == "text/plain":
        return Text(data.decode())
    return Resource("own:result", mime, blob=encoded)


def _mime(data: bytes) -> str:
    for start, mime in _KINDS:
        if data.startswith(start):
            return mime
    if data.startswith(b"RIFF") and (mime := _RIFF.get(data[8:12])):
        return mime
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "application/octet-stream" if "\0" in text else "text/plain"
