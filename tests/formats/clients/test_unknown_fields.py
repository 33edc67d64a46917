"""A copy says why a field stays behind: nobody knows it, or its value means nothing elsewhere."""

from mcpyard.formats.copying.mapping import convert
from mcpyard.formats.copying.matrix import Matrix
from mcpyard.formats.registry import scope_ref_of
from tests.formats.clients.test_oauth import entry_of


def test_an_unknown_field_and_a_value_without_meaning_are_told_apart() -> None:
    entry = entry_of("codex", {"command": "x", "startup_timeout_sec": 0, "odd": 1})
    source, target = scope_ref_of("codex"), scope_ref_of("gemini")
    converted = convert(entry, source, target, Matrix.NATIVE)
    assert {each.field: each.message for each in converted.warnings} == {
        "startup_timeout_sec": "this value is not supported by mcpyard: dropped",
        "odd": "not supported by mcpyard: dropped",
    }
