"""A tool by which an agent reads resources, such as those that results link to."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Final, Protocol

from pydantic import Field

from mcpyard.domain.errors import InputError
from mcpyard.yard.calls.call_context import Progress
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.calls.parts import Resource, ResourceLink
from mcpyard.yard.toolbox.agent_tool import OWN, Calling, Tool
from mcpyard.yard.toolbox.gathering import Extension
from mcpyard.yard.toolbox.own_tools import own_tool
from mcpyard.yard.views.content import ResourceContents, ResourceView

READ_RESOURCE: Final = "read_resource"

_MOST_LINKS: Final = 10_000


class ResourceSource(Protocol):
    """A yard, as far as resources are concerned."""

    async def list_resources(self, server: str | None = None) -> list[ResourceView]:
        """The resources of servers."""
        ...

    async def read_resource(self, uri: str, server: str | None = None) -> ResourceContents:
        """Read a resource."""
        ...


class ResourceReader:
    """Reads resources for an agent.

    A link belongs to the server whose result had it: two servers may use the same address.
    """

    def __init__(
        self, source: ResourceSource, allowed: Collection[str] | None, links: dict[str, set[str]]
    ) -> None:
        self._source = source
        self._allowed = allowed
        self._links = links

    def noting_links(self, tools: Iterable[Tool]) -> Iterable[Tool]:
        """The tools, with the links in their results noted."""
        return (replace(each, calling=self._noting(each.calling)) for each in tools)

    def tool(self) -> Tool:
        """The tool."""
        return own_tool(
            self._read,
            name=READ_RESOURCE,
            title="Read resource",
            description="Read a resource of an MCP server, such as one that a tool result links "
            "to as [link name] address.",
            annotations={"readOnlyHint": True},
        )

    def _noting(self, calling: Calling) -> Calling:
        async def call(
            arguments: Mapping[str, object] | None,
            seconds: float | None,
            progress: Progress | None,
        ) -> Outcome:
            outcome = await calling(arguments, seconds, progress)
            if outcome.server != OWN and b'"resource_link"' in outcome.raw:
                self._note(outcome)
            return outcome

        return call

    def _note(self, outcome: Outcome) -> None:
        for part in outcome.parts:
            if isinstance(part, ResourceLink) and len(self._links) < _MOST_LINKS:
                self._links.setdefault(part.uri, set()).add(outcome.server)

    async def _read(
        self,
        uri: Annotated[str, Field(description="The address of the resource.")],
        server: Annotated[
            str, Field(description="The server that has it; needed only if several have it.")
        ] = "",
    ) -> list[Resource]:
        owner = server or await self._owner(uri)
        if owner and self._allowed is not None and owner not in self._allowed:
            raise InputError(f'the server "{owner[:80]}" is not one of this conversation')
        return [*(await self._source.read_resource(uri, owner)).contents]

    async def _owner(self, uri: str) -> str | None:
        """The server that has a resource; None to let mcpyard find it."""
        linking = self._links.get(uri, set())
        if len(linking) > 1:
            names = ", ".join(sorted(linking))
            raise InputError(f"several servers have {uri[:200]}: {names}; name the server")
        if linking or self._allowed is None:
            return next(iter(linking), None)
        for name in sorted(self._allowed):
            if any(each.uri == uri for each in await self._source.list_resources(name)):
                return name
        raise InputError(f"no server of this conversation lists {uri[:200]}; name the server")


def reading_resources(source: ResourceSource, *, everywhere: bool) -> Extension:
    """Adds a tool that reads the resources of all servers, or of those with tools here."""
    links: dict[str, set[str]] = {}

    def extend(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        servers = frozenset(each.origin for each in tools if each.origin != OWN)
        reader = ResourceReader(source, None if everywhere else servers, links)
        return (reader.tool(), *reader.noting_links(tools))

    return extend
