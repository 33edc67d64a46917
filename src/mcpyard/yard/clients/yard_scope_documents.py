"""The servers of the yard as documents, which are made up: for previews and for the way back.

A document says all that was said of a server but what it is wanted to be: whoever starts or stops a
server since an edit has not changed what that edit left.
"""

import json
from collections.abc import Mapping
from typing import Final

from mcpyard.domain.definition.merge import plain
from mcpyard.domain.definition.old_names import renamed_throughout
from mcpyard.domain.desired import PolicyPatch
from mcpyard.domain.files import FileWrite
from mcpyard.domain.model import Config, Policy
from mcpyard.domain.narrowing import is_mapping, is_object, object_of
from mcpyard.formats.entries import Entry, understand
from mcpyard.formats.locations import ClientScopeRef

_LAUNCH: Final = ("type", "command", "args", "env", "cwd", "url", "headers")
_SHARED: Final = (*_LAUNCH, "oauth", "enabled", "timeout", "startTimeout", "inherit")
_NO_POLICY: Final = frozenset({*_LAUNCH, "oauth"})

Plain = Mapping[str, object]


def entry_of(config: Config, ref: ClientScopeRef) -> Entry:
    """A definition as an entry; what is the yard's own business alone is left out."""
    return understand(definition_of(config), ref.client, ref.shape).entry


def whole_of(config: Config) -> dict[str, object]:
    """A definition in the words of the yard's format."""
    fields = plain(config)
    way = fields.pop("transport", "remote") if "url" in fields else "stdio"
    fields.pop("wanted", None)
    if is_object(tools := fields.get("tools")):
        fields["tools"] = {tool: _written(object_of(policy)) for tool, policy in tools.items()}
    return {"type": way, **fields}


def definition_of(config: Config) -> dict[str, object]:
    """A definition in the words that other clients have a counterpart for."""
    whole = whole_of(config)
    return {word: whole[word] for word in _SHARED if word in whole}


def yards_own(config: Config) -> dict[str, object]:
    """What other clients have no counterpart for."""
    return {word: value for word, value in whole_of(config).items() if word not in _SHARED}


def policy_of(definition: Plain) -> dict[str, object]:
    """How a server is treated, out of its definition."""
    return {word: value for word, value in definition.items() if word not in _NO_POLICY}


def by_model(policy: Plain) -> PolicyPatch:
    """A policy by the names of the model's fields."""
    return Policy.model_validate(policy).model_dump(mode="json", exclude_unset=True)


def document(servers: Mapping[str, Plain]) -> str:
    """A document of servers."""
    return json.dumps({"mcpServers": servers}, indent=2, ensure_ascii=False) + "\n"


def servers_of(text: str | None) -> dict[str, Plain]:
    """The servers of a document that `document` made, maybe when fields had other names."""
    if not text:
        return {}
    servers = object_of(object_of(json.loads(text))["mcpServers"])
    return {name: renamed_throughout(object_of(server)) for name, server in servers.items()}


def patch_between(old: Plain, new: Plain) -> dict[str, object]:
    """The merge patch that leads from one definition to another."""
    patch = difference(old, new)
    if "type" in new and patch:
        # A patch that has an address or a command says anew what kind of server it is.
        patch["type"] = new["type"]
    return patch


def difference(old: Plain, new: Plain) -> dict[str, object]:
    """The merge patch that leads from one object to another."""
    patch: dict[str, object] = {word: None for word in old if word not in new}
    for word, value in new.items():
        before = old.get(word)
        if is_mapping(before) and is_mapping(value):
            if inner := difference(before, value):
                patch[word] = inner
        elif before != value:
            patch[word] = value
    return patch


def concerned(change: FileWrite) -> set[str]:
    """The servers that a change of a document is about."""
    old, new = servers_of(change.before), servers_of(change.after)
    return {name for name in (*old, *new) if old.get(name) != new.get(name)}


def moved(back: FileWrite, text: str | None) -> set[str]:
    """The servers of a way back that are by now neither as it found nor as it leaves them."""
    old, new, now = servers_of(back.before), servers_of(back.after), servers_of(text)
    about = concerned(back)
    return {name for name in about if now.get(name) not in (old.get(name), new.get(name))}


def missing_names(back: FileWrite, text: str | None) -> list[str]:
    """The servers of a way back that are by now not as it found them."""
    old, now = servers_of(back.before), servers_of(text)
    return sorted(name for name in concerned(back) if now.get(name) != old.get(name))


def only(text: str | None, names: set[str]) -> str:
    """What a document says of some servers."""
    return document({name: each for name, each in servers_of(text).items() if name in names})


def rebased(back: FileWrite, text: str | None) -> FileWrite:
    """The way back of a document from what it says by now; other servers stay as they are."""
    new, now, about = servers_of(back.after), servers_of(text), concerned(back)
    stay = {name: each for name, each in now.items() if name not in about}
    come = {name: each for name, each in new.items() if name in about}
    return FileWrite(back.path, text, document(stay | come))


def _written(policy: Plain) -> Plain:
    # In a merge patch null is no value, so nothing can lead back to one.
    return {word: value for word, value in policy.items() if value is not None}
