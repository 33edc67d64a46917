"""What the form has no field of its own for: a text of JSON, so that nothing of it is lost."""

import json
from typing import Final

from mcpyard.domain.definition.merge import is_mask
from mcpyard.domain.errors import DefinitionError, Problem
from mcpyard.domain.model import Policy
from mcpyard.domain.narrowing import is_mapping, is_object
from mcpyard.web.redaction import redacted_members
from mcpyard.yard.clients.yard_scope_documents import difference
from mcpyard.yard.views.servers import RevealedView, ServerView

ASKED: Final = frozenset(
    {
        *("name", "scope", "type", "transport", "timeout", "enabled", "disabled", "tags"),
        *("command", "args", "env", "environment", "cwd", "url", "headers"),
    }
)
"""The words that have a field of their own."""

_USUAL: Final = {
    word: value
    for word, value in Policy().model_dump(mode="json", by_alias=True).items()
    if word not in ASKED and word != "wanted"
}
_IN_VIEWS: Final = {"concurrency": "wantedConcurrency", "tools": "toolPolicies"}


def extra_of_definition(definition: dict[str, object]) -> str:
    """What a pasted definition says besides the fields, as a text."""
    return _text({word: value for word, value in definition.items() if word not in ASKED})


def extra_of_server(server: ServerView) -> str:
    """What a server's definition says besides the fields, as a text."""
    return _text(_extra_members(server))


def read_extra(text: str | None) -> dict[str, object]:
    """What the text means, or `DefinitionError`."""
    try:
        members: object = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise DefinitionError.of(Problem("further", f"is not JSON: {error}")) from None
    if not is_object(members):
        raise DefinitionError.of(Problem("further", "must be a JSON object"))
    twice = [Problem(word, "has its own field in the form") for word in ASKED & {*members}]
    if twice:
        raise DefinitionError.of(*twice)
    return members


def extra_patch(text: str | None, server: ServerView) -> dict[str, object]:
    """The merge patch that turns what a server's definition says into what the text says."""
    return {} if text is None else difference(_extra_members(server), read_extra(text))


def redacted_extra(text: str | None) -> dict[str, object]:
    """What the text means, for a person's eyes: secrets hidden, and what is not JSON as it is."""
    try:
        members = read_extra(text)
    except DefinitionError:
        return {"further": text}
    return redacted_members(members)


def with_literals(members: dict[str, object], literals: RevealedView | None) -> dict[str, object]:
    """What was said, with the literal values in place of those that were shown masked."""
    oauth = members.get("oauth")
    if literals is None or not is_mapping(oauth):
        return members
    literal = literals.oauth or {}
    return {
        **members,
        "oauth": {
            word: literal.get(word) if is_mask(value) else value for word, value in oauth.items()
        },
    }


def _extra_members(server: ServerView) -> dict[str, object]:
    view = server.to_dict()
    policy = {word: view[_IN_VIEWS.get(word, word)] for word in _USUAL}
    unusual = {word: value for word, value in policy.items() if value != _USUAL[word]}
    return {**unusual, "oauth": server.oauth} if server.oauth else unusual


def _text(members: dict[str, object]) -> str:
    return json.dumps(members, ensure_ascii=False, indent=2) if members else ""
