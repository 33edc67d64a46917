"""What waits for approval, as the faces show it; `yard/consent.py` makes these views."""

from typing import Annotated, TypeAlias

from msgspec import Meta

from mcpyard.yard.views.base import View
from mcpyard.yard.views.servers import WaitingKind

FieldName: TypeAlias = Annotated[
    str,
    Meta(description="Such as `command`, `args`, `env.NAME`, `headers.NAME` or `tools.NAME`."),
]
FieldValue: TypeAlias = Annotated[
    object, Meta(description="As it is written; a literal secret is masked.")
]


class WaitingField(View, frozen=True, kw_only=True):
    """One thing that an entry says."""

    field: FieldName
    value: FieldValue
    marked: Annotated[bool, Meta(description="Whether it may change which code runs.")]


class VariableUse(View, frozen=True, kw_only=True):
    """A variable of the user's that an entry takes."""

    name: Annotated[str, Meta(description="A variable that the entry refers to.")]
    field: str
    host: Annotated[
        str | None, Meta(description="Where its value is sent; null for a process here.")
    ]


class FieldChange(View, frozen=True, kw_only=True):
    """How one thing that an entry says differs from what was approved."""

    field: FieldName
    before: FieldValue
    after: FieldValue


class WaitingServerView(View, frozen=True, kw_only=True):
    """An entry that waits for approval."""

    name: str
    kind: WaitingKind
    replaces: Annotated[
        str | None,
        Meta(description="Who has a server of this name, which this one would replace."),
    ]
    fields: list[WaitingField]
    variables: list[VariableUse]
    changes: list[FieldChange]


class WaitingFolderView(View, frozen=True, kw_only=True):
    """A folder with everything that waits, and the digest that an approval names."""

    folder: str
    digest: Annotated[str, Meta(description="Stands for all that is shown; an approval names it.")]
    servers: list[WaitingServerView]


class ApprovedView(View, frozen=True, kw_only=True):
    """What an approval did."""

    folder: str
    servers: list[Annotated[str, Meta(description="A server that waited.")]]
    waiting: list[
        Annotated[str, Meta(description="A server that still waits: it would replace another one.")]
    ]
