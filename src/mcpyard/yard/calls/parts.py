"""The parts of a result, each as what it is; one that is not known is kept as it came."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from mcpyard.domain.narrowing import is_array, is_object, object_of


class Text(Struct, frozen=True):
    """Words for the model."""

    text: str


class Image(Struct, frozen=True):
    """A picture; `data` is base64."""

    data: str
    mime: str


class Audio(Struct, frozen=True):
    """A sound; `data` is base64."""

    data: str
    mime: str


class Resource(Struct, frozen=True):
    """A resource that came along: its `text`, or its `blob` in base64."""

    uri: str
    mime: str | None = None
    text: str | None = None
    blob: str | None = None


class ResourceLink(Struct, frozen=True):
    """A resource that can be fetched."""

    uri: str
    name: str = ""
    mime: str | None = None
    title: str | None = None
    description: str | None = None


class Unknown(Struct, frozen=True):
    """A part of a kind that is not known, or one that lacks what its kind must have."""

    raw: object


Part: TypeAlias = Text | Image | Audio | Resource | ResourceLink | Unknown

_Members: TypeAlias = Mapping[str, object]


def read_parts(content: object) -> tuple[Part, ...]:
    """The parts of a result's `content`; nothing is left out."""
    if content is None:
        return ()
    listed = content if is_array(content) else [content]
    return tuple(_read(each) for each in listed)


def write_part(part: Part) -> object:
    """A part as it stands in the `content` of a result."""
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(data, mime):
            return {"type": "image", "data": data, "mimeType": mime}
        case Audio(data, mime):
            return {"type": "audio", "data": data, "mimeType": mime}
        case Resource(uri, mime, text, blob):
            inner = {"uri": uri, "mimeType": mime, "text": text, "blob": blob}
            return {"type": "resource", "resource": _present(inner)}
        case ResourceLink(uri, name, mime, title, description):
            optional = {"mimeType": mime, "title": title, "description": description}
            return {"type": "resource_link", "uri": uri, "name": name, **_present(optional)}
        case Unknown(raw):
            return raw


def _read(raw: object) -> Part:
    if not is_object(raw):
        return Unknown(raw)
    members = raw
    reader = _READERS.get(str(members.get("type")))
    return (reader(members) if reader else None) or Unknown(members)


def _text(members: _Members) -> Part | None:
    text = members.get("text")
    return Text(text) if isinstance(text, str) else None


def _image(members: _Members) -> Part | None:
    data, mime = members.get("data"), members.get("mimeType")
    return Image(data, mime) if isinstance(data, str) and isinstance(mime, str) else None


def _audio(members: _Members) -> Part | None:
    data, mime = members.get("data"), members.get("mimeType")
    return Audio(data, mime) if isinstance(data, str) and isinstance(mime, str) else None


def _resource(members: _Members) -> Part | None:
    resource = members.get("resource")
    inner: _Members = object_of(resource)
    uri, text, blob = inner.get("uri"), _word(inner, "text"), _word(inner, "blob")
    if not isinstance(uri, str) or (text is None and blob is None):
        return None
    return Resource(uri, _word(inner, "mimeType"), text, blob)


def _link(members: _Members) -> Part | None:
    uri = members.get("uri")
    if not isinstance(uri, str):
        return None
    name = _word(members, "name") or ""
    words = (_word(members, key) for key in ("mimeType", "title", "description"))
    return ResourceLink(uri, name, *words)


def _word(members: _Members, key: str) -> str | None:
    value = members.get(key)
    return value if isinstance(value, str) else None


def _present(members: _Members) -> dict[str, object]:
    return {key: value for key, value in members.items() if value is not None}


_READERS: Final[dict[str, Callable[[_Members], Part | None]]] = {
    "text": _text,
    "image": _image,
    "audio": _audio,
    "resource": _resource,
    "resource_link": _link,
}
