"""JSON of which nothing is known: asked what it is, or taken for what it should be."""

from collections.abc import Mapping
from typing import TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Whether it is an object of JSON, whose names are texts."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeGuard[Mapping[str, object]]:
    """Whether it has members, whatever holds them."""
    return isinstance(value, Mapping)


def is_array(value: object) -> TypeGuard[list[object]]:
    """Whether it is an array of JSON."""
    return isinstance(value, list)


def is_sequence(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    """Whether it is a list or a tuple."""
    return isinstance(value, list | tuple)


def is_texts(value: object) -> TypeGuard[list[str]]:
    """Whether it is an array of texts."""
    return is_array(value) and all(isinstance(each, str) for each in value)


def object_of(value: object) -> dict[str, object]:
    """The object that a value is, or an empty one."""
    return value if is_object(value) else {}


def mapping_of(value: object) -> Mapping[str, object]:
    """The members that a value has, or none."""
    return value if is_mapping(value) else {}


def list_of(value: object) -> list[object]:
    """The array that a value is, or an empty one."""
    return value if is_array(value) else []


def sequence_of(value: object) -> list[object] | tuple[object, ...]:
    """The list or the tuple that a value is, or an empty one."""
    return value if is_sequence(value) else ()


def texts_of(value: object) -> list[str]:
    """The texts of the array that a value is, or none."""
    return [each for each in list_of(value) if isinstance(each, str)]
