"""Draw articles at random from the laws of a folder, to write questions from.

    python -m bench.legal_draw --corpus DIR --seed 20261118 --count 80 --without FILE.tsv

It reads the files itself and uses nothing of the server. Every article of the newest version of a
law has the same chance. Left out are cases, amendments (their text is in the law), articles that
`--without` names, and articles that nobody can ask about: the purpose of a law, its first day in
force, and texts of fewer than 25 characters. Nobody chooses: each article drawn gets a question.
`DRAWS` says how the articles of the files of questions were drawn; `bench.legal` draws them again.
"""

import argparse
import random
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

QUESTIONS = Path(__file__).parent / "legal_questions"


class Draw(NamedTuple):
    """A seed, and the files of questions whose articles were left out."""

    seed: int
    without: tuple[str, ...]


_EARLIER = (
    *("blind", "cases", "english", "held_out", "held_out_2", "held_out_3", "keywords", "last"),
    *("later", "ordinary", "references", "unknown", "wider"),
)
DRAWS = {
    "held_out": Draw(20261118, ("blind",)),
    "held_out_2": Draw(20261120, ("blind", "held_out")),
    "held_out_3": Draw(20261121, ("blind", "held_out", "held_out_2")),
    "held_out_4": Draw(4711, _EARLIER),
}

_ARTICLE = re.compile(
    r"^\**第([零〇一二三四五六七八九十百千]+)条(之[一二三四五六七八九十]+)?\**\s*", re.MULTILINE
)
_HEADING = re.compile(r"^#.*$", re.MULTILINE)
_DATE = re.compile(r"\((\d{4}-\d\d-\d\d)\)$")
_PURPOSE = re.compile(r"制定本法|本法自.{4,12}起施行|起施行。?$")
_SHORTEST = 25
_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")}
_UNITS = {"十": 10, "百": 100, "千": 1000}


def number(numeral: str) -> int:
    """一千二百六十 as 1260."""
    total = digit = 0
    for sign in numeral:
        if sign in _UNITS:
            total += (digit or 1) * _UNITS[sign]
            digit = 0
        else:
            digit = _DIGITS.get(sign, 0)
    return total + digit


def newest(corpus: Path) -> list[tuple[str, Path]]:
    """The laws by name, each with the file of its newest version."""
    laws: dict[str, Path] = {}
    for path in sorted(corpus.rglob("*.md")):
        folder = path.parent.name
        if path.stem == "_index" or "案例" in path.parts or "修正案" in path.stem:
            continue
        name = f"民法典 {path.stem}" if folder == "民法典" else _DATE.sub("", path.stem)
        laws[name] = path  # dates sort, so the last one is the newest
    return sorted(laws.items())


def articles(corpus: Path) -> list[tuple[str, str]]:
    """References such as 民法典第188条, with the text of each article."""
    drawn: list[tuple[str, str]] = []
    for name, path in newest(corpus):
        text = _HEADING.sub("", path.read_text())
        starts = list(_ARTICLE.finditer(text))
        ends = [*(start.start() for start in starts[1:]), len(text)]
        for start, end in zip(starts, ends, strict=True):
            body = text[start.end() : end].strip()
            if len(body) < _SHORTEST or _PURPOSE.search(body):
                continue
            law = name.split()[0]
            drawn.append((f"{law}第{number(start[1])}条{start[2] or ''}", body))
    return drawn


def draw(corpus: Path, seed: int, count: int, without: Iterable[Path]) -> list[tuple[str, str]]:
    """Articles drawn at random, without those that the files name."""
    used = {answer for path in without for answer in re.split(r"\s", path.read_text())}
    choice = [article for article in articles(corpus) if article[0] not in used]
    return random.Random(seed).sample(choice, count)  # noqa: S311  nothing secret


def redrawn(corpus: Path, kind: str) -> tuple[int, int]:
    """How many questions of a file have an article of its draw, and how many it has."""
    lines = (QUESTIONS / f"{kind}.tsv").read_text().splitlines()
    seed, without = DRAWS[kind]
    paths = [QUESTIONS / f"{each}.tsv" for each in without]
    drawn = {reference for reference, _ in draw(corpus, seed, len(lines), paths)}
    return sum(not drawn.isdisjoint(line.split("\t")[1].split()) for line in lines), len(lines)


def main() -> None:
    """Print the articles."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--without", type=Path, action="append", default=[])
    options = parser.parse_args()
    drawn = draw(options.corpus, options.seed, options.count, options.without)
    for reference, text in drawn:
        print(f"{reference}\t{' '.join(text.split())}")


if __name__ == "__main__":
    main()
