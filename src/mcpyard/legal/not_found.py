"""The error of a text that is not here."""

from collections.abc import Sequence

from mcpyard.legal import notices


class TextNotFound(LookupError):
    """There is no such text; `nearest` has what comes near, as it can be asked for."""

    def __init__(self, message: str, nearest: Sequence[str]) -> None:
        near = [notices.say("nearest", names=", ".join(nearest))] if nearest else []
        super().__init__(" ".join([message, *near]))
        self.nearest = tuple(nearest)
