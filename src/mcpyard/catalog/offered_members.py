"""Names of arguments that every service accepts.

Some services refuse a request for one argument called `$filter` or `名称`. Such an argument is
offered by a name like its own, and given to the tool by its own.
"""

from collections.abc import Mapping
from typing import cast

from mcpyard.catalog.lowering import Schema
from mcpyard.catalog.offered_names import offer


def offer_members(schema: Schema) -> Schema:
    """A lowered schema whose members have accepted names; deeper ones are nowhere looked at."""
    members = cast("Schema", schema["properties"])
    names = offer(members)
    if all(name == offered for name, offered in names.items()):
        return schema
    changed: Schema = {"properties": {names[name]: value for name, value in members.items()}}
    if "required" in schema:
        required = cast("list[str]", schema["required"])
        changed["required"] = [names.get(name, name) for name in required]
    return schema | changed


def own_members(arguments: object, schema: Schema) -> object:
    """Arguments by the tool's own names; `schema` is the lowered one before it was offered."""
    if not isinstance(arguments, Mapping):
        return arguments
    own = {offered: name for name, offered in offer(cast("Schema", schema["properties"])).items()}
    members = cast("Mapping[str, object]", arguments)
    return {own.get(name, name): value for name, value in members.items()}
