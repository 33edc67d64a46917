"""The base of all views, and the kinds of values that many of them have."""

from datetime import datetime
from typing import Annotated, TypeAlias, TypeVar, overload

import msgspec
from msgspec import UNSET, Meta

from mcpyard.domain.definition.quantities import MAX_TIMEOUT, MOST_TIMES
from mcpyard.domain.narrowing import is_array, is_object

Count: TypeAlias = Annotated[int, Meta(ge=0)]
Milliseconds: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_TIMEOUT)]
Times: TypeAlias = Annotated[int, Meta(ge=0, le=MOST_TIMES)]
Uuid: TypeAlias = Annotated[str, Meta(extra_json_schema={"format": "uuid"})]
Moment: TypeAlias = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
ShownValue: TypeAlias = Annotated[object, Meta(extra={"schema": "Shown"})]
"""A reference as it is written, or what stands for a literal value that is not shown."""

_V = TypeVar("_V")


class View(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Something as the faces show it; `UNSET` members are left out of its JSON."""

    def to_dict(self) -> dict[str, object]:
        """The object of JSON that it is on the wire."""
        return {name: plain(value) for name, value in self.members().items()}

    def members(self) -> dict[str, object]:
        """Its members by their names in JSON; views among them stay views."""
        values = zip(self.__struct_encode_fields__, msgspec.structs.astuple(self), strict=True)
        return {name: value for name, value in values if value is not UNSET}


def plain(value: object) -> object:
    """A value with every view in it as a dict."""
    if isinstance(value, View):
        return value.to_dict()
    if is_object(value):
        return {key: plain(each) for key, each in value.items()}
    if is_array(value):
        return [plain(each) for each in value]
    return value


def encodable(value: object) -> dict[str, object]:
    """What an encoder of JSON takes for a value that it does not know itself."""
    if isinstance(value, View):
        return value.members()
    raise TypeError(f"{type(value).__name__} is not JSON")


def view_of(kind: type[_V], thing: object) -> _V:
    """A view, or a list of views, of what has their members as attributes."""
    return msgspec.convert(thing, kind, from_attributes=True)


@overload
def moment(at: datetime) -> str: ...
@overload
def moment(at: datetime | None) -> str | None: ...
def moment(at: datetime | None) -> str | None:
    """A time as it is shown."""
    return at.isoformat(timespec="milliseconds") if at else None


class PlaceView(View, frozen=True, kw_only=True):
    """Where in a file something stands."""

    file: str
    line: int
    column: int


class FieldProblem(View, frozen=True, kw_only=True):
    """What is wrong with a field."""

    field: str
    message: str


class PlacedProblem(FieldProblem, frozen=True, kw_only=True):
    """What is wrong with a field, and where it stands."""

    place: PlaceView | None


class FileDiff(View, frozen=True, kw_only=True):
    """A file, and how it changes."""

    path: str
    diff: Annotated[str, Meta(description="Unified, with secrets masked.")]
