"""The rules about single entries.

They are about fields that a program passes over, references that it does not replace, and secrets
that others can read.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from mcpyard.domain.definition.secret_names import holds_secret
from mcpyard.domain.definition.secret_text import shown_args, shown_url
from mcpyard.formats.copying.references import ClientReference, parts, reference, without_open
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import Listed
from mcpyard.formats.evaluation import Read, sentence
from mcpyard.formats.facts import Effective
from mcpyard.formats.fields import OAUTH_TEXTS, REMOTE_FIELDS, Field
from mcpyard.formats.finding import Advice, Finding, Where, advice
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.registry import CLIENTS
from mcpyard.formats.switches import switch_words
from mcpyard.formats.texts import Text

_OWN: Final = "yard"
_OTHERS_READ: Final = 0o004
_ANY_REFERENCE: Final = re.compile(
    r"\$\{(?:env:)?(?P<name>[A-Za-z_]\w*)(?::-[^}]*)?\}|\{env:(?P<bare>[A-Za-z_]\w*)\}"
)
_MEANINGS: Final[Mapping[str, Field]] = {
    word: name
    for client in CLIENTS
    for shape in client.shapes
    for word, name in (
        *((word, name) for name, word in shape.field_names.items()),
        *shape.also.items(),
    )
}
"""What a word means in one client or another."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A server under test."""

    file: Read
    text: Text
    listed: Listed
    entry: Entry

    @property
    def ref(self) -> ClientScopeRef:
        return self.file.ref

    def finding(self, says: str, words: tuple[str, ...], todo: Advice, **facts: str) -> Finding:
        name = self.listed.name
        where = Where(self.ref, name, self.file.place(name, *words))
        return where.finding(says, todo, field=".".join(words), **facts)

    def texts(self) -> Iterator[tuple[Field, tuple[str, ...], str]]:
        """Every text in which a reference can stand, with its field and the way to it."""
        words = self.ref.shape.field_names
        for name in (Field.COMMAND, Field.URL, Field.CWD, *OAUTH_TEXTS):
            if name is not Field.OAUTH_CLIENT_SECRET and (text := getattr(self.entry, name)):
                yield name, tuple(words[name].split(".")), text
        for text in self.entry.args or ():
            yield Field.ARGS, (words[Field.ARGS],), text
        yield from self.pairs()

    def pairs(self) -> Iterator[tuple[Field, tuple[str, ...], str]]:
        """Variables, headers and the secret of an OAuth client, likewise."""
        words = self.ref.shape.field_names
        if secret := self.entry.oauth_client_secret:
            name = Field.OAUTH_CLIENT_SECRET
            yield name, tuple(words[name].split(".")), secret
        for name, texts in ((Field.ENV, self.entry.env), (Field.HEADERS, self.entry.headers)):
            for key, text in (texts or {}).items():
                yield name, (words[name], key), text


def entry_findings(file: Read, text: Text) -> Iterator[Finding]:
    """What there is to say about the entries of a file."""
    for listed in file.listing.servers:
        yield from _faults(file, listed)
        if listed.entry is not None:
            case = _Case(file, text, listed, listed.entry)
            yield from _fields(case)
            yield from _references(case)
            yield from _secrets(case)


def _faults(file: Read, listed: Listed) -> Iterator[Finding]:
    """What keeps the program from using the entry, alone or with its other halves."""
    verdict = file.verdicts[listed.name]
    if verdict.state in {Effective.ENABLED, Effective.DISABLED, Effective.SHADOWED}:
        return
    ref = file.ref
    kind = ref.shape.field_names.get(Field.TYPE, "")
    for problem in listed.problems:
        says, todo = "entry-invalid", advice("mend-entry")
        if _lacks_type(ref, listed) and problem.field.endswith(f".{kind}"):
            says, todo = "url-without-type", advice("add-type", word=kind)
        where = Where(ref, listed.name, problem.place)
        yield where.finding(says, todo, detail=sentence(problem))


def _lacks_type(ref: ClientScopeRef, listed: Listed) -> bool:
    entry = listed.entry
    return bool(entry and entry.type is None and entry.url and entry.way in ref.shape.type_needed)


def _fields(case: _Case) -> Iterator[Finding]:
    """Words that the program does not know, or that it knows under another word."""
    client, shape = case.ref.client, case.ref.shape
    own = {*shape.field_names.values(), *shape.also, *shape.others}
    for word in (each for each in case.entry.unknown if each not in own):
        meaning = _MEANINGS.get(word)
        todo = _instead(case.ref, meaning)
        if client.closed:
            yield case.finding("unknown-field", (word,), todo)
        elif meaning:
            says = "needless-type" if meaning is Field.TYPE else "ignored-field"
            yield case.finding(says, (word,), todo)
    if case.entry.command is not None and not case.entry.command.strip():
        word = shape.field_names[Field.COMMAND]
        yield case.finding("empty-command", (word,), advice("name-program"))


def _instead(ref: ClientScopeRef, meaning: Field | None) -> Advice:
    if meaning is not None and meaning in ref.shape.field_names:
        return advice("write-as", word=ref.shape.field_names[meaning])
    if meaning is Field.ENABLED:
        return advice("switch-elsewhere", switch=switch_words(ref))
    return advice("take-out")


def _references(case: _Case) -> Iterator[Finding]:
    """References in the spelling of another program, which stay as they are."""
    client = case.ref.client
    for field, words, text in case.texts():
        dialect = client.dialect_of(field)
        literals = (part for part in parts(text, dialect) if isinstance(part, str))
        texts = (without_open(part) for part in literals)
        for match in (each for part in texts for each in _ANY_REFERENCE.finditer(part)):
            name = match["name"] or match["bare"]
            todo = _as_reference(case.ref, name, field)
            yield case.finding("foreign-reference", words, todo, variable=name)


def _as_reference(ref: ClientScopeRef, name: str, field: Field) -> Advice:
    dialect, names = ref.client.dialect_of(field), ref.shape.field_names
    if dialect.reference:
        return advice("write-reference", reference=reference(name, dialect))
    # A list of variables for a process puts none of them into a request.
    is_remote = field is Field.URL or field in REMOTE_FIELDS
    words = (*(() if is_remote else (Field.ENV_VARS,)), Field.ENV_HEADERS, Field.BEARER)
    if words[0] in names or (is_remote and words[-1] in names):
        fields = ", ".join(names[each] for each in words if each in names)
        return advice("name-variable", words=fields)
    return advice("use-gateway" if is_remote else "read-variable")


def _secrets(case: _Case) -> Iterator[Finding]:
    """Secrets as literals: in a file that is shared or that others can read, or on show."""
    if case.text.tracked:
        says = "secret-tracked"
    elif (case.text.mode or 0) & _OTHERS_READ:
        says = "secret-readable"
    else:
        says = "secret-visible"
    for field, words in _literal_secrets(case) if says != "secret-visible" else ():
        yield case.finding(says, words, _instead_of_secret(case, says, field))
    for field, words in _visible_secrets(case):
        yield case.finding(says, words, _instead_of_secret(case, says, field))


def _instead_of_secret(case: _Case, says: str, field: Field) -> Advice:
    if says == "secret-visible" and case.ref.client.id == _OWN:
        return advice("use-keyring")
    instead = _as_reference(case.ref, "A_VARIABLE", field)
    first = {"secret-tracked": "change-secret", "secret-readable": "close-file"}.get(says)
    return instead.after(first) if first else instead


def _literal_secrets(case: _Case) -> Iterator[tuple[Field, tuple[str, ...]]]:
    for field, words, text in case.pairs():
        dialect = case.ref.client.dialect_of(field)
        refers = any(not isinstance(part, str) for part in parts(text, dialect))
        if text and not refers and holds_secret(words[-1]):
            yield field, words


def _visible_secrets(case: _Case) -> Iterator[tuple[Field, tuple[str, ...]]]:
    """The fields with a secret that process lists and logs show."""
    words = case.ref.shape.field_names
    url = case.entry.url or ""
    dialect = case.ref.client.dialect_of(Field.URL)
    refers = any(isinstance(part, ClientReference) for part in parts(url, dialect))
    if shown_url(url) != url and not refers:
        yield Field.URL, (words[Field.URL],)
    args = case.entry.args or ()
    if shown_args(args) != [*args]:
        yield Field.ARGS, (words[Field.ARGS],)
