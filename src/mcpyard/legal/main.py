"""The command `mcpyard-legal`: serve, import a corpus, show what is there.

Exit codes: 0 done; 1 done, but some files are broken; 2 usage, or nothing there to import;
4 the corpus or the address can't be used.
"""

import argparse
import json
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mcpyard.legal.collection import corpus_file, default_folder
from mcpyard.legal.corpus import Corpus, StoreResult
from mcpyard.legal.model import DocumentKind
from mcpyard.legal.notices import say_here
from mcpyard.legal.reading.loading import NothingToImport, Report, find, load
from mcpyard.legal.schema import NotACorpus

SOME_BROKEN: Final = 1
USAGE: Final = 2
UNUSABLE: Final = 4
INTERRUPTED: Final = 130
_PORT: Final = 8713
_LAST_PORT: Final = 65_535


def run(arguments: Sequence[str] | None = None) -> None:
    """The entry point of the command."""
    sys.exit(main(arguments))


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        folder = options.corpus or (options.home / "legal" if options.home else default_folder())
        return _do(options, folder)
    except NothingToImport as error:
        return _complain(error, USAGE)
    except (NotACorpus, OSError, sqlite3.OperationalError) as error:
        return _complain(error, UNUSABLE)
    except KeyboardInterrupt:
        return _complain(say_here("interrupted"), INTERRUPTED)


def _do(options: argparse.Namespace, folder: Path) -> int:
    if options.command == "import":
        return _import(options.path, folder, replace=options.replace, as_json=options.json)
    if options.command == "status":
        return _status(folder, as_json=options.json)
    # The SDK takes a second to import, and only serving needs it.
    from mcpyard.legal.serving import ServingMode, serve  # noqa: PLC0415

    serve(folder, ServingMode(options.transport), options.host, options.port)
    return 0


def _import(path: Path, folder: Path, *, replace: bool, as_json: bool) -> int:
    files = find(path)
    corpus = Corpus(corpus_file(folder))
    try:
        report = load(files, corpus, _show_progress, replace=replace)
    finally:
        corpus.close()
    _show_problems(report)
    if replace and report.broken:
        sys.stderr.write(f"{say_here('not_removed')}\n")
    _say(json.dumps(report.to_dict(), ensure_ascii=False) if as_json else _summary(report))
    return SOME_BROKEN if report.broken else 0


def _show_problems(report: Report) -> None:
    """What was not imported, and what was and may not be complete."""
    lines = [say_here("ignored", file=each.file, reason=each.reason) for each in report.ignored]
    lines += [say_here("noted", what=each) for each in report.notes]
    for line in [*lines, *map(str, report.broken)]:
        sys.stderr.write(f"{line}\n")


def _status(folder: Path, *, as_json: bool) -> int:
    file = corpus_file(folder)
    counts: dict[str, int] = dict.fromkeys(DocumentKind, 0)
    if file.exists():
        corpus = Corpus(file)
        counts = corpus.counts()
        corpus.close()
    sample = not any(counts.values())
    if as_json:
        _say(json.dumps({"corpus": str(file), "sample": sample, "documents": counts}))
        return 0
    _say(say_here("corpus_at", file=file))
    _say(say_here("sample_served") if sample else _counted(counts))
    return 0


def _show_progress(done: int, of: int) -> None:
    start = "\r" if sys.stderr.isatty() else ""
    end = "" if start and done < of else "\n"
    sys.stderr.write(f"{start}{say_here('files_done', done=done, of=of)}{end}")
    sys.stderr.flush()


def _summary(report: Report) -> str:
    return say_here(
        "summary_removed" if report.removed else "summary",
        files=report.files,
        removed=report.removed,
        skipped=report.skipped,
        broken=len(report.broken),
        **{change.value: report.changes[change] for change in StoreResult},
    )


def _counted(counts: dict[str, int]) -> str:
    return say_here("counted", **{f"{kind}s": count for kind, count in counts.items()})


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _complain(error: Exception | str, code: int) -> int:
    sys.stderr.write(f"mcpyard-legal: {error}\n")
    return code


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > _LAST_PORT:
        raise argparse.ArgumentTypeError(say_here("no_port", text=text, last=_LAST_PORT))
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "mcpyard-legal",
        description=say_here("help"),
        allow_abbrev=False,
    )
    where = argparse.ArgumentParser(add_help=False)
    for each in (parser, where):
        # A value said before the command stays when the command's own option is absent.
        default = None if each is parser else argparse.SUPPRESS
        each.add_argument("--home", type=Path, default=default, help=say_here("help_home"))
        each.add_argument("--corpus", type=Path, default=default, help=say_here("help_corpus"))
    parser.add_argument(
        "--transport",
        choices=("stdio", "http", "sse"),
        default="stdio",
        help=say_here("help_default", value="stdio"),
    )
    local = "127.0.0.1"
    parser.add_argument("--host", default=local, help=say_here("help_default", value=local))
    parser.add_argument(
        "--port", type=_port, default=_PORT, help=say_here("help_port", value=_PORT)
    )
    commands = parser.add_subparsers(dest="command")
    loading = commands.add_parser("import", parents=[where], help=say_here("help_import"))
    loading.add_argument("path", type=Path)
    loading.add_argument("--replace", action="store_true", help=say_here("help_replace"))
    showing = commands.add_parser("status", parents=[where], help=say_here("help_status"))
    for each in (loading, showing):
        each.add_argument("--json", action="store_true")
    return parser
