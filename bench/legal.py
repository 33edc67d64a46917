"""What the legal server finds, what its answers cost, and what importing costs.

Run with `python -m bench.legal [--corpus DIR]`; without a folder, the shared data beside the
project. Questions are answered in two halves: the search was tuned on the first only.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time

from mcp import Client, StdioServerParameters
from mcp_types import TextContent

from bench.legal_answers import PlainIndex, right, segmenter, trigrams
from bench.legal_draw import DRAWS, redrawn
from bench.legal_questions import DEVELOPMENT, HELD_OUT, KINDS, Question, questions
from bench.measuring import Figures, percentile
from mcpyard.legal.collection import corpus_file
from mcpyard.legal.corpus import Corpus
from mcpyard.legal.library import Library
from tests.legal.examples import LAWS
from tests.legal.running import COMMAND

ROUNDS = 3
IMPORT_SECONDS = 60
QUERY_MS = 30
LEAST = {"ordinary": 70, "keywords": 90, "references": 100, "unknown": 100}
PLAIN_KINDS = ("ordinary", "keywords")


def main(home: Path, laws: Path) -> None:
    if not laws.is_dir():
        sys.exit(f"{laws} is not there: name the folder of the laws with --corpus")
    figures = Figures()
    for name in ("first", "second"):
        seconds, report = imported(home, laws)
        figures.at_most(f"import of {report['files']} files, {name}", seconds, IMPORT_SECONDS, " s")
        figures.show(f"  added / unchanged, {name}", f"{report['added']} / {report['unchanged']}")
    file = corpus_file(home / "legal")
    figures.show("size of the corpus", f"{file.stat().st_size / 1e6:.1f} MB")
    corpus = Corpus(file)
    library = Library(corpus)
    show_draws(figures, laws)
    show_answers(figures, library)
    show_plain(figures, library)
    show_times(figures, library)
    corpus.close()
    asyncio.run(over_stdio(figures, home))
    figures.leave()


def imported(home: Path, laws: Path) -> tuple[float, dict[str, int]]:
    """Seconds of the whole command, and what it says."""
    began = perf_counter()
    ran = subprocess.run(
        [*COMMAND, "import", str(laws), "--home", str(home), "--json"],
        capture_output=True,
        check=True,
    )
    return perf_counter() - began, json.loads(ran.stdout)


def share(kind: str, half: int, is_right: Callable[[Question], bool]) -> tuple[float, str]:
    """The share of right answers, in percent, and the count; half 0 is both."""
    chosen = [each for each in questions() if each.kind == kind and half in {0, each.half}]
    count = sum(map(is_right, chosen))
    return 100 * count / len(chosen), f"{count} of {len(chosen)}"


def show_draws(figures: Figures, laws: Path) -> None:
    """Whether the questions are about the articles that were drawn, and no others."""
    for kind in DRAWS:
        count, of = redrawn(laws, kind)
        figures.at_least(f"drawn again: {kind} ({count} of {of})", 100 * count / of, 100, " %")


def show_answers(figures: Figures, library: Library) -> None:
    for half, name in ((1, "tuned half"), (2, "other half")):
        for kind in KINDS:
            percent, count = share(kind, half, lambda question: right(library, question))
            title = f"{name}: {kind} ({count})"
            if half == 2 and kind in LEAST:
                figures.at_least(title, percent, LEAST[kind], " %")
            else:
                figures.show(title, f"{percent:.0f} %")
    for kind in DEVELOPMENT:
        percent, count = share(kind, 0, lambda question: right(library, question))
        figures.show(f"development: {kind} ({count})", f"{percent:.0f} %")
    for kind in HELD_OUT:
        percent, count = share(kind, 0, lambda question: right(library, question))
        title = f"never tuned to: {kind} ({count})"
        figures.at_least(title, percent, LEAST["ordinary"], " %")


def show_plain(figures: Figures, library: Library) -> None:
    """The same questions to an index as anybody would make it."""
    plain = {"plain FTS5 (trigram)": PlainIndex(library, "trigram", trigrams)}
    if (words := segmenter()) is None:
        figures.show("segmenter alone (jieba)", "not installed: see scripts/prove")
    else:
        plain["segmenter alone (jieba)"] = PlainIndex(library, "unicode61", words)
    for name, index in plain.items():
        for kind, half in (
            *((kind, half) for kind in PLAIN_KINDS for half in (1, 2)),
            *((kind, 0) for kind in dict.fromkeys([*DRAWS, *HELD_OUT])),
        ):
            percent, count = share(kind, half, index.right)
            part = f", half {half}" if half else ""
            figures.show(f"{name}: {kind}{part} ({count})", f"{percent:.0f} %")


def show_times(figures: Figures, library: Library) -> None:
    took: list[float] = []
    busy: list[float] = []
    for _ in range(ROUNDS):
        for question in questions():
            began, worked = perf_counter(), process_time()
            right(library, question)
            took.append(perf_counter() - began)
            busy.append(process_time() - worked)
    figures.show("query in process, median", f"{percentile(took, 0.5) * 1e3:.2f} ms")
    figures.at_most("query in process, p95", percentile(took, 0.95) * 1e3, QUERY_MS, " ms")
    figures.show(
        "query in process, p95 of processor time", f"{percentile(busy, 0.95) * 1e3:.2f} ms"
    )


async def over_stdio(figures: Figures, home: Path) -> None:
    """The time of whole calls, and the size of answers against the text in them."""
    program, *arguments = COMMAND
    server = StdioServerParameters(command=program, args=[*arguments, "--home", str(home)])
    took: list[float] = []
    size = text = 0
    async with Client(server) as client:
        for question in questions():
            tool = "search_cases" if question.kind == "cases" else "search_statutes"
            began = perf_counter()
            result = await client.call_tool(tool, {"query": question.query})
            took.append(perf_counter() - began)
            assert not result.is_error
            size += sum(len(part.text) for part in result.content if isinstance(part, TextContent))
            structure = dict(result.structured_content or {})
            text += sum(len(each["text"]) for each in structure["results"])
    figures.show("query over stdio, median", f"{percentile(took, 0.5) * 1e3:.2f} ms")
    figures.at_most("query over stdio, p95", percentile(took, 0.95) * 1e3, QUERY_MS, " ms")
    figures.show("size of an answer, times the text in it", f"{size / text:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", type=Path, default=LAWS)
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary), parser.parse_args().corpus)
