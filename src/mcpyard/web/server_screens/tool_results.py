"""What a tool answered, part by part, as the page shows it: everything as text, but for images."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mcpyard.domain.narrowing import is_mapping, list_of
from mcpyard.web.filters import inert, pretty
from mcpyard.yard.calls.outcome import Outcome

LONGEST: Final = 100_000
"""Characters of a part that are shown; the API gives the rest."""

_IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_KNOWN: Final = frozenset({"content", "structuredContent", "isError", "_meta"})

Part = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ResultBlock:
    """A part of a result: a `text`, `image`, `resource`, `link`, `data` or `other`.

    Its `source` is the image itself, or where a resource is.
    """

    kind: str
    text: str = ""
    source: str = ""
    cut: bool = False


def blocks_of(outcome: Outcome) -> list[ResultBlock]:
    """The parts of a result, in their order."""
    result = outcome.result
    content = result.get("content")
    parts = list_of(content)
    blocks = [_block(each) for each in parts if is_mapping(each)]
    if "structuredContent" in result:
        blocks.append(_cut("data", pretty(result["structuredContent"])))
    more = {key: result[key] for key in result if key not in _KNOWN}
    return [*blocks, _cut("other", pretty(more))] if more else blocks


def _block(part: Part) -> ResultBlock:
    match part.get("type"):
        case "text":
            return _cut("text", inert(part.get("text", "")))
        case "image" if part.get("mimeType") in _IMAGES:
            source = f"data:{part['mimeType']};base64,{part.get('data', '')}"
            return ResultBlock("image", str(part["mimeType"]), source)
        case "resource_link":
            return ResultBlock("link", inert(part.get("name") or ""), inert(part.get("uri", "")))
        case "resource" if is_mapping(resource := part.get("resource")):
            return _resource(resource)
        case _:
            return _cut("other", pretty(part))


def _resource(resource: Part) -> ResultBlock:
    where = inert(resource.get("uri", ""))
    if isinstance(text := resource.get("text"), str):
        return ResultBlock("resource", inert(text[:LONGEST]), where, cut=len(text) > LONGEST)
    size = len(str(resource.get("blob", ""))) * 3 // 4
    return ResultBlock("resource", f"{inert(resource.get('mimeType', ''))} ({size} B)", where)


def _cut(kind: str, text: str) -> ResultBlock:
    return ResultBlock(kind, text[:LONGEST], cut=len(text) > LONGEST)
