"""Checks of a client's files by the rules of its program, each with a code and with what to do.

A pure function of the same texts as a judgement. The rules about single entries are in
`lint_entries`; here are those about files and about names.
"""

from collections.abc import Iterator, Mapping
from typing import cast

from mcpyard.domain.errors import Problem
from mcpyard.formats.documents import name_place
from mcpyard.formats.editors import jsonc
from mcpyard.formats.effective import shelf_of
from mcpyard.formats.facts import Client, Effective
from mcpyard.formats.finding import RULES, Finding, Level, about
from mcpyard.formats.lint_entries import entry_findings
from mcpyard.formats.listing import mark_problem, strict_problem
from mcpyard.formats.locating import Surroundings
from mcpyard.formats.naming import rule_fault, slug
from mcpyard.formats.texts import Text
from mcpyard.formats.verdicts import Read, judged, sentence

__all__ = ("Finding", "Level", "lint")


def lint(client: Client, around: Surroundings, texts: Mapping[str, Text]) -> tuple[Finding, ...]:
    """Check a client's files; `texts` has those of `files_of` by their paths."""
    shelf = shelf_of(client, around, texts)
    files = judged(client, around, shelf)
    found: list[Finding] = []
    paths: set[str] = set()
    for file in files:
        # Scopes can share a file; what is wrong with all of it is told once.
        found += _whole_file(file) if file.path not in paths else ()
        paths.add(file.path)
        found += _names(file)
        found += entry_findings(file, shelf.text(file.path))
    for path, problems in shelf.problems.items():
        if path not in paths:
            found += (_broken(client, "", problem) for problem in problems)
    return tuple(found)


def _whole_file(file: Read) -> Iterator[Finding]:
    client, scope = file.spot.client, file.spot.scope.name
    rules = _file_rules(file)
    for problem in file.listing.problems:
        if problem not in rules:
            yield _broken(client, scope, problem)
            continue
        code, hint = rules[problem]
        message = sentence(problem)
        yield about(file.spot, code, ("", problem.place), message, hint)
    yield from _mixed_shapes(file)


def _file_rules(file: Read) -> dict[Problem | None, tuple[str, str]]:
    if file.opened is None:
        return {}
    client, parsed = file.spot.client, file.opened.parsed
    return {
        mark_problem(client, parsed): ("byte-order-mark", "save the file without the mark"),
        strict_problem(client, parsed): ("not-strict-json", "take it out; the file must be JSON"),
    }


def _broken(client: Client, scope: str, problem: Problem) -> Finding:
    hint = "mend the file; nothing is written to it until then"
    message = sentence(problem)
    code = "file-broken"
    level, _ = RULES[code]
    return Finding(code, level, client.id, scope, "", problem.place, message, hint)


def _mixed_shapes(file: Read) -> Iterator[Finding]:
    """Entries in an older shape, beside those of the shape that the file is in."""
    spot, opened = file.spot, file.opened
    for other in spot.client.shapes:
        depth = len(other.keys)
        if opened is None or other is spot.shape or spot.shape.keys[:depth] != other.keys:
            continue
        path = (*spot.above, *other.keys)
        beside = cast("dict[str, object]", opened.at(path))
        for name, value in beside.items():
            if name != spot.shape.keys[depth] and isinstance(value, dict):
                place = name_place(opened.parsed, (*path, name))
                home = ".".join(spot.shape.keys)
                message = f"stands beside {home}, in the shape of an older version"
                hint = f"move it into {home}"
                yield about(file.spot, "mixed-shapes", (name, place), message, hint)


def _names(file: Read) -> Iterator[Finding]:
    """Names that the client has a rule against, or that are not the only ones."""
    yield from _repeated(file)
    for listed in file.listing.servers:
        name, place = listed.name, listed.place
        if fault := rule_fault(file.spot.client, name):
            hint = f'rename it; "{slug(file.spot.client, name)}" would do'
            yield about(file.spot, "name-refused", (name, place), fault, hint)
        first = file.same(name)
        if first and first.name != name:
            message = f'differs only in case from "{first.name}"; both are one server'
            hint = "rename one of the two"
            yield about(file.spot, "duplicate-name", (name, place), message, hint)
        verdict = file.verdicts[name]
        if verdict.state is Effective.SHADOWED:
            hint = "remove or rename one of the two"
            yield about(file.spot, "shadowed", (name, place), verdict.reason, hint)


def _repeated(file: Read) -> Iterator[Finding]:
    """Members of one name: the last one counts, and the others are easily taken for it."""
    opened = file.opened
    if opened is None or not isinstance(opened.parsed, jsonc.Document):
        return
    path = (*file.spot.above, *file.spot.shape.keys)
    for depth in range(len(path) + 1):
        if not isinstance(opened.at(path[:depth]), dict):
            return
        for name, place in opened.parsed.repeated(path[:depth]).items():
            # Of the objects above, only the one on the way to the servers matters here.
            if depth == len(path) or name == path[depth]:
                where = (name if depth == len(path) else "", place)
                message = f'"{name}" stands here and again further below; the last one counts'
                yield about(file.spot, "duplicate-name", where, message, "keep one of them")
