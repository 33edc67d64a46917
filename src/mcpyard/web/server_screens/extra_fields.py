"""What the form has no field of its own for: a text of JSON, so that nothing of it is lost."""

import json
from collections.abc import Mapping
from typing import Final, cast

from mcpyard.domain.definition.merge import is_mask
from mcpyard.domain.errors import DefinitionError, Problem
from mcpyard.domain.model import Policy
from mcpyard.web.redaction import veiled_members
from mcpyard.yard.records import Record

ASKED: Final = frozenset(
    {
        *("name", "scope", "type", "transport", "timeout", "enabled", "disabled"),
        *("command", "args", "env", "environment", "cwd", "url", "headers"),
    }
)
"""The words that have a field of their own."""

_USUAL: Final = {
    word: value
    for word, value in Policy().model_dump(mode="json", by_alias=True).items()
    if word not in ASKED and word != "wanted"
}
_IN_RECORDS: Final = {"lanes": "wantedLanes", "tools": "toolPolicies"}


def further_of_definition(definition: Record) -> str:
    """What a pasted definition says besides the fields, as a text."""
    return _text({word: value for word, value in definition.items() if word not in ASKED})


def further_of_record(record: Record) -> str:
    """What a server's record says besides the fields, as a text."""
    return _text(_said(record))


def read_further(text: str | None) -> Record:
    """What the text means, or `DefinitionError`."""
    try:
        said: object = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise DefinitionError.of(Problem("further", f"is not JSON: {error}")) from None
    if not isinstance(said, dict):
        raise DefinitionError.of(Problem("further", "must be a JSON object"))
    further = cast("Record", said)
    twice = [Problem(word, "has its own field in the form") for word in ASKED & {*further}]
    if twice:
        raise DefinitionError.of(*twice)
    return further


def further_patch(text: str | None, record: Record) -> Record:
    """The merge patch that turns what a record says into what the text says."""
    return {} if text is None else _difference(_said(record), read_further(text))


def shown_further(text: str | None) -> Record:
    """What the text means, for a person's eyes: secrets hidden, and what is not JSON as it is."""
    try:
        said = read_further(text)
    except DefinitionError:
        return {"further": text}
    return veiled_members(said)


def with_literals(said: Record, known: Record | None) -> Record:
    """What was said, with the literal values in place of those that were shown masked."""
    if known is None or not isinstance(said.get("oauth"), Mapping):
        return said
    literal = cast("Record", known.get("oauth") or {})
    oauth = cast("Record", said["oauth"])
    return {
        **said,
        "oauth": {
            word: literal.get(word) if is_mask(value) else value for word, value in oauth.items()
        },
    }


def _said(record: Record) -> Record:
    policy = {word: record[_IN_RECORDS.get(word, word)] for word in _USUAL}
    unusual = {word: value for word, value in policy.items() if value != _USUAL[word]}
    oauth = record.get("oauth")
    return {**unusual, "oauth": oauth} if oauth else unusual


def _difference(before: Mapping[str, object], after: Mapping[str, object]) -> Record:
    patch: Record = {word: None for word in before if word not in after}
    for word, value in after.items():
        was = before.get(word)
        if value == was:
            continue
        if isinstance(value, Mapping) and isinstance(was, Mapping):
            pair = cast("tuple[Record, Record]", (was, value))
            patch[word] = _difference(*pair)
        else:
            patch[word] = value
    return patch


def _text(said: Record) -> str:
    return json.dumps(said, ensure_ascii=False, indent=2) if said else ""
