"""Questions about the laws of the shared data, with the answers that count as right.

One file a kind, one question a line, a tab before its answers. The questions were written before
anything was tuned to them. They are split in two by a digest of their words, so nobody chose a
half: the search is tuned on the first, and the second shows what that is worth.

Whoever wrote the questions wrote the synonyms too. So there are more files of questions in ordinary
words. `later`, `last`, `wider`, `blind`, `held_out` and `held_out_2` served to tune. For the last
two `bench.legal_draw` drew the articles at random. Each was asked once before it served to tune:
`held_out` when the subject index had words for 3,000 articles, `held_out_2` when it had words for
nearly all. `everyday` and `everyday_2` have what people ask a lawyer most, with the articles that
answer it; they were asked once as well (31 and 36 of 40). Nothing is tuned to the files of
HELD_OUT, whose articles were drawn too: they show what a stranger finds.
"""

import hashlib
from pathlib import Path
from typing import NamedTuple

KINDS = ("ordinary", "keywords", "references", "unknown", "english", "cases")
DEVELOPMENT = (
    "later",
    "last",
    "wider",
    "blind",
    "held_out",
    "held_out_2",
    "everyday",
    "everyday_2",
)
HELD_OUT = ("held_out_3", "held_out_4")


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
        for kind in (*KINDS, *DEVELOPMENT, *HELD_OUT)
        for line in _file(kind).read_text().splitlines()
        for query, answers in [line.split("\t")]
    ]


def _file(kind: str) -> Path:
    return Path(__file__).parent / f"{kind}.tsv"
