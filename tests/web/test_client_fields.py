"""The edit form of another program's server: what was changed is in the patch, and nothing else."""

from dataclasses import replace

from mcpyard.domain.sync.plan import CellState
from mcpyard.formats.entries import Entry
from mcpyard.formats.facts import Effective, EntryTransport
from mcpyard.formats.registry import scope_ref_of
from mcpyard.formats.warnings import WarningKind
from mcpyard.web.badges import EFFECTIVE, SYNC_STATES
from mcpyard.web.catalogues import catalogue
from mcpyard.web.client_screens.fields import fields_of_entry, patch_of_entry
from mcpyard.web.client_screens.presenters import digest_of
from mcpyard.web.server_screens.definitions import Pair
from mcpyard.yard.clients.edit_results import EntryStatus
from mcpyard.yard.views.clients import entry_view

LOCAL = entry_view(
    scope_ref_of("codex:user"),
    "/c",
    EntryStatus(
        "files",
        Entry(
            command="npx",
            args=("-y", "files"),
            env={"KEY": "a-literal-secret-abcd", "MODE": "${MODE}"},
            call_timeout=1_234_567.0,
        ),
        Effective.ENABLED,
    ),
)
REMOTE = entry_view(
    scope_ref_of("codex:user"),
    "/c",
    EntryStatus(
        "files",
        Entry(
            type=EntryTransport.HTTP,
            url="https://docs.example/mcp",
            headers={"Authorization": "hush"},
        ),
        Effective.ENABLED,
    ),
)


def test_a_form_that_comes_back_as_it_was_is_no_patch() -> None:
    for record in (LOCAL, REMOTE):
        assert patch_of_entry(fields_of_entry(record), record) == {}


def test_only_what_was_changed_is_in_the_patch() -> None:
    fields = fields_of_entry(LOCAL)
    changed = replace(fields, command="uvx", enabled=False, timeout="", name="other")
    patch = {"command": "uvx", "enabled": False, "timeout": None, "name": "other"}
    assert patch_of_entry(changed, LOCAL) == patch


def test_a_variable_that_is_gone_is_removed_and_a_masked_one_is_kept() -> None:
    masked = Pair("KEY", kept=True)
    changed = replace(fields_of_entry(LOCAL), env=(masked, Pair("NEW", "value")))
    assert patch_of_entry(changed, LOCAL) == {
        "env": {"KEY": {"masked": True}, "MODE": None, "NEW": "value"}
    }
    assert patch_of_entry(replace(changed, env=()), LOCAL) == {"env": None}


def test_another_way_to_reach_it_takes_the_words_of_the_first_one_away() -> None:
    far = replace(fields_of_entry(LOCAL), transport="http", url="https://docs.example")
    assert patch_of_entry(far, LOCAL) == {
        "command": None,
        "args": None,
        "env": None,
        "url": "https://docs.example",
    }
    old = replace(fields_of_entry(REMOTE), transport="sse")
    assert patch_of_entry(old, REMOTE) == {"type": "sse"}


def test_whatever_differs_has_another_digest() -> None:
    assert digest_of("a", "b") != digest_of("ab")
    assert digest_of("a") == digest_of("a")


def test_every_state_warning_and_deed_has_its_word() -> None:
    words = catalogue("en").keys()
    assert EFFECTIVE.keys() == {*map(str, Effective)}
    assert SYNC_STATES.keys() == {*CellState}
    assert {f"clients.kind.{kind}" for kind in ("sync", "adopt", "assign")} <= words
    assert {f"warned.{kind}" for kind in WarningKind} <= words
    deeds = ("copy", "edit", "remove", "switch", "switch1", "connect", "sync", "adopt")
    assert {f"clients.done.{deed}" for deed in deeds} <= words
