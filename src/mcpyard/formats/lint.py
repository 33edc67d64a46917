"""Checks of a client's files by the rules of its program, each with a code and with what to do.

A pure function of the same texts as an evaluation. The rules about single entries are in
`lint_entries`; here are those about files and about names.
"""

from collections.abc import Iterator, Mapping

from mcpyard.domain.errors import Problem
from mcpyard.domain.narrowing import object_of
from mcpyard.formats.documents import name_place, value_at
from mcpyard.formats.editors import jsonc
from mcpyard.formats.effective import parse_files
from mcpyard.formats.entry_list import mark_problem, strict_problem
from mcpyard.formats.evaluation import Read, judged, sentence
from mcpyard.formats.facts import Client, Effective
from mcpyard.formats.finding import Finding, Level, Where, advice, file_broken
from mcpyard.formats.lint_entries import entry_findings
from mcpyard.formats.locations import ClientFolders
from mcpyard.formats.naming import rule_fault, slug
from mcpyard.formats.texts import Text

__all__ = ("Finding", "Level", "lint")


def lint(client: Client, host: ClientFolders, texts: Mapping[str, Text]) -> tuple[Finding, ...]:
    """Check a client's files; `texts` has those of `files_of` by their paths."""
    parsed_files = parse_files(client, host, texts)
    files = judged(client, host, parsed_files)
    findings: list[Finding] = []
    paths: set[str] = set()
    for file in files:
        # Scopes can share a file; what is wrong with all of it is told once.
        findings += _whole_file(file) if file.path not in paths else ()
        paths.add(file.path)
        findings += _names(file)
        findings += entry_findings(file, parsed_files.text(file.path))
    for path, problems in parsed_files.problems.items():
        if path not in paths:
            findings += (file_broken(client, "", each, sentence(each)) for each in problems)
    return tuple(findings)


def _whole_file(file: Read) -> Iterator[Finding]:
    rules = _file_rules(file)
    for problem in file.listing.problems:
        detail = sentence(problem)
        if problem in rules:
            rule, step = rules[problem]
            where = Where(file.ref, "", problem.place)
            yield where.finding(rule, advice(step), detail=detail)
        else:
            yield file_broken(file.ref.client, file.ref.scope.name, problem, detail)
    yield from _mixed_shapes(file)


def _file_rules(file: Read) -> dict[Problem | None, tuple[str, str]]:
    if file.parsed is None:
        return {}
    client, parsed = file.ref.client, file.parsed
    return {
        mark_problem(client, parsed): ("byte-order-mark", "save-without-mark"),
        strict_problem(client, parsed): ("not-strict-json", "make-strict"),
    }


def _mixed_shapes(file: Read) -> Iterator[Finding]:
    """Entries in an older shape, beside those of the shape that the file is in."""
    ref, parsed = file.ref, file.parsed
    for other in ref.client.shapes:
        depth = len(other.keys)
        if parsed is None or other is ref.shape or ref.shape.keys[:depth] != other.keys:
            continue
        path = (*ref.above, *other.keys)
        beside = object_of(value_at(parsed.value, path))
        for name, value in beside.items():
            if name != ref.shape.keys[depth] and isinstance(value, dict):
                where = Where(ref, name, name_place(parsed, (*path, name)))
                home = ".".join(ref.shape.keys)
                yield where.finding("mixed-shapes", advice("move-into"), home=home)


def _names(file: Read) -> Iterator[Finding]:
    """Names that the client has a rule against, or that are not the only ones."""
    yield from _repeated(file)
    for listed in file.listing.servers:
        name = listed.name
        where = Where(file.ref, name, listed.place)
        if fault := rule_fault(file.ref.client, name):
            better = slug(file.ref.client, name)
            yield where.finding("name-refused", advice("rename-to", better=better), detail=fault)
        first = file.same(name)
        if first and first.name != name:
            yield where.finding("duplicate-name/case", advice("rename-one"), other=first.name)
        verdict = file.verdicts[name]
        if verdict.state is Effective.SHADOWED:
            yield where.finding("shadowed", advice("remove-one"), detail=verdict.reason)


def _repeated(file: Read) -> Iterator[Finding]:
    """Members of one name: the last one counts, and the others are easily taken for it."""
    parsed = file.parsed
    if parsed is None or not isinstance(parsed, jsonc.JsoncDocument):
        return
    path = (*file.ref.above, *file.ref.shape.keys)
    for depth in range(len(path) + 1):
        if not isinstance(value_at(parsed.value, path[:depth]), dict):
            return
        for name, place in parsed.repeated(path[:depth]).items():
            # Of the objects above, only the one on the way to the servers matters here.
            if depth == len(path) or name == path[depth]:
                where = Where(file.ref, name if depth == len(path) else "", place)
                yield where.finding("duplicate-name/again", advice("keep-one"), member=name)
