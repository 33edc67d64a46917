"""Where a reference of a schema leads, as long as that is inside the schema itself."""

from functools import reduce
from urllib.parse import unquote

from mcpyard.domain.narrowing import is_array, is_object


def is_pointer(reference: str) -> bool:
    """Whether a reference is a pointer such as `#/$defs/a`, and no name."""
    return reference == "#" or reference.startswith("#/")


def resolve(root: object, reference: str) -> object:
    """What a reference such as `#/$defs/a` names; None where there is no such place."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in unquote(reference).split("/")]
    return reduce(_child, steps[1:], root)


def _child(value: object, step: str) -> object:
    if is_array(value):
        # Compared as texts: a number may have more digits than can be read.
        return next((item for index, item in enumerate(value) if str(index) == step), None)
    return value.get(step) if is_object(value) else None
