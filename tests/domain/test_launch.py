import pytest

from mcpyard.domain.definition.launch import (
    LocalLaunch,
    RemoteLaunch,
    Unlaunchable,
    digest,
    make_launch,
)
from mcpyard.domain.model import LocalConfig, RemoteConfig, Transport

VALUES = {"DIR": "/data", "TOKEN": "t0k", "BREAK": "a\nb", "NUL": "\0", "BLANK": " "}


def problems(config: LocalConfig | RemoteConfig) -> list[str]:
    launch = make_launch(config, VALUES.get)
    assert isinstance(launch, Unlaunchable)
    return [str(problem) for problem in launch.problems]


@pytest.mark.spec("A1.3")
def test_every_string_of_a_local_server_is_expanded() -> None:
    config = LocalConfig(
        command=["${DIR}/bin", "--token", "${TOKEN}", "${PORT:-80}"],
        environment={"T": "${TOKEN}"},
        cwd="${DIR}",
        inherit=["FOO"],
    )
    assert make_launch(config, VALUES.get) == LocalLaunch(
        ("/data/bin", "--token", "t0k", "80"), {"T": "t0k"}, "/data", ("FOO",)
    )


def test_only_a_singleton_has_another_digest_than_before_there_were_any() -> None:
    one, other = (
        digest(make_launch(LocalConfig(command=["x"], singleton=each), VALUES.get))
        for each in (False, True)
    )
    assert one == "f7fe58c09a917d513ca0829a48df771c"
    assert one != other


@pytest.mark.spec("A1.3")
def test_every_string_of_a_remote_server_is_expanded() -> None:
    config = RemoteConfig(
        url="https://${HOST:-h}/mcp",
        headers={"Authorization": "Bearer ${TOKEN}"},
        transport=Transport.SSE,
    )
    assert make_launch(config, VALUES.get) == RemoteLaunch(
        "https://h/mcp", {"Authorization": "Bearer t0k"}, Transport.SSE
    )


@pytest.mark.spec("A1.3")
def test_every_variable_that_is_not_set_is_named_with_its_field() -> None:
    config = LocalConfig(command=["x", "${A}", "${B}"], environment={"C": "${C}"}, cwd="${D}")
    assert problems(config) == [
        "args[0]: the variable A is not set",
        "args[1]: the variable B is not set",
        "env.C: the variable C is not set",
        "cwd: the variable D is not set",
    ]


def test_what_a_variable_brings_is_checked_like_what_is_written() -> None:
    assert problems(RemoteConfig(url="${DIR}")) == ["url: must begin with http:// or https://"]
    broken = RemoteConfig(url="http://h", headers={"X": "${BREAK}"})
    assert problems(broken) == ["headers.X: must not contain a line break"]
    assert problems(LocalConfig(command=["${NUL}"]))[0].startswith("command: contains a NUL")
    assert problems(LocalConfig(command=["${BLANK}"])) == [
        "command: is empty after variables are expanded"
    ]


def test_a_broken_reference_is_told_with_its_position() -> None:
    assert problems(LocalConfig(command=["x", "ab${C"])) == [
        "args[0]: ${ is never closed (at character 2)"
    ]


def test_the_digest_follows_what_is_launched_and_nothing_else() -> None:
    def of(config: LocalConfig | RemoteConfig, value: str = "t0k") -> str:
        return digest(make_launch(config, (VALUES | {"TOKEN": value}).get))

    base = LocalConfig(command=["x", "${TOKEN}"], environment={"A": "1", "B": "2"})
    assert of(base) == of(LocalConfig(command=["x", "t0k"], environment={"B": "2", "A": "1"}))
    assert of(base) == of(base.model_copy(update={"timeout": 5, "title": "X"}))
    assert of(base) != of(base, value="new")
    assert of(base) != of(base.model_copy(update={"inherit": ["Z"]}))
    assert of(LocalConfig(command=["a", "b"])) != of(LocalConfig(command=["a b"]))
    assert of(RemoteConfig(url="http://h")) != of(
        RemoteConfig(url="http://h", transport=Transport.SSE)
    )
