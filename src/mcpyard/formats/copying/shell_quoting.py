"""Arguments for clients that join them to one text and have a shell take it apart again.

There an argument with a space would become two, and one with a semicolon another command.
"""

import shlex
from collections.abc import Mapping
from typing import cast

from mcpyard.formats.copying.draft import Draft
from mcpyard.formats.facts import Client
from mcpyard.formats.fields import Field
from mcpyard.formats.warnings import Warned, WarningKind


def unquoted(text: str, client: Client) -> str:
    """What a client passes on of an argument, if that is one word."""
    if not client.by_shell:
        return text
    try:
        words = shlex.split(text)
    except ValueError:
        return text
    return words[0] if len(words) == 1 else text


def remove_quotes(draft: Draft) -> None:
    """Take the arguments of a source as it passes them on."""
    client = draft.source.client
    if client.by_shell:
        for name, texts in _words(draft.values).items():
            _put(draft, name, tuple(unquoted(text, client) for text in texts))


def add_quotes(draft: Draft) -> None:
    """Quote arguments so that the shell of a target passes them on as they are."""
    if not draft.target.client.by_shell:
        return
    for name, texts in _words(draft.values).items():
        quoted = tuple(map(shlex.quote, texts))
        for index, (text, word) in enumerate(zip(texts, quoted, strict=True)):
            if text != word:
                where = f"[{index}]" if name is Field.ARGS else ""
                reason = _reason(draft, draft.word(name, where))
                draft.warn(WarningKind.TRANSLATED, name, reason, value=text, where=where)
        _put(draft, name, quoted)


def _reason(draft: Draft, word: str) -> str:
    """Why an argument is another one: one warning tells of its references too."""
    earlier = next((it for it in draft.warnings if _is_translated(it, word)), None)
    if earlier is None:
        return f"quoted, because {draft.title} runs the command with a shell"
    draft.warnings.remove(earlier)
    return (
        f"references rewritten in the syntax of {draft.title}, and quoted, "
        "because it runs the command with a shell"
    )


def _is_translated(warned: Warned, word: str) -> bool:
    return warned.kind is WarningKind.TRANSLATED and warned.field == word


def _words(values: Mapping[Field, object]) -> dict[Field, tuple[str, ...]]:
    words: dict[Field, tuple[str, ...]] = {}
    if isinstance(command := values.get(Field.COMMAND), str):
        words[Field.COMMAND] = (command,)
    if Field.ARGS in values:
        words[Field.ARGS] = cast("tuple[str, ...]", values[Field.ARGS])
    return words


def _put(draft: Draft, name: Field, texts: tuple[str, ...]) -> None:
    draft.values[name] = texts if name is Field.ARGS else texts[0]
