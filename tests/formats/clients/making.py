"""Entries as people could have written them, for any client."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from mcpyard.formats.entries import Entry, spell, understand
from mcpyard.formats.facts import Client, EntrySchema, EntryTransport, Field, Unit
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.registry import CLIENTS

REFS = tuple(
    ClientScopeRef(client, client.scopes[0], "p", shape)
    for client in CLIENTS
    for shape in client.shapes
)
NAMES = st.sampled_from(["A", "B_C", "TOKEN"])
PLAIN = st.sampled_from(
    ["x", "a b", "é", "$", "$5", "${", "}", "{env:", "$${A}", "${A}", "$A", "-"]
)


def texts(client: Client) -> st.SearchStrategy[str]:
    dialect = client.dialect
    pieces = [PLAIN]
    if dialect.reference:
        pieces.append(NAMES.map(dialect.reference.format))
    if dialect.with_default:
        pieces.append(st.tuples(NAMES, PLAIN).map(lambda it: dialect.with_default.format(*it)))
    if client.id == "opencode":
        pieces.append(st.just("{file:secret.txt}"))
    whole = st.one_of(*pieces)
    return st.lists(whole, min_size=1, max_size=3).map("".join)


def _pairs(
    keys: st.SearchStrategy[str], values: st.SearchStrategy[str]
) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(keys, values, max_size=3)


def _tuples(values: st.SearchStrategy[str], size: int = 0) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(values, min_size=size, max_size=3, unique=True).map(tuple)


HEADERS = st.sampled_from(["Authorization", "X-Key", "x-other"])
WHOLE_TIMES = st.sampled_from([1, 500, 1000, 1500, 30000])
TIMES = st.one_of(WHOLE_TIMES, st.just(0.5))


def _times(client: Client, shape: EntrySchema, name: Field) -> st.SearchStrategy[float]:
    unit = shape.units.get(shape.field_names.get(name, ""), Unit())
    whole = unit.whole and (client.fragile or shape.accepts is not None)
    return WHOLE_TIMES if whole else TIMES


def _bearers(client: Client) -> st.SearchStrategy[dict[str, str]]:
    if not client.dialect.reference:
        return st.just({})
    reference = NAMES.map(lambda name: {"Authorization": f"Bearer {_ref(client, name)}"})
    return st.one_of(st.just({}), reference)


def _ref(client: Client, name: str) -> str:
    return client.dialect.reference.format(name)


@st.composite
def entries(draw: st.DrawFn, ref: ClientScopeRef) -> Entry:
    client, shape = ref.client, ref.shape
    remote = Field.URL in shape.field_names and draw(st.booleans())
    text = texts(client)
    values: dict[Field, Any] = {}
    ways = [way for way in shape.types if (way is not EntryTransport.STDIO) is remote]
    strategies: dict[Field, st.SearchStrategy[object]] = {
        Field.ENABLED: st.booleans(),
        Field.CALL_TIMEOUT: _times(client, shape, Field.CALL_TIMEOUT),
        Field.START_TIMEOUT: _times(client, shape, Field.START_TIMEOUT),
        Field.ONLY_TOOLS: st.one_of(_tuples(NAMES), st.just(("*",))),
        Field.EXCEPT_TOOLS: _tuples(NAMES),
    }
    if remote:
        values[Field.URL] = "https://example.com/" + draw(text)
        strategies[Field.HEADERS] = st.tuples(_pairs(HEADERS, text), _bearers(client)).map(
            lambda both: both[0] | both[1]
        )
        strategies[Field.ENV_HEADERS] = _pairs(HEADERS, NAMES)
        strategies[Field.BEARER] = NAMES
    else:
        values[Field.COMMAND] = "run" + draw(text)
        strategies[Field.ARGS] = st.lists(text, max_size=3).map(tuple)
        strategies[Field.ENV] = _pairs(NAMES, text)
        strategies[Field.CWD] = text
        strategies[Field.ENV_VARS] = _tuples(NAMES, 1)
    if ways:
        strategies[Field.TYPE] = st.sampled_from(ways)
    for name, strategy in strategies.items():
        if name in shape.field_names and draw(st.booleans()):
            values[name] = draw(strategy)
    unknown = draw(st.dictionaries(st.sampled_from(["x-more", "x-note"]), st.just({"a": 1})))
    return reread(replace(Entry(unknown=unknown), **values), client, shape)


def reread(entry: Entry, client: Client, shape: EntrySchema) -> Entry:
    """What the client reads of an entry that was written for it."""
    return understand(spell(entry, shape), client, shape).entry
