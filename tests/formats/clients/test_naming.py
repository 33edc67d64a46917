import pytest

from mcpyard.formats.facts import Client
from mcpyard.formats.naming import name_fault, slug
from mcpyard.formats.registry import client_of

CLAUDE, CODEX, GEMINI = (client_of(each) for each in ("claude", "codex", "gemini"))


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
