"""The words that `scripts/words` keeps out of names and sentences."""

import subprocess
import sys
from pathlib import Path

import pytest

WORDS = Path(__file__).parents[2] / "scripts" / "words"
CLEAN = '''"""Nothing of the yard's lamp, which only a docstring may say."""
from dataclasses import dataclass


@dataclass
class ServerStatus:
    """A status."""

    found: str = "crew"


def stamped(server: ServerStatus, timestamp: float) -> str:
    status = f"{server.found} at {timestamp}"
    return status
'''


def run(folder: Path, *arguments: str) -> list[str]:
    """What the script says about a folder."""
    ran = subprocess.run(
        [sys.executable, WORDS, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=20,
    )
    lines = ran.stdout.splitlines()
    if "--summary" not in arguments:
        assert ran.returncode == int(bool(lines))
    assert ran.stderr == ""
    return lines


def plant(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("name", ["src/p/a.py", "tests/test_a.py", "bench/a.py"])
def test_a_clean_file_is_accepted(tmp_path: Path, name: str) -> None:
    plant(tmp_path, name, CLEAN)
    assert run(tmp_path) == []


@pytest.mark.parametrize(
    ("source", "finding"),
    [
        ("class _LampView:\n    pass", "1: _LampView -> badge"),
        ("def crew_of():\n    pass", "1: crew_of -> deps"),
        ("x = 1\nwishes = x", "2: wishes -> subscriptions"),
        ("def f(next_spot):\n    pass", "1: next_spot -> scope_ref"),
        ("import a\na.doorman()", "2: doorman -> authenticator"),
        ("f(tempo=1)", "1: tempo -> restart_policy"),
        ("LEFT_OUTS = 1", "1: LEFT_OUTS -> dropped_fields"),
        ("class Way:\n    pass", "1: Way -> EntryTransport, FallbackStep"),
        ("class C:\n    def tell(self):\n        pass", "2: tell -> dispatch"),
        ("class C:\n    words: str", "2: words -> field_names"),
        ("def f():\n    found = 1", "2: found -> (a noun of the thing)"),
        ("async def f(known):\n    pass", "1: known -> (a noun of the thing)"),
    ],
)
def test_a_planted_name_is_found_with_what_to_write_instead(
    tmp_path: Path, source: str, finding: str
) -> None:
    plant(tmp_path, "src/p/a.py", f"{source}\n")
    assert run(tmp_path) == [f"src/p/a.py:{finding}"]


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("bench/errands.py", "errands -> call_context"),
        ("src/p/known.py", "known -> (the thing that is known)"),
        ("tests/test_premises.py", "test_premises -> context"),
    ],
)
def test_the_name_of_a_module_counts(tmp_path: Path, name: str, finding: str) -> None:
    plant(tmp_path, name, "x = 1\n")
    assert run(tmp_path) == [f"{name}:1: {finding}"]


def test_a_name_is_reported_once_a_file(tmp_path: Path) -> None:
    plant(tmp_path, "src/p/a.py", "ledger = 1\nledger = ledger + 1\n")
    assert run(tmp_path) == ["src/p/a.py:1: ledger -> change_tracker"]


def test_the_name_of_a_test_is_a_sentence(tmp_path: Path) -> None:
    plant(tmp_path, "tests/test_a.py", "def test_users_are_told_of_a_living_server():\n    pass\n")
    assert run(tmp_path) == []
    plant(tmp_path, "tests/test_a.py", "def test_the_crew_is_told():\n    pass\n")
    assert run(tmp_path) == ["tests/test_a.py:1: test_the_crew_is_told -> deps"]


@pytest.mark.parametrize(
    ("name", "text", "finding"),
    [
        ("src/p/a.py", 'x = f"{1} is in trouble"\n', "1: in trouble -> failing"),
        (
            "src/p/a.py",
            'x = (\n    "Ask the "\n    "yard"\n)\n',
            "2: the yard -> mcpyard; not running",
        ),
        (
            "src/p/templates/a.html",
            "<p>\nNeeds your\nword",
            "2: Needs your word -> needs your approval",
        ),
        ("src/p/catalogues/en.json", '{\n"a": "back-up"\n}', "2: back-up -> fallback"),
        (
            "src/p/catalogues/zh-Hans.json",
            '{"a": "用新时代"}',
            "1: 新时代 -> 无状态协议 / 無狀態協定",
        ),
        ("docs/a.md", "# A\n\nThe handshake era", "3: handshake era -> session-based protocol"),
        ("README.md", "on the way\n", "1: on the way -> starting"),
    ],
)
def test_a_planted_sentence_is_found_with_what_to_write_instead(
    tmp_path: Path, name: str, text: str, finding: str
) -> None:
    plant(tmp_path, name, text)
    assert run(tmp_path) == [f"{name}:{finding}"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("src/p/a.py", 'x = "remembered"\ny = 1\n'),
        ("src/p/a.py", 'def f():\n    """The yard is in trouble."""\n'),
        ("tests/a.py", 'x = "the yard is in trouble"\n'),
        ("src/p/templates/a.html", "{# the yard #}<p>mcpyard"),
        ("docs/architecture.md", "A yard has a keeper."),
        ("docs/a.md", "The yards-ticks and mcpyard."),
        ("src/p/vendor/a.html", "the yard"),
    ],
)
def test_what_no_user_reads_and_what_is_excepted_is_accepted(
    tmp_path: Path, name: str, text: str
) -> None:
    plant(tmp_path, name, text)
    assert run(tmp_path) == []


def test_the_summary_counts_by_package_and_kind(tmp_path: Path) -> None:
    plant(tmp_path, "src/p/q/a.py", 'def f():\n    given = crew = "the yard"\n')
    plant(tmp_path, "docs/a.md", "The yard is in trouble.")
    head, *rows = [line.split() for line in run(tmp_path, "--summary")]
    assert head == ["names", "locals", "sentences"]
    assert rows == [["0", "0", "2", "docs"], ["1", "1", "1", "src/p/q"], ["1", "1", "3", "all"]]


def test_the_kinds_can_be_chosen(tmp_path: Path) -> None:
    plant(tmp_path, "src/p/a.py", 'def f():\n    given = crew = "the yard"\n')
    assert [line.split()[1] for line in run(tmp_path, "locals", "names")] == ["given", "crew"]
    assert run(tmp_path, "sentences") == ["src/p/a.py:2: the yard -> mcpyard; not running"]
