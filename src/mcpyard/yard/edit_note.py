"""Who makes an edit of mcpyard's own servers, so that it can be journalled and undone."""

from msgspec import Struct


class EditNote(Struct):
    """A note about an edit.

    Attributes:
        who: Who makes it, for the journal.
        kind: What it is, such as `add`, `edit`, `toggle`, `remove` or `import`.
        number: The number to undo it by, once it is made; None where nothing changed.
    """

    who: str
    kind: str
    number: int | None = None
