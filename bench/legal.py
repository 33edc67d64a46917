"""What importing the laws of the shared data costs, and a query: in process and over stdio.

Run with `python -m bench.legal`; needs the shared data beside the project.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from mcp import Client, StdioServerParameters

from bench.measuring import Figures, percentile
from mcpyard.legal.collection import corpus_file
from mcpyard.legal.corpus import Corpus
from mcpyard.legal.library import Library
from tests.legal.examples import CASES, LAWS, STATUTES, Example
from tests.legal.running import COMMAND

ROUNDS = 20
IMPORT_SECONDS = 60
QUERY_MS = 20


def main(home: Path) -> None:
    if not LAWS.is_dir():
        sys.exit("the shared data is not here")
    figures = Figures()
    for name in ("first", "second"):
        seconds, report = imported(home)
        figures.at_most(f"import of {report['files']} files, {name}", seconds, IMPORT_SECONDS, " s")
        figures.show(f"  added / unchanged, {name}", f"{report['added']} / {report['unchanged']}")
    file = corpus_file(home / "legal")
    figures.show("size of the corpus", f"{file.stat().st_size / 1e6:.1f} MB")
    corpus = Corpus(file)
    library = Library(corpus)
    figures.show("right answers", f"{right(library)} of {len(STATUTES) + len(CASES)}")
    figures.missed |= right(library) < len(STATUTES) + len(CASES)
    show(figures, "query, in process", in_process(library))
    words = [
        question
        for question in STATUTES
        if "条" not in question.query and not question.query.isascii()
    ]
    show(figures, "query by words, in process", in_process(library, words))
    corpus.close()
    show(figures, "query, over stdio", asyncio.run(over_stdio(home)))
    figures.leave()


def imported(home: Path) -> tuple[float, dict[str, int]]:
    """Seconds of the whole command, and what it says."""
    began = perf_counter()
    ran = subprocess.run(
        [*COMMAND, "import", str(LAWS), "--home", str(home), "--json"],
        capture_output=True,
        check=True,
    )
    return perf_counter() - began, json.loads(ran.stdout)


def right(library: Library) -> int:
    count = 0
    for question in STATUTES:
        first = library.statutes(question.query, None, 1)[0]
        count += first.law.name == question.law and question.article in {None, first.row["label"]}
    return count + sum(library.cases(query, 1)[0].row["title"] == CASES[query] for query in CASES)


def in_process(library: Library, statutes: Sequence[Example] = STATUTES) -> list[float]:
    took: list[float] = []
    for _ in range(ROUNDS):
        for question in statutes:
            began = perf_counter()
            library.statutes(question.query, None, 10)
            took.append(perf_counter() - began)
        for query in CASES:
            began = perf_counter()
            library.cases(query, 10)
            took.append(perf_counter() - began)
    return took


async def over_stdio(home: Path) -> list[float]:
    program, *arguments = COMMAND
    server = StdioServerParameters(command=program, args=[*arguments, "--home", str(home)])
    calls = [("search_statutes", question.query) for question in STATUTES]
    calls += [("search_cases", query) for query in CASES]
    took: list[float] = []
    async with Client(server) as client:
        for _ in range(ROUNDS):
            for tool, query in calls:
                began = perf_counter()
                result = await client.call_tool(tool, {"query": query})
                took.append(perf_counter() - began)
                assert not result.is_error
    return took


def show(figures: Figures, name: str, took: list[float]) -> None:
    figures.at_most(f"{name}, median", percentile(took, 0.5) * 1e3, QUERY_MS, " ms")
    figures.show(f"{name}, p95", f"{percentile(took, 0.95) * 1e3:.2f} ms")
    figures.show(f"{name}, slowest", f"{max(took) * 1e3:.2f} ms")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
