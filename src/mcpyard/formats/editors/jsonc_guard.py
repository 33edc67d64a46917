"""The guard that every edit passes before its text is given out.

The text is read again after the edit, its value is compared with what the edit is meant to give,
and the text around the member must be the same to the byte.
"""

from msgspec import Struct

from mcpyard.domain.errors import DocumentBroken
from mcpyard.formats.editors.jsonc_rescan import rescan
from mcpyard.formats.editors.jsonc_scan import Json, JsonScan, Path, broken
from mcpyard.formats.editors.jsonc_values import refuse, same, value_at


class JsoncEdit(Struct, frozen=True):
    """An edited text that is not trusted yet.

    Attributes:
        reading: what the text gave before.
        text: the text before.
        path: what the edit is about.
        span: the part of the text before that the edit may touch.
        edited: the text after.
        intended: the value that the text shall give after, worked out without it.
        zones: the paths of the innermost values that hold all that the edit may touch.
    """

    reading: JsonScan
    text: str
    path: Path
    span: tuple[int, int]
    edited: str
    intended: Json
    zones: tuple[Path, ...]

    def guarded(self) -> str:
        """The edited text, if it is what the edit is meant to give.

        Raises:
            DocumentBroken: the text was nested too deeply to begin with.
            EditRefused: it is not.
        """
        try:
            before, comments = self.reading, not self.reading.strict
            after = rescan(self.edited, before.path, before, comments=comments).scan.root.value
            right = self._keeps_the_rest() and self._gives(after)
        except DocumentBroken as error:
            message = f"the edit would break the file: {error.message}"
            raise refuse(self.path, message) from None
        except RecursionError:
            raise broken(self.text) from None
        if not right:
            raise refuse(self.path, "the edit would not give exactly what was asked")
        return self.edited

    def _gives(self, after: Json) -> bool:
        # Python takes 1, 1.0 and true for equal. Beside the zones they cannot have turned into each
        # other, for there the bytes are the same; within them the types are compared as well.
        return after == self.intended and all(
            same(value_at(after, zone), value_at(self.intended, zone)) for zone in self.zones
        )

    def _keeps_the_rest(self) -> bool:
        start, end = self.span
        before, behind = self.text[:start], self.text[end:]
        return (
            len(self.edited) >= len(before) + len(behind)
            and self.edited.startswith(before)
            and self.edited.endswith(behind)
        )
