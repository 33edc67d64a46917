"""What servers answered, part by part, as the page shows it: each kind in its own way."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import orjson
from markupsafe import Markup

from mcpyard.domain.narrowing import is_array, is_mapping, is_object, list_of
from mcpyard.web.filters import inert, pretty
from mcpyard.web.json_tree import TreeNode, json_tree
from mcpyard.web.markdown import LONGEST as RENDERED
from mcpyard.web.markdown import looks_like_markdown, rendered
from mcpyard.yard.calls.outcome import Outcome

LONGEST: Final = 100_000
"""Characters of a part that are shown; the API gives the rest."""

LARGEST: Final = 4_000_000
"""Characters of an image or a sound in base64 that are shown."""

_IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_SOUNDS: Final = frozenset(
    {"audio/wav", "audio/x-wav", "audio/mpeg", "audio/mp3", "audio/ogg", "audio/webm", "audio/mp4"}
)
_MARKDOWN: Final = frozenset({"text/markdown", "text/x-markdown"})
_KNOWN: Final = frozenset({"content", "structuredContent", "isError", "_meta"})
_WEB: Final = ("http://", "https://")

Part = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ResultBlock:
    """A part of an answer.

    Attributes:
        kind: `text`, `image`, `audio`, `resource`, `link`, `data` or `other`.
        text: What it says; of an image or a sound its type.
        source: The image or sound itself, or the address of a resource.
        cut: Whether only the beginning is shown.
        html: The text rendered, where it is Markdown.
        tree: The value, where it is JSON.
        outside: Whether the address is one of a web page.
        body: What shows a resource: a block of any other kind.
    """

    kind: str
    text: str = ""
    source: str = ""
    cut: bool = False
    html: Markup | None = None
    tree: TreeNode | None = None
    outside: bool = False
    body: "ResultBlock | None" = None


def outcome_blocks(outcome: Outcome) -> list[ResultBlock]:
    """The parts of a result, in their order."""
    result = outcome.result
    blocks = part_blocks(list_of(result.get("content")))
    if "structuredContent" in result:
        blocks.append(_data("data", result["structuredContent"]))
    more = {key: result[key] for key in result if key not in _KNOWN}
    return [*blocks, _data("other", more)] if more else blocks


def part_blocks(parts: Iterable[object]) -> list[ResultBlock]:
    """The blocks of the parts of a result, or of a message."""
    return [_block(each) for each in parts if is_mapping(each)]


def resource_blocks(contents: Iterable[object]) -> list[ResultBlock]:
    """The blocks of what reading a resource gave."""
    return [_resource(each) for each in contents if is_mapping(each)]


def _block(part: Part) -> ResultBlock:
    kind, mime = part.get("type"), str(part.get("mimeType", ""))
    match kind:
        case "text":
            return text_block(str(part.get("text", "")))
        case "image" | "audio" if block := _media(mime, str(part.get("data", ""))):
            return block
        case "resource_link":
            return _link(part)
        case "resource" if is_mapping(resource := part.get("resource")):
            return _resource(resource)
        case _:
            return _data("other", part)


def text_block(text: str, mime: str = "") -> ResultBlock:
    """A text, by its type or by what it looks like."""
    cut = len(text) > LONGEST
    beginning = inert(text[:LONGEST])
    if not cut and (value := _parsed(text, mime)) is not None:
        return ResultBlock("text", beginning, tree=json_tree(value))
    is_markdown = mime in _MARKDOWN or (not mime and looks_like_markdown(text))
    html = rendered(text) if is_markdown and len(text) <= RENDERED else None
    return ResultBlock("text", beginning, cut=cut, html=html)


def _parsed(text: str, mime: str) -> object | None:
    """The object or array that a text is; None for anything else."""
    if mime and "json" not in mime:
        return None
    if text[:1] not in {"{", "["}:
        return None
    try:
        value: object = orjson.loads(text)
    except (json.JSONDecodeError, UnicodeEncodeError):
        return None
    return value if (is_object(value) or is_array(value)) and value else None


def _media(mime: str, data: str) -> ResultBlock | None:
    kind = "image" if mime in _IMAGES else "audio" if mime in _SOUNDS else ""
    if not kind or len(data) > LARGEST:
        return None
    return ResultBlock(kind, mime, f"data:{mime};base64,{data}")


def _link(part: Part) -> ResultBlock:
    uri = inert(part.get("uri", ""))
    name = inert(part.get("title") or part.get("name") or "")
    return ResultBlock("link", name, uri, outside=uri.lower().startswith(_WEB))


def _resource(resource: Part) -> ResultBlock:
    where, mime = inert(resource.get("uri", "")), str(resource.get("mimeType") or "")
    if isinstance(text := resource.get("text"), str):
        body = text_block(text, mime)
        return ResultBlock("resource", body.text, where, body.cut, body=body)
    blob = str(resource.get("blob", ""))
    size = f"{inert(mime)} ({len(blob) * 3 // 4} B)"
    return ResultBlock("resource", size, where, body=_media(mime, blob))


def _data(kind: str, value: object) -> ResultBlock:
    text = pretty(value)
    return ResultBlock(kind, text[:LONGEST], cut=len(text) > LONGEST, tree=json_tree(value))
