"""Why a YAML text cannot be read, in sentences, and what bounds the reading."""

import re
from typing import Final

import yaml

MAX_ALIASED: Final = 100_000
"""How many values the aliases of a text may repeat: few lines can stand for billions."""

_FORBIDDEN: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_SENTENCES: Final = (
    ("cannot start any token", "\t", "a tab cannot be used for indentation"),
    ("cannot start any token", "", "this character cannot begin a value; put quotes around it"),
    ("mapping values are not allowed", "", "a colon with a space cannot stand here: {}"),
    ("did not find expected key", "", "expected a key here; check the indentation"),
    ("expected <block end>", "", "expected a key here; check the indentation"),
    ("did not find expected '-' indicator", "", "expected a list item; check the indentation"),
    ("could not find expected ':'", "", "expected a colon after this key"),
    ("could not find expected ':'", "", "expected a colon after this key"),
)
_MAPPING: Final = "is the indentation right, and does a value need quotes?"


def forbidden(text: str) -> re.Match[str] | None:
    """The first character that no YAML text may have."""
    return _FORBIDDEN.search(text, int(text.startswith("\ufeff")))


def fault_of(error: yaml.YAMLError, text: str) -> tuple[int, str]:
    """Where a parser gave up, and why."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return 0, "cannot be read as YAML"
    text = text.removeprefix("\ufeff")
    problem, context = error.problem or "", error.context or ""
    offset = min(error.problem_mark.index, len(text))
    if "quoted scalar" in context and error.context_mark is not None:
        return error.context_mark.index, "the quoted text that begins here does not end"
    for part, character, sentence in _SENTENCES:
        if part in problem and text.startswith(character, offset):
            return offset, sentence.format(_MAPPING)
    return offset, f"{problem} {context}".strip()
