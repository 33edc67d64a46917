"""A result in the form that a model reads: words, and the media that its agent can carry.

Nothing is left out silently. What an agent cannot carry stands there as a note, and structured
content as JSON, unless the words say the same already.
"""

import base64
import binascii
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

import orjson

from mcpyard.domain.narrowing import is_object
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.calls.parts import Audio, Image, Part, Resource, ResourceLink, Text, Unknown

EMPTY: Final = "(the tool answered with no content)"
BLANK: Final = "(the tool answered with blank text)"

_PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})


@dataclass(frozen=True, slots=True)
class Media:
    """A picture, a sound or a file that came with a result; `data` is base64."""

    data: str
    mime: str
    uri: str = ""

    @property
    def is_image(self) -> bool:
        """Whether it is a picture."""
        return self.mime.startswith("image/")

    @property
    def url(self) -> str:
        """The whole of it as an address."""
        return f"data:{self.mime};base64,{self.data}"

    @property
    def filename(self) -> str:
        """What to call it as a file."""
        kind = self.mime.partition("/")[2].partition(";")[0] or "bin"
        path = self.uri.partition("://")[2]
        return path.rstrip("/").rpartition("/")[2] or f"file.{kind}"

    def decoded(self) -> bytes | None:
        """Its bytes; None when they are not base64 after all."""
        try:
            return base64.b64decode(self.data, validate=True)
        except (binascii.Error, ValueError):
            return None

    def note(self) -> str:
        """Words that stand in for it."""
        where = f" {self.uri}" if self.uri else ""
        size = len(self.data) * 3 // 4
        return f"[{self.mime}{where}, about {size} bytes, cannot be shown here]"


Piece: TypeAlias = str | Media
Carries: TypeAlias = Callable[[Media], bool]
_Item = TypeVar("_Item")


def pieces(outcome: Outcome, carries: Carries) -> list[Piece]:
    """A result in order, as words and media; never empty, and no words are blank.

    Args:
        outcome: What a call gave.
        carries: Which media the agent can carry; of the others there is a note.
    """
    parts = [_piece(part) for part in outcome.parts]
    rendered = [_rendered(each, carries) for each in parts]
    if outcome.structured is not None and not _is_in_text(outcome):
        rendered.append(_json(outcome.structured))
    # Services refuse text that is blank.
    visible = [each for each in rendered if not isinstance(each, str) or each.strip()]
    return visible or [BLANK if any(rendered) else EMPTY]


def flagged(outcome: Outcome, carries: Carries) -> list[Piece]:
    """Like `pieces`, for agents that have no other way to tell a failure: the words say so."""
    first, *rest = pieces(outcome, carries)
    if not outcome.is_error:
        return [first, *rest]
    return ["Error:", first, *rest] if isinstance(first, Media) else [f"Error: {first}", *rest]


def as_text(outcome: Outcome) -> str:
    """A result in words alone."""
    return "\n".join(words(pieces(outcome, nothing)))


def text_or_items(parts: list[Piece], item: Callable[[Piece], _Item]) -> str | list[_Item]:
    """The pieces as one text, or an item each where there is media among them."""
    if any(isinstance(each, Media) for each in parts):
        return [item(each) for each in parts]
    return "\n".join(words(parts))


def words(parts: list[Piece]) -> Iterator[str]:
    """The words among pieces."""
    return (each for each in parts if isinstance(each, str))


def media(parts: list[Piece]) -> Iterator[Media]:
    """The media among pieces."""
    return (each for each in parts if isinstance(each, Media))


def nothing(_media: Media) -> bool:
    """Carry no media at all."""
    return False


def everything(_media: Media) -> bool:
    """Carry all media."""
    return True


def pictures(each: Media) -> bool:
    """Carry pictures of the kinds that models commonly see."""
    return each.mime in _PICTURES


def pictures_and_pdf(each: Media) -> bool:
    """Carry such pictures, and PDF files."""
    return pictures(each) or each.mime == "application/pdf"


def _rendered(piece: Piece, carries: Carries) -> Piece:
    # One picture that is not base64 would cost the whole request.
    if isinstance(piece, str) or (carries(piece) and piece.decoded()):
        return piece
    return piece.note()


def _piece(part: Part) -> Piece:
    match part:
        case Text(text):
            return text
        case Image(data, mime) | Audio(data, mime):
            return Media(data, mime)
        case Resource(uri, mime, text, blob):
            if text is not None:
                return f"[{uri}]\n{text}"
            return Media(blob or "", mime or "application/octet-stream", uri)
        case ResourceLink():
            return _link(part)
        case Unknown(raw):
            return _json(raw)


def _link(link: ResourceLink) -> str:
    name = link.title or link.name
    kind = f" ({link.mime})" if link.mime else ""
    about = f": {link.description}" if link.description else ""
    return f"[link {name}] {link.uri}{kind}{about}" if name else f"[link] {link.uri}{kind}{about}"


def _is_in_text(outcome: Outcome) -> bool:
    """Whether the text parts say what the structured content says.

    Servers are asked to say it in both; a bare value is often wrapped as `{"result": value}`.
    """
    texts = [part.text for part in outcome.parts if isinstance(part, Text)]
    values_in_text = [_read(text) for text in texts]
    structured = outcome.structured
    values = [structured]
    if is_object(structured) and [*structured] == ["result"]:
        values += structured.values()
    return any(
        value in values_in_text or value in texts or value == values_in_text for value in values
    )


def _read(text: str) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
