"""`backup` and `lanes`, which are `fallback`, `isolation` and `concurrency` now, are still read."""

import pytest
from pydantic import ValidationError

from mcpyard.domain.definition.merge import merged, plain
from mcpyard.domain.definition.old_names import renamed_throughout
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.errors import DefinitionError
from mcpyard.domain.model import FallbackTool, LocalConfig, RemoteConfig, ToolPolicy

URL = {"url": "http://h"}
LANES = [
    (1, ("shared", 1)),
    ("per-client", ("per-client", 0)),
    (None, ("shared", 0)),
]
BEFORE = LocalConfig(
    command=["x"],
    fallback=["a"],
    isolation="per-client",
    concurrency=3,
    tools={"t": ToolPolicy(timeout=5, fallback=[FallbackTool(server="a")])},
)


def problems(raw: object) -> list[str]:
    with pytest.raises(DefinitionError) as caught:
        read_definition(raw)
    return [str(each) for each in caught.value.problems]


@pytest.mark.parametrize(("lanes", "pair"), LANES)
def test_every_value_of_lanes_is_a_pair_of_isolation_and_concurrency(
    lanes: object, pair: tuple[str, int]
) -> None:
    reading = read_definition(URL | {"lanes": lanes})
    assert (reading.config.isolation, reading.config.concurrency) == pair
    assert reading.left_out == ()


def test_backup_is_the_fallback_of_a_server_and_of_a_tool() -> None:
    raw = URL | {"backup": ["b"], "tools": {"t": {"backup": ["c"]}, "u": {"enabled": False}}}
    config = read_definition(raw).config
    assert config == RemoteConfig(
        url="http://h",
        fallback=["b"],
        tools={
            "t": ToolPolicy(fallback=[FallbackTool(server="c")]),
            "u": ToolPolicy(enabled=False),
        },
    )
    assert plain(config) == {
        "url": "http://h",
        "fallback": ["b"],
        "tools": {
            "t": {"fallback": [{"server": "c"}]},
            "u": {"enabled": False},
        },
    }


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"backup": ["b", 1]}, 'backup[1]: expected a string, found the number 1 (write "1")'),
        ({"fallback": 1}, "fallback: expected a list, found the number 1"),
        ({"lanes": 2}, "lanes: expected one of the known words, found the number 2"),
        ({"lanes": True}, "lanes: expected one of the known words, found true"),
        ({"isolation": "own"}, "isolation: expected one of the known words, found a string"),
        ({"concurrency": -1}, "concurrency: must be at least 0, found the number -1"),
        (
            {"tools": {"a.b": {"backup": [{"server": 1}]}}},
            'tools.a.b.backup[0].server: expected a string, found the number 1 (write "1")',
        ),
        ({"tools": {"t": {"lanes": 1}}}, "tools.t.lanes: is unknown"),
        ({"tools": {"t": 1}, "lanes": 1}, "tools.t: expected an object, found the number 1"),
        ({"tools": 1, "backup": []}, "tools: expected an object, found the number 1"),
    ],
)
def test_a_wrong_value_is_told_by_the_name_that_was_written(
    fields: dict[str, object], message: str
) -> None:
    assert problems(URL | fields) == [message]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"backup": [], "fallback": []}, "backup: stands beside fallback"),
        ({"lanes": 1, "concurrency": 1}, "lanes: stands beside concurrency"),
        ({"lanes": 1, "isolation": "shared"}, "lanes: stands beside isolation"),
        (
            {"tools": {"t": {"backup": ["a"], "fallback": ["a"]}}},
            "tools.t.backup: stands beside fallback",
        ),
    ],
)
def test_both_names_of_one_thing_are_refused(fields: dict[str, object], message: str) -> None:
    sentence = f"{message}; they mean the same"
    assert problems(URL | fields) == [sentence]
    with pytest.raises(DefinitionError, match=message):
        merged(RemoteConfig(url="http://h"), fields)


def test_python_code_may_say_the_old_names_too() -> None:
    old = {"command": ["x"], "backup": ["a"], "lanes": 1}
    assert LocalConfig.model_validate(old) == LocalConfig(
        command=["x"], fallback=["a"], concurrency=1
    )
    with pytest.raises(ValidationError, match="backup stands beside fallback"):
        LocalConfig.model_validate(old | {"fallback": []})


@pytest.mark.parametrize(
    ("patch", "same"),
    [
        ({"backup": ["b"]}, {"fallback": ["b"]}),
        ({"backup": None}, {"fallback": None}),
        ({"lanes": 1}, {"isolation": "shared", "concurrency": 1}),
        ({"lanes": "per-client"}, {"isolation": "per-client", "concurrency": 0}),
        ({"lanes": None}, {"isolation": None, "concurrency": None}),
        ({"tools": {"t": {"backup": ["b"]}}}, {"tools": {"t": {"fallback": ["b"]}}}),
        ({"tools": {"t": {"backup": None}}}, {"tools": {"t": {"fallback": None}}}),
        ({"tools": {"u": {"backup": ["b"]}}}, {"tools": {"u": {"fallback": ["b"]}}}),
        ({"backup": ["b"], "fallback": None}, {"fallback": ["b"]}),
        ({"isolation": None, "lanes": 1}, {"isolation": "shared", "concurrency": 1}),
    ],
)
def test_a_patch_by_the_old_name_changes_the_same_field(
    patch: dict[str, object], same: dict[str, object]
) -> None:
    assert plain(merged(BEFORE, patch).config) == plain(merged(BEFORE, same).config)


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"backup": 1}, "backup: expected a list, found the number 1"),
        ({"lanes": 7}, "lanes: expected one of the known words, found the number 7"),
        (
            {"tools": {"t": {"backup": 1}}},
            "tools.t.backup: expected a list, found the number 1",
        ),
    ],
)
def test_a_wrong_value_in_a_patch_is_told_by_the_name_that_was_written(
    patch: dict[str, object], message: str
) -> None:
    with pytest.raises(DefinitionError) as caught:
        merged(BEFORE, patch)
    assert [str(each) for each in caught.value.problems] == [message]


def test_what_was_stored_gets_the_names_of_today_throughout() -> None:
    stored = {
        "timeout": 5,
        "lanes": "per-client",
        "backup": ["a"],
        "tools": {"t": {"backup": None, "name": "n"}, "u": {"backup": ["b"]}, "odd": 1},
    }
    assert renamed_throughout(stored) == {
        "timeout": 5,
        "isolation": "per-client",
        "concurrency": 0,
        "fallback": ["a"],
        "tools": {"t": {"name": "n"}, "u": {"fallback": ["b"]}, "odd": 1},
    }
    assert renamed_throughout({"wanted": "running"}) == {"wanted": "running"}
