"""How large the code is, and how it reads: `python -m bench.figures`.

Files, lines, what escapes the type checker, how long functions are, and how many files one call
through the gateway visits.
"""

import ast
import asyncio
import re
import statistics
import sys
from collections.abc import Iterator
from types import FrameType

from bench.measuring import ROOT, Figures, percentile
from tests.gateway.talking import odd_server, talking

SOURCE = ROOT / "src" / "mcpyard"


def functions(tree: ast.AST) -> Iterator[int]:
    """The lines of each function, without its docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            first, last = (body[0], body[-1]) if body else (node, node)
            yield (last.end_lineno or 0) - first.lineno + 1


def names(tree: ast.AST, name: str) -> int:
    """How often a name is used."""
    return sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))


async def visited() -> set[str]:
    """The files in which something runs while one tool is called through the gateway."""
    files: set[str] = set()

    def visit(frame: FrameType, _event: str, _value: object) -> None:
        files.add(frame.f_code.co_filename)

    async with talking({"one": odd_server("legacy")}) as talk:
        session = await talk.meet()
        call = {"name": "mcp_one_nonce", "arguments": {"text": "x"}}
        await session.ask("tools/call", **call)
        sys.setprofile(visit)
        await session.ask("tools/call", **call)
        sys.setprofile(None)
    return {file for file in files if file.startswith(str(SOURCE))}


def main() -> None:
    texts = [path.read_text() for path in sorted(SOURCE.rglob("*.py"))]
    trees = [ast.parse(text) for text in texts]
    lengths = sorted(length for tree in trees for length in functions(tree))
    figures = Figures()
    figures.show("files", f"{len(texts):,}")
    figures.show("lines", f"{sum(text.count(chr(10)) for text in texts):,}")
    figures.show("cast", str(sum(names(tree, "cast") for tree in trees)))
    figures.show("Any", str(sum(names(tree, "Any") for tree in trees)))
    figures.show("Record", str(sum(names(tree, "Record") for tree in trees)))
    figures.show("noqa", str(sum(len(re.findall(r"# noqa", text)) for text in texts)))
    middle, long = statistics.median(lengths), percentile(lengths, 0.9)
    figures.show("functions", f"{len(lengths):,}; median {middle:g} lines, p90 {long:g}")
    figures.show("files that a call through the gateway visits", str(len(asyncio.run(visited()))))


if __name__ == "__main__":
    main()
