import pytest

from mcpyard.domain.definition.launch import LocalLaunch, RemoteLaunch, Unlaunchable
from mcpyard.domain.definition.secret_text import hide
from mcpyard.domain.definition.secrets import secrets_of
from mcpyard.domain.errors import Problem


def local(**environment: str) -> LocalLaunch:
    return LocalLaunch(("server",), environment, None, ())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("API_KEY", "plainword"),
        ("GITHUB_TOKEN", "ghp_x1"),
        ("db_password", "correct horse"),
        ("X", "f3a9c07714be22d0"),
    ],
)
def test_a_variable_is_a_secret_by_its_name_or_by_its_look(name: str, value: str) -> None:
    assert secrets_of(local(**{name: value})) == {value}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOG_LEVEL", "information"),
        ("NODE_ENV", "production"),
        ("DATA", "/srv/data/2026-11-15/a"),
        ("BASE", "https://api.example/v1"),
        ("API_KEY", "short"),
    ],
)
def test_an_ordinary_variable_is_none(name: str, value: str) -> None:
    assert not secrets_of(local(**{name: value}))


def test_the_lines_of_a_long_secret_are_secrets_each() -> None:
    assert secrets_of(local(PRIVATE_KEY="-----BEGIN\nabcdefgh\n")) == {
        "-----BEGIN\nabcdefgh\n",
        "-----BEGIN",
        "abcdefgh",
    }


def test_what_a_header_says_is_a_secret() -> None:
    headers = {"Authorization": "Bearer abc.def", "X-Key": "opensesame", "X": "no", "Y": ""}
    assert secrets_of(RemoteLaunch("http://h", headers, None)) == {"abc.def", "opensesame"}


def test_what_cannot_be_launched_has_none() -> None:
    assert not secrets_of(Unlaunchable((Problem("env", "is odd"),)))


def test_the_longer_of_two_secrets_is_masked_first() -> None:
    assert hide("a secret-and-more here", {"secret", "secret-and-more"}) == "a *** here"
