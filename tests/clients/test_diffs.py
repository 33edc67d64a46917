"""Differences that give no secret away."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.domain.files import FileWrite
from mcpyard.yard.clients.diffs import diff_of
from mcpyard.yard.masking import is_secret, shown_values

SECRET = "s3cret-" + "value"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.json", '{"x": {"env": {"K": "%s"}}}'),
        ("a.json", '{"x": {"headers": {"Authorization":\n  "%s"}}}'),
        ("a.json", '{"x": {"oauth": {"clientSecret": "%s"}}}'),
        ("a.json", '{"apiKeyHelper": ["%s"]} // "%s"'),
        ("a.json", '{"env": {"K": "s\\u0033cret-value"}}'),
        ("a.json", '{"x": {"args": ["--token", "%s"]}}'),
        ("a.json", '{"x": {"command": ["a",\n "--api-key=%s"]}}'),
        ("a.json", '{"note": "https://u:%s@h/"}'),
        ("a.toml", 'args = ["--key", "%s"]'),
        ("a.toml", 'env = { K = "%s" }'),
        ("a.toml", 'x.env.K = "%s"'),
        ("a.toml", "[x.http_headers]\n\"X-Key\" = '%s'"),
        ("a.yaml", "x:\n  env:\n    K: %s\n"),
        ("a.yaml", "x:\n  envs:\n    K: %s # note\n"),
        ("a.yaml", "x: {headers: {K: %s, L: y}}\n"),
        ("a.yaml", "x:\n  headers:\n    'K': '%s'\n"),
        ("a.yaml", "x:\n  env:\n    K: |\n      %s\n"),
        ("a.yaml", "args:\n  - --api-key=%s\n"),
        ("a.yaml", "args:\n- --token\n- %s # note\n"),
        ("a.toml", '[x.env]\nK = """\nfirst line\n%s"""'),
    ],
)
@pytest.mark.spec("F3.3")
def test_a_secret_is_masked_in_every_spelling(path: str, text: str) -> None:
    text = text.replace("%s", SECRET) + "\n"
    for change in (FileWrite(path, None, text), FileWrite(path, text, None)):
        diff = diff_of(change)
        assert SECRET not in diff
        assert "s\\u0033cret" not in diff
        assert "***" in diff
        revealed = diff_of(change, show_secrets=True)
        assert revealed.count("\n") == diff.count("\n")
        assert "***" not in revealed


def test_a_change_of_nothing_but_a_secret_is_seen() -> None:
    diff = diff_of(FileWrite("a.json", '{"env": {"K": "one"}}\n', '{"env": {"K": "two"}}\n'))
    assert '-{"env": {"K": "***"}}\n+{"env": {"K": "***"}}\n' in diff


def test_what_is_no_secret_is_shown() -> None:
    text = (
        '{"env": {"A": "${A}", "B": "Bearer {env:B}", "C": "$C", "D": ""},'
        ' "bearer_token_env_var": "TOKEN", "args": ["--mode", "fast"], "type": "stdio"}\n'
    )
    assert f"+{text}" in diff_of(FileWrite("a.json", None, text))


def test_a_short_value_is_masked_beside_its_key_alone() -> None:
    text = '{"env": {"TRANSPORT": "stdio"}, "type": "stdio"}\n'
    assert '+{"env": {"TRANSPORT": "***"}, "type": "stdio"}' in diff_of(
        FileWrite("a.json", None, text)
    )


def test_the_password_of_an_address_is_masked() -> None:
    text = '{"url": "https://me:hunter2@h.example/mcp"}\n'
    assert '"https://me:***@h.example/mcp"' in diff_of(FileWrite("a.json", None, text))


def test_a_text_that_does_not_parse_is_compared_all_the_same() -> None:
    assert "-{\n+{}\n" in diff_of(FileWrite("a.json", "{\n", "{}\n"))


def test_a_missing_end_of_line_is_told_and_a_separator_in_a_string_ends_none() -> None:
    diff = diff_of(FileWrite("a.json", '{"a": "\u2028"}', '{"b": "\u2028"}'))
    assert diff == (
        "--- a.json\n+++ a.json\n@@ -1 +1 @@\n"
        '-{"a": "\u2028"}\n\\ No newline at end of file\n'
        '+{"b": "\u2028"}\n\\ No newline at end of file\n'
    )


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("abc", True),
        ("$ecret", True),
        ("$Ecret", True),
        ("pre-${A}", False),
        ("a very long text around ${A}", True),
        ("${input:token}", False),
        ("{file:/a/b}", False),
        ("", False),
    ],
)
def test_only_references_are_no_secrets(value: str, *, secret: bool) -> None:
    assert is_secret(value) is secret
    display = shown_values({"K": value})["K"]
    assert (display != value) is secret


LINES = st.lists(st.sampled_from(["a\n", "b\n", "@@ -1 +1 @@\n", "-\n", "+x\n"]), max_size=20)


@given(before=LINES, after=LINES, head=LINES, tail=LINES)
def test_a_difference_leads_from_the_one_text_to_the_other(
    before: list[str], after: list[str], head: list[str], tail: list[str]
) -> None:
    old, new = [*head, *before, *tail], [*head, *after, *tail]
    change = FileWrite("a.txt", "".join(old), "".join(new))
    assert applied(old, diff_of(change, show_secrets=True)) == new


def applied(old: list[str], diff: str) -> list[str]:
    """What a patch program makes of the lines."""
    made: list[str] = []
    at = left = new_left = 0
    for line in diff.splitlines(keepends=True)[2:]:
        if not left and not new_left:
            head = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n", line)
            assert head is not None
            left, new_left = (1 if head[each] is None else int(head[each]) for each in (2, 4))
            begin = int(head[1]) - (left > 0)
            made += old[at:begin]
            at = begin
            assert int(head[3]) - (new_left > 0) == len(made)
            continue
        if line[0] != "+":
            assert old[at] == line[1:]
            at, left = at + 1, left - 1
        if line[0] != "-":
            made.append(line[1:])
            new_left -= 1
    return [*made, *old[at:]]
