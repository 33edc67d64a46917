"""Every server's record, encoded once and kept until something about that server changes.

Making a record costs some thirty times as much as copying its bytes, and of a thousand servers
hardly one changes between two looks. What a record is made from is immutable, so it is enough to
see that it is the same.
"""

from typing import TYPE_CHECKING, NamedTuple

from mcpyard.api.responses import encode
from mcpyard.yard.views.servers import Picture
from mcpyard.yard.yard import YardCore

if TYPE_CHECKING:
    from uuid import UUID


class EncodedList(NamedTuple):
    """The list as bytes, and the tag that stands for it."""

    tag: str
    body: bytes


class _Card(NamedTuple):
    picture: Picture
    body: bytes


class Records:
    """The encoded records of one yard; with their tools, or without."""

    def __init__(self, yard: YardCore, *, tools: bool) -> None:
        self._yard = yard
        self._tools = tools
        self._cards: dict[UUID, _Card] = {}
        self._listing = EncodedList("", b"")

    def tag(self) -> str:
        """The tag of the list as it is now."""
        kind = "t" if self._tools else "b"
        return f'"{self._yard.instance}-{self._yard.version}{kind}"'

    def listing(self) -> EncodedList:
        """The list as it is now."""
        tag = self.tag()
        if self._listing.tag != tag:
            pictures = self._yard.pictures()
            self._cards = {each.server.id: self._card(each) for each in pictures}
            cards = b",".join([each.body for each in self._cards.values()])
            self._listing = EncodedList(tag, b"[%b]" % cards)
        return self._listing

    def _card(self, picture: Picture) -> _Card:
        card = self._cards.get(picture.server.id)
        # Servers are made anew with every change of any document, but mostly equal.
        if card and card.picture == picture:
            return card
        return _Card(picture, encode(self._yard.record_of(picture, tools=self._tools)))
