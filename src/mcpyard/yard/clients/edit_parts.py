"""Parts of edits that are in no text: secrets, consents and permissions of files.

Each is journalled beside texts under a path that says what it is, and is taken back only while it
is as the edit left it.
"""

from typing import Final

from mcpyard.domain.errors import ChangedSince
from mcpyard.domain.files import FileWrite
from mcpyard.domain.stored import FileEdit
from mcpyard.yard.clients.transaction import ClientReach

_SECRET: Final = "secret:"  # noqa: S105  a prefix
_CONSENT: Final = "consent:"
_MODE: Final = "mode:"
_PREFIXES: Final = (_SECRET, _CONSENT, _MODE)


def is_part(edit: FileEdit) -> bool:
    """Whether an edit is of no text."""
    return edit.path.startswith(_PREFIXES)


def mode_part(path: str, before: int, after: int) -> tuple[str, bytes, bytes]:
    """The permissions of a file, as they are journalled."""
    return f"{_MODE}{path}", f"{before:04o}".encode(), f"{after:04o}".encode()


class EditParts:
    """Takes parts of edits back."""

    def __init__(self, reach: ClientReach) -> None:
        self._reach = reach

    async def check(self, edit: FileEdit) -> None:
        """Make sure that a part is as its edit left it.

        Raises:
            ChangedSince: It is not.
        """
        if edit.path.startswith(_SECRET):
            stored = self._reach.secrets
            name = edit.path.removeprefix(_SECRET)
            if stored and await stored.sealed(name) != edit.after:
                raise ChangedSince(f"the secret {name} changed since the edit")
        elif edit.path.startswith(_MODE):
            path = edit.path.removeprefix(_MODE)
            file = (await self._reach.files.read([path], fresh=True))[path]
            if file.mode != int(edit.after or b"0", 8):
                raise ChangedSince(f"the permissions of {path} changed since the edit")

    async def take_back(self, edit: FileEdit) -> None:
        """Put back what was there before an edit."""
        if edit.path.startswith(_SECRET):
            if self._reach.secrets:
                await self._reach.secrets.restore(edit.path.removeprefix(_SECRET), edit.before)
        elif edit.path.startswith(_CONSENT):
            name, _, place = edit.path.removeprefix(_CONSENT).partition(":")
            if self._reach.consents:
                await self._reach.consents.set(place, name, allowed=edit.before is not None)
        else:
            before, after = int(edit.before or b"0", 8), int(edit.after or b"0", 8)
            await self._reach.files.set_mode(edit.path.removeprefix(_MODE), after, before)

    @staticmethod
    def shown(edit: FileEdit) -> FileWrite:
        """The way back of a part as a text, which gives no value away."""
        if edit.path.startswith(_MODE):
            before, after = (edit.before or b"").decode(), (edit.after or b"").decode()
        elif edit.path.startswith(_SECRET):
            before = "no value" if edit.before is None else "the value before"
            after = "no value" if edit.after is None else "the new value"
        else:
            before, after = "not allowed", "allowed"
        return FileWrite(edit.path, f"{after}\n", f"{before}\n")
