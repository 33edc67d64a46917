from dataclasses import replace

import pytest

from mcpyard.formats.facts import Client, NameRule
from mcpyard.formats.naming import name_fault, slug
from mcpyard.formats.registry import client_of

CLAUDE, CODEX, GEMINI, GOOSE = map(client_of, ("claude", "codex", "gemini", "goose"))


@pytest.mark.parametrize(
    ("client", "name", "says", "offer"),
    [
        (CLAUDE, "my server", "is not a valid name in Claude Code", "my-server"),
        (CLAUDE, "workspace", "is reserved by", "workspace-2"),
        (CLAUDE, "文件", "letters, digits, - and _", "WenJian"),
        (CLAUDE, "!!!", "is not a valid name", "server"),
        (CODEX, "a b", "is not a valid name in Codex", "a-b"),
        (GEMINI, "FILES", "differs only in case", "FILES-2"),
        (GEMINI, "files", "is taken", "files-2"),
        (GEMINI, " ", "must not be empty", "server"),
        (GOOSE, "myFiles", "without spaces and capital letters", "myfiles"),
        (GOOSE, "Files", "without spaces and capital letters", "files-2"),
    ],
)
def test_a_name_that_cannot_be_taken_is_refused_with_an_offer(
    client: Client, name: str, says: str, offer: str
) -> None:
    fault = name_fault(client, name, ["files"])
    assert fault is not None
    assert says in fault
    assert fault.endswith(f'"{offer}"')
    assert name_fault(client, offer, ["files"]) is None


@pytest.mark.parametrize("name", ["files", "a.b/c:d@e"])
def test_a_name_that_can_be_taken_stays_as_it_is(name: str) -> None:
    assert name_fault(CODEX, name) is None
    assert slug(CODEX, name) == name


def test_an_offer_is_one_that_nobody_has() -> None:
    assert slug(CLAUDE, "a b", ["a-b", "a-b-2", "a-b-3"]) == "a-b-4"


def test_a_name_in_capitals_is_offered_in_small_letters_where_these_are_not_taken() -> None:
    goose = client_of("goose")
    assert slug(goose, "byAddress") == "byaddress"
    assert str(name_fault(goose, "byAddress")).endswith('use for example "byaddress"')


def test_nothing_is_offered_where_nothing_fits() -> None:
    narrow = replace(CODEX, names=NameRule("only-this", says="one name"))
    fault = name_fault(narrow, "files")
    assert fault == '"files" is not a valid name in Codex, which accepts one name'


def test_a_rule_that_no_offer_fits_refuses_without_one() -> None:
    numbers = replace(CODEX, names=NameRule(r"[0-9]+", says="digits"))
    assert name_fault(numbers, "a") == '"a" is not a valid name in Codex, which accepts digits'
    assert slug(numbers, "a") == "a"
