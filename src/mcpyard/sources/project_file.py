"""The project's `.mcp.json`, read and watched.

An editor saves in many ways: it truncates and writes, renames over, moves the old file away first,
deletes and creates, writes in two steps. So the *folder* is watched, not the file, and what is read
is believed at once only when it parses. A text that does not parse is read again a few times before
it counts as broken, and then the last good one stays in force. An absent file counts as the removal
of its servers only after a second of absence.

Looks are numbered as they begin, and none is told after a later one: a slow look at the text before
an edit must not take the edit back.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mcpyard.domain.desired import Document, Owner, keep_last_good
from mcpyard.domain.errors import (
    DocumentBroken,
    DocumentMoved,
    EditRefused,
    NameTaken,
    Problem,
    ServerUnknown,
    SourceLocation,
)
from mcpyard.domain.model import Config, Scope
from mcpyard.formats import mcp_json
from mcpyard.sources.file_names import PROJECT_FILE
from mcpyard.sources.reading import read_file
from mcpyard.sources.watching import keep_watch, see
from mcpyard.sources.writing import Edit, edit_file, sweep

REREAD_AFTER: Final = (0.05, 0.10, 0.25)
"""Seconds between looks at a text that does not parse: at 50, 150 and 400 ms."""

ABSENT_AFTER: Final = 1.0
"""Seconds after which a missing file counts as gone and an empty one as broken."""

_WARNINGS: Final = attrgetter("warnings")

log = logging.getLogger(__name__)


_UNREADABLE: Final = "Check the path and its permissions: it must be a readable text file."


def read_project(folder: Path) -> Document:
    """What a folder's file says now; nothing where there is none.

    Raises:
        DocumentBroken: It cannot be read, or does not parse.
    """
    path = folder.absolute() / PROJECT_FILE
    owner = Owner(Scope.PROJECT, str(path))
    try:
        return mcp_json.read(read_file(path).decode(), owner)
    except FileNotFoundError:
        return Document(owner)
    except OSError as error:
        problem = Problem("", f"cannot be read: {error.strerror}", SourceLocation(str(path), 0, 0))
        raise DocumentBroken.of(problem).advising(_UNREADABLE) from error
    except UnicodeDecodeError as error:
        message = f"{path}: is not UTF-8 (byte {error.start})"
        raise DocumentBroken.of(Problem("", message)) from None


class _Reading(Struct, frozen=True):
    """What one look at the file gave: a document, or why there is none."""

    number: int
    text: bytes | None
    document: Document | None = None
    problem: Problem | None = None


class ProjectFile:
    """The servers of one project folder."""

    def __init__(self, folder: Path, *, strict: bool = False) -> None:
        self._path = folder.absolute() / PROJECT_FILE
        self._owner = Owner(Scope.PROJECT, str(self._path))
        self._reader = mcp_json.McpJsonReader(self._owner, strict=strict)
        self._document = Document(self._owner)
        self._reported = _Reading(0, None)
        self._looks = 0
        self._hint = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._wake: Callable[[], None] = lambda: None

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def owner(self) -> Owner:
        """The file's owner."""
        return self._owner

    def document(self) -> Document:
        """What the file says, or said when it last made sense."""
        return self._document

    async def open(self, wake: Callable[[], None]) -> None:
        """Begin to watch the folder, and read the file, if it is there."""
        self._wake = wake
        await asyncio.to_thread(sweep, self._path)
        sight = await asyncio.to_thread(see, self._path)
        watch = keep_watch(self._path, sight, self.look_again)
        self._tasks = [asyncio.create_task(watch, name="watch .mcp.json")]
        # One turn of the loop, and the watch is on: no save can fall between it and the first look.
        await asyncio.sleep(0)
        look = await self._look()
        if look.document is None and look.text is not None:
            look = await self._settled_look()
        if look.document or look.problem:
            self._take(look)
        self._tasks.append(asyncio.create_task(self._follow(), name="follow .mcp.json"))

    def look_again(self) -> None:
        """Read the file soon, as after a change."""
        self._hint.set()

    async def add(self, configs: Mapping[str, Config]) -> Mapping[str, NameTaken]:
        """Add the definitions whose names are free (see `EditableSource`)."""
        taken: set[str] = set()

        def edit(text: str) -> str:
            # It may be asked again, of a newer text.
            taken.clear()
            with contextlib.suppress(EditRefused):
                return mcp_json.add(text, configs, self._reader.parsed)
            # Only then it is worth another reading which of them are there.
            taken.update(configs.keys() & mcp_json.names(text))
            return mcp_json.add(
                text, {name: it for name, it in configs.items() if name not in taken}
            )

        await self._edit(edit)
        return {name: self._taken(name) for name in taken}

    async def put(self, name: str, config: Config, instead_of: Config) -> None:
        """Change a definition (see `EditableSource`)."""

        def edit(text: str) -> str:
            document = mcp_json.read(text, self._owner)
            present = {each.name: each.config for each in document.definitions}
            if present.get(name) != instead_of:
                message = f'"{name}" in {self._path} was changed by another program'
                raise DocumentMoved(message)
            return mcp_json.put(text, name, config)

        await self._edit(edit)

    async def remove(self, *names: str) -> None:
        """Take definitions out (see `EditableSource`)."""

        def edit(text: str) -> str:
            present = mcp_json.names(text)
            if missing := next((name for name in names if name not in present), None):
                raise ServerUnknown(f'there is no server "{missing}" in {self._path}')
            return mcp_json.remove(text, *names)

        await self._edit(edit)

    async def rename(self, name: str, new_name: str) -> None:
        """Give a definition another name (see `EditableSource`)."""

        def edit(text: str) -> str:
            if new_name in mcp_json.names(text):
                raise self._taken(new_name)
            return mcp_json.rename(text, name, new_name)

        await self._edit(edit)

    async def close(self) -> None:
        """Stop watching."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks = []

    async def _edit(self, edit: Edit) -> None:
        try:
            await asyncio.to_thread(edit_file, self._path, edit)
        except DocumentBroken as error:
            raise DocumentBroken.of(*map(self._in_this_file, error.problems)) from None
        look = await self._look()
        if look.document:
            self._take(look)

    def _in_this_file(self, problem: Problem) -> Problem:
        """A problem of a text that did not know which file it is of."""
        if problem.place is None:
            return problem
        return replace(problem, place=replace(problem.place, file=str(self._path)))

    def _taken(self, name: str) -> NameTaken:
        return NameTaken(f'the name "{name}" is in use in {self._path}')

    async def _follow(self) -> None:
        while True:
            await self._hint.wait()
            self._hint.clear()
            look = await self._settled_look()
            if (look.text, look.problem) != (self._reported.text, self._reported.problem):
                self._take(look)

    async def _settled_look(self) -> _Reading:
        """Look until what is seen can be believed; a new hint begins the waiting anew."""
        look = await self._look()
        waited, pauses = 0.0, iter(REREAD_AFTER)
        while look.document is None:
            missing = not look.text
            pause = 0.1 if missing else next(pauses, None)
            if pause is None or (missing and waited >= ABSENT_AFTER):
                break
            if await self._hinted_within(pause):
                waited, pauses = 0.0, iter(REREAD_AFTER)
            waited += pause
            look = await self._look()
        return look

    async def _hinted_within(self, seconds: float) -> bool:
        try:
            # Not `wait_for`: it loses a cancellation that meets the hint.
            async with asyncio.timeout(seconds):
                await self._hint.wait()
        except TimeoutError:
            return False
        self._hint.clear()
        return True

    async def _look(self) -> _Reading:
        self._looks += 1
        # All of it in a thread: a large file takes long to parse as well.
        return await asyncio.to_thread(self._read, self._looks)

    def _read(self, number: int) -> _Reading:
        try:
            text = read_file(self._path)
        except FileNotFoundError:
            return _Reading(number, None)
        except OSError as error:
            problem = Problem("", f"{self._path}: cannot be read: {error.strerror}")
            return _Reading(number, b"?", problem=problem)
        if (last := self._reported).document and last.text == text:
            return replace(last, number=number)
        try:
            document = self._reader.read(text.decode())
        except UnicodeDecodeError as error:
            where = f"byte {error.start}"
            problem = Problem("", f"{self._path}: is not UTF-8 ({where})")
            return _Reading(number, text, problem=problem)
        except DocumentBroken as error:
            return _Reading(number, text, problem=error.problems[0])
        return _Reading(number, text, document=document)

    def _take(self, look: _Reading) -> None:
        if look.number < self._reported.number:
            return
        if look.document:
            self._document = keep_last_good(look.document, self._document)
        elif look.problem:
            self._document = replace(self._document, problems=(look.problem,))
        else:
            self._document = Document(self._owner)
        self._reported = look
        self._report()
        self._wake()

    def _report(self) -> None:
        for problem in self._document.problems:
            log.error("%s", problem)
        notes = [*self._document.warnings]
        notes += chain.from_iterable(map(_WARNINGS, self._document.definitions))
        for note in notes:
            log.warning("%s", note)
