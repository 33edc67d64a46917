"""What may run of a project's file: a pure function of what it says and of what was approved.

A project's file runs commands, and other people change it. So an approval is bound to an entry as
written, with its references unexpanded: another value of a variable asks nothing, another word in
the entry does. Until somebody approves a change, what was approved before stays in force. An entry
that was never approved is nowhere in force, and takes no other server's place: doing that needs an
approval of its own. What is taken out of the file, or switched off there, ends at once.

How long a call may take and what a server is called on the page is not bound: it runs nothing.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from msgspec import Struct, structs

from mcpyard.domain.desired import Definition, Document, Owner, Waiting
from mcpyard.domain.model import POLICY_FIELDS, Config, Wanted

_FREE: Final = POLICY_FIELDS - {"inherit", "fallback", "tools"}
"""What an approval is not bound to; whatever fields may come, it is bound to them."""


@dataclass(frozen=True, slots=True)
class ApprovedEntry:
    """An entry that was approved.

    Attributes:
        config: The entry as it was written then.
        shadows: Whether it may take the place of a server of its name in another scope.
        gone: Whether the file has no such entry any more: then it runs only if it comes back as it
            was, and not in place of something else.
        edit: What an edit from here is about to write, or wrote: approved as well, so that a kill
            between the two writes leaves nothing waiting that its writer approved.
    """

    config: Config = field(repr=False)
    shadows: bool = False
    gone: bool = False
    edit: Config | None = field(default=None, repr=False)

    def covers(self, config: Config) -> bool:
        """Whether an entry says nothing that was not approved."""
        return _covers(self.config, config) or self.is_edited_to(config)

    def is_edited_to(self, config: Config) -> bool:
        """Whether an entry is what an edit from here wrote."""
        return self.edit is not None and _covers(self.edit, config)


def _covers(approved: Config, config: Config) -> bool:
    wakes = is_at_rest(approved) and not is_at_rest(config)
    same = approved is config or approved == config or bound(approved) == bound(config)
    return same and not wakes


Entries = Mapping[str, ApprovedEntry]
"""What was approved of one file, by name."""


class Admission(Struct, frozen=True):
    """The documents with what may be in force, and what waits."""

    documents: tuple[Document, ...]
    waiting: tuple[Waiting, ...] = ()


def admit(documents: Iterable[Document], approved: Mapping[Owner, Entries]) -> Admission:
    """Let through what was approved of each owner's document; one without approvals is trusted."""
    everything = tuple(documents)
    admitted: list[Document] = []
    waiting: list[Waiting] = []
    for document in everything:
        entries = approved.get(document.owner)
        if entries is None:
            admitted.append(document)
            continue
        below = _below(document.owner, everything)
        if _is_as_approved(document, entries, below):
            admitted.append(document)
            continue
        judged = [*_judge(document, entries, below)]
        in_force = tuple(each for each, _ in judged if each)
        admitted.append(structs.replace(document, definitions=in_force))
        waiting += [each for _, each in judged if each]
    return Admission(tuple(admitted), tuple(waiting))


def seen(document: Document, entries: Entries) -> Entries:
    """What is approved of a file after it was looked at.

    What it has no more is marked as gone, and an edit that was written is what is approved.
    """
    if document.problems and not document.definitions:
        # A file that cannot be read says nothing, also not that something is gone.
        return entries
    written = {each.name: each.config for each in document.definitions}
    # Most entries are as they were, and one edit must not cost a look at each of them.
    loose = {
        name: entry
        for name, entry in entries.items()
        if entry.config is not written.get(name) or entry.edit or entry.gone
    }
    marked = {
        name: _marked(entry, written.get(name), skipped=name in document.skipped)
        for name, entry in loose.items()
    }
    changed = {name: entry for name, entry in marked.items() if entry is not loose[name]}
    return {**entries, **changed} if changed else entries


def _marked(entry: ApprovedEntry, written: Config | None, *, skipped: bool) -> ApprovedEntry:
    if written is None:
        return entry if skipped or entry.gone else replace(entry, gone=True)
    if entry.edit and entry.is_edited_to(written):
        entry = replace(entry, config=entry.edit, edit=None)
    if entry.gone and entry.covers(written):
        entry = replace(entry, gone=False)
    # Of equals the one that is written: the same object is the same at a glance.
    same = entry.config is not written and entry.config == written
    return replace(entry, config=written) if same else entry


def is_at_rest(config: Config) -> bool:
    """Whether a definition itself says that the server is not to run."""
    return not config.enabled or config.wanted is Wanted.STOPPED


def bound(config: Config) -> dict[str, object]:
    """What an approval of a definition is bound to."""
    return config.model_dump(mode="json", exclude={*_FREE})


def digest_of(waiting: Iterable[Waiting]) -> str:
    """Stands for what a person is shown of entries that wait; another when one of them changes."""
    listed = sorted(
        [
            each.definition.name,
            each.owner.place,
            json.dumps(each.definition.config.model_dump(mode="json"), sort_keys=True),
            each.shadows.words if each.shadows else "",
        ]
        for each in waiting
    )
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:32]


def _is_as_approved(document: Document, entries: Entries, below: Mapping[str, Owner]) -> bool:
    """Whether every entry is what was approved, at a glance, and takes nobody's place."""
    for each in document.definitions:
        approved = entries.get(each.name)
        if approved is None or approved.config is not each.config or each.name in below:
            return False
    return True


def _judge(
    document: Document, entries: Entries, below: Mapping[str, Owner]
) -> Iterator[tuple[Definition | None, Waiting | None]]:
    """For each entry of a document what may be in force, and what waits."""
    for written in document.definitions:
        entry, shadows = entries.get(written.name), below.get(written.name)
        held = entry is None or (shadows and not entry.shadows)
        if entry and not held and entry.covers(written.config):
            yield written, None
            continue
        new = Waiting(document.owner, written, shadows=shadows)
        if entry is None or held or entry.gone:
            yield None, new
        else:
            config = _resting_with(written.config, entry.config)
            approved = Definition(written.name, config, written.place)
            yield approved, replace(new, approved=entry.config)


def _below(owner: Owner, documents: Iterable[Document]) -> dict[str, Owner]:
    """Who has a server of each name that is in force unless this owner has one."""
    lower = [each for each in documents if each.owner.scope.rank > owner.scope.rank]
    lower.sort(key=lambda each: each.owner.scope.rank, reverse=True)
    return {one.name: each.owner for each in lower for one in each.definitions}


def _resting_with(written: Config, approved: Config) -> Config:
    """What was approved; switched off where the entry is by now."""
    if not is_at_rest(written) or is_at_rest(approved):
        return approved
    return approved.model_copy(update={"enabled": written.enabled, "wanted": written.wanted})
