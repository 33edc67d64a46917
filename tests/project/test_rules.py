"""The rules that `scripts/rules` holds the project to."""

import subprocess
import sys
from pathlib import Path

import pytest

# In what is tried here, `@` stands for the end of a group: this file keeps to the rules itself.
RULES = Path(__file__).parents[2] / "scripts" / "rules"


def breaches(folder: Path) -> list[str]:
    """What the rules say about a folder."""
    ran = subprocess.run(
        [sys.executable, RULES], capture_output=True, text=True, check=False, cwd=folder, timeout=20
    )
    lines = ran.stdout.splitlines()
    assert (ran.returncode, ran.stderr) == (int(bool(lines)), "")
    return lines


@pytest.mark.parametrize(
    "source",
    [
        r'x = r"(?:ab@*+"',
        r'x = r"(a|b@?+"',
        r'x = rb"(?:a@{2,}+"',
        'x = "one " r"(?:\\@@++"',
        'x = rf"{part}*+"',
        'x = rf"(?:{part}@*+"',
        "x = f\"{f'(a@++'}\"",
    ],
)
def test_a_possessive_quantifier_on_a_group_is_refused(tmp_path: Path, source: str) -> None:
    (tmp_path / "a.py").write_text(f"part = 1\n{source}\n".replace("@", ")"))
    assert [line.split(": ")[0] for line in breaches(tmp_path)] == ["a.py:2"]


def test_scripts_without_an_ending_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text('#!/usr/bin/env python3\nx = "(a@*+"\n'.replace("@", ")"))
    (tmp_path / "notes").write_text('x = "(a@*+"\n'.replace("@", ")"))
    assert [line.split(": ")[0] for line in breaches(tmp_path)] == ["tool:2"]


@pytest.mark.parametrize(
    "source",
    [
        r'x = r"[^)]*+"',
        r'x = r"a*+b++[()]?+\)*+"',
        r'x = r"[])]*+"',
        'x = r"(?>(?:ab)*)+"',
        'x = "(1)" + "2"',
        'def f() -> None:\n    """Unlike `(?:a@*+`."""',
    ],
)
def test_what_every_python_matches_rightly_is_allowed(tmp_path: Path, source: str) -> None:
    (tmp_path / "a.py").write_text(f"{source}\n".replace("@", ")"))
    assert breaches(tmp_path) == []


def test_a_file_over_its_cap_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n" * 401)
    (tmp_path / "a.js").write_text("\n" * 251)
    (tmp_path / "b.py").write_text("x = 1\n" * 400)
    assert sorted(breaches(tmp_path)) == [
        "a.js: 251 lines, 250 allowed",
        "a.py: 401 lines, 400 allowed",
    ]


def test_a_public_class_is_defined_once(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "a.py").write_text("class Thing: ...\nclass _Own: ...\n")
    (source / "b.py").write_text("class _Own: ...\nclass Thing: ...\n")
    (tmp_path / "test_thing.py").write_text("class Thing: ...\n")
    assert breaches(tmp_path) == ["src/b.py:2: class Thing is defined in src/a.py too"]
