"""An entry becomes a remote server, or a local one, by naming its URL or its command alone."""

import pytest

from mcpyard.domain.errors import DefinitionError
from mcpyard.formats import editing
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import read
from mcpyard.formats.facts import EntryTransport
from mcpyard.formats.fields import Field
from mcpyard.formats.registry import scope_ref_of
from mcpyard.yard.clients.patching import patched
from mcpyard.yard.clients.scope_store import FileScopeStore
from tests.clients.program_files import PROGRAMS, laid, scopes

LOCAL = Entry(command="run", args=("-v",), env={"A": "1"}, type=EntryTransport.STDIO)
REMOTE = Entry(url="https://h.example/mcp", headers={"X-A": "1"}, type=EntryTransport.HTTP)


BOTH = [next(scopes(each)) for each in PROGRAMS if Field.URL in each.shapes[0].field_names]


@pytest.mark.spec("F7.4")
@pytest.mark.parametrize("store", BOTH, ids=lambda store: store.ref.client.id)
def test_an_entry_changes_its_transport_and_keeps_nothing_of_the_other(
    store: FileScopeStore,
) -> None:
    ref = store.ref
    for before, patch in (
        (LOCAL, {"url": "https://new.example/mcp", "command": None}),
        (REMOTE, {"command": "new", "url": None}),
    ):
        [file] = laid(store, before).values()
        text = file.text or ""
        entry = read(ref, text).entry("s")
        changed = read(ref, editing.write(ref, text, "s", patched(entry, patch, ref)).text)
        assert changed.server("s").problems == ()
        after = changed.entry("s")
        assert (after.command, after.url) == (patch["command"], patch["url"])
        assert not (after.headers if after.command else after.args or after.env)


def test_a_type_that_is_named_must_fit() -> None:
    ref = scope_ref_of("claude")
    patch = {"command": "new", "url": None, "type": "http"}
    with pytest.raises(DefinitionError, match='"http" contradicts command'):
        patched(Entry(url="https://h.example/mcp"), patch, ref)
