"""Names of arguments that every service accepts.

Some services refuse a request for one argument called `$filter` or `名称`. Such an argument is
offered by a name like its own, and given to the tool by its own.
"""

from mcpyard.catalog.lowering import Schema
from mcpyard.catalog.offered_names import offer
from mcpyard.domain.narrowing import is_mapping, object_of, texts_of


def offer_members(schema: Schema) -> Schema:
    """A lowered schema whose members have accepted names; deeper ones are nowhere looked at."""
    members = object_of(schema["properties"])
    names = offer(members)
    if all(name == offered for name, offered in names.items()):
        return schema
    changed: Schema = {"properties": {names[name]: value for name, value in members.items()}}
    if "required" in schema:
        changed["required"] = [names.get(name, name) for name in texts_of(schema["required"])]
    return schema | changed


def own_members(arguments: object, schema: Schema) -> object:
    """Arguments by the tool's own names; `schema` is the lowered one before it was offered."""
    if not is_mapping(arguments):
        return arguments
    own = {offered: name for name, offered in offer(object_of(schema["properties"])).items()}
    return {own.get(name, name): value for name, value in arguments.items()}
