"""Questions about the laws of the shared data, with the answers that count as right.

One file a kind, one question a line, a tab before its answers. The questions were written before
anything was tuned to them. They are split in two by a digest of their words, so nobody chose a
half: the search is tuned on the first, and the second shows what that is worth.

Whoever wrote the questions wrote the synonyms too. So there are more files of questions in ordinary
words. `later`, `last`, `wider` and `blind` serve to tune; the subject index has an
article for every question of `blind`, so it says nothing about articles outside of the index.
`held_out` shows what a stranger finds: `bench.legal_draw` drew its articles, each question was
written from the text of its article before the work on the ranking, and it ran once after it.
"""

import hashlib
from pathlib import Path
from typing import NamedTuple

KINDS = ("ordinary", "keywords", "references", "unknown", "english", "cases")
DEVELOPMENT = ("later", "last", "wider", "blind")
HELD_OUT = "held_out"


class Question(NamedTuple):
    """A query, and its right answers.

    `answers` of statutes are references such as 民法典第188条, with `@` before the date of a
    version; any of them counts, and all of those that `+` joins. Of the kind `unknown` it is what
    the answer must name as missing, of `cases` the title of the case.
    """

    kind: str
    query: str
    answers: tuple[str, ...]

    @property
    def half(self) -> int:
        """1 for tuning, 2 for showing."""
        return hashlib.sha256(self.query.encode()).digest()[0] % 2 + 1


def questions() -> list[Question]:
    """All questions of all kinds."""
    return [
        Question(kind, query, (answers,) if kind == "cases" else tuple(answers.split()))
        for kind in (*KINDS, *DEVELOPMENT, HELD_OUT)
        for line in (Path(__file__).parent / f"{kind}.tsv").read_text().splitlines()
        for query, answers in [line.split("\t")]
    ]
