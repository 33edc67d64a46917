"""Stored secrets as they are shown: never with their values."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from mcpyard.yard.views.base import View

SecretStore: TypeAlias = Literal["mcpyard", "key-ring"]
"""The encrypted store of mcpyard, or the key ring of the user."""


class StoredSecretView(View, frozen=True, kw_only=True):
    """A secret without its value."""

    name: Annotated[str, Meta(description="What references call it: `${NAME}`.")]
    stored: bool
    store: SecretStore
    readable: Annotated[bool, Meta(description="False if it was sealed with another key.")]
    overridden: Annotated[
        bool, Meta(description="Whether the environment of mcpyard sets it, which wins.")
    ]
    used_by: Annotated[list[str], Meta(description="The servers that refer to it.")]
    allowed: Annotated[list[str], Meta(description="The files of projects that may use it.")]
    needs_consent: Annotated[
        list[str], Meta(description="The files of projects that refer to it and may not use it.")
    ]


class SecretChangeView(View, frozen=True, kw_only=True):
    """What a change of a secret did, or would do."""

    name: str
    launched_anew: Annotated[
        list[str], Meta(description="The servers that use it; those that run are restarted.")
    ]
    edit: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="The number to undo it by.")
    ]
