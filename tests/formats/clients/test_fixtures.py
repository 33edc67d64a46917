"""Files that the real programs wrote, where they are at hand."""

from pathlib import Path

import pytest

from mcpyard.formats.editing import remove, write
from mcpyard.formats.entry_list import read
from mcpyard.formats.registry import scope_ref_of
from mcpyard.formats.switches import is_on, switched_off

FIXTURES = Path(__file__).parents[4] / "shared" / "fixtures" / "clients"

pytestmark = pytest.mark.skipif(not FIXTURES.is_dir(), reason="the recorded files are not here")

FILES = [
    ("claude/HOME.claude.json", "claude", {"files", "docs", "events"}),
    ("claude/HOME.claude.json", "claude:local", {"scratch"}),
    ("claude/project.mcp.json", "claude:project", {"files", "docs", "slow", "helper"}),
    ("codex/written.config.toml", "codex", {"files", "docs"}),
    ("gemini/HOME.gemini.settings.json", "gemini", {"files", "docs", "events"}),
    ("gemini/project.gemini.settings.json", "gemini:project", {"files"}),
    ("opencode/written.opencode.jsonc", "opencode", {"files", "docs"}),
    ("opencode/v2-style.opencode.json", "opencode", {"demo"}),
    ("copilot/HOME.copilot.mcp-config.json", "copilot", {"files", "docs", "events"}),
]


@pytest.mark.parametrize(("file", "words", "names"), FILES)
def test_what_a_program_wrote_is_read_and_written_back_as_it_is(
    file: str, words: str, names: set[str]
) -> None:
    ref = scope_ref_of(words, "/home/user/project")
    text = (FIXTURES / file).read_bytes().decode()
    listing = read(ref, text, file)
    assert {each.name for each in listing.servers} == names
    assert listing.problems == ()
    for name in names:
        entry = listing.entry(name)
        assert write(ref, text, name, entry).text == text
        added = write(ref, text, "added", entry).text
        assert read(ref, added).entry("added") == entry
        assert remove(ref, added, "added").text == text


@pytest.mark.parametrize(
    ("file", "words", "name"),
    [
        ("gemini/HOME.gemini.mcp-server-enablement.json", "gemini", "files"),
        ("copilot/HOME.copilot.settings.json", "copilot", "docs"),
    ],
)
def test_what_a_program_switched_off_is_off(file: str, words: str, name: str) -> None:
    ref = scope_ref_of(words)
    off = switched_off(ref, (FIXTURES / file).read_text())
    assert not is_on(ref, name, off)
    assert is_on(ref, "events", off)
