"""Where toolboxes come from: a yard in this process, or one that is attached."""

from mcpyard.agents.toolbox import AgentToolbox
from mcpyard.yard.event_loop import YardLoop
from mcpyard.yard.toolbox.call_approval import Approve, approving
from mcpyard.yard.toolbox.gathering import Extension, Local, Offering, Own, Select, extended, gather
from mcpyard.yard.toolbox.long_results import cutting_results
from mcpyard.yard.toolbox.resource_reading import ResourceSource, reading_resources
from mcpyard.yard.toolbox.tool_search import MAX_TOOLS, with_limit


class ToolboxSource(Offering, ResourceSource):
    """Makes toolboxes; a part of `Yard` and `AttachedYard`."""

    _loop: YardLoop

    def toolbox(  # noqa: PLR0913  one parameter a choice of the caller's
        self,
        own: Own = (),
        select: Select | None = None,
        *,
        local: Local | None = None,
        read_resource: bool = False,
        approve: Approve | None = None,
        max_tools: int = MAX_TOOLS,
        max_result: int | None = None,
    ) -> AgentToolbox:
        """Return the tools of one conversation: server tools and the application's own.

        Args:
            own: Typed functions, or tools created with `own_tool`.
            select: The server tools to include: a predicate on a tool, or patterns such as
                `mcp_files_*` and `files/read_*`; default all.
            local: Functions, by exposed name, that answer if neither the server nor its
                fallback servers do.
            read_resource: Add the tool `read_resource`, by which the agent reads resources, such
                as those that results link to; with `select`, of the selected servers only.
            approve: Which calls need approval: `destructive`, `write` (all tools that are not
                read-only) or `all`, where the agent library asks the person; a function of an
                `ApprovalRequest` that allows or refuses each call; or a `ToolApproval`.
            max_tools: The number of tools over which `warnings` has a warning.
            max_result: The most characters of a result; a longer one is cut, and the added tool
                `read_more` reads on. Default no limit.

        Raises:
            ValueError: `approve` is not a rule that exists, or `max_result` is less than 1.
            NameTaken: Two of the application's own tools have the same name.
        """
        extensions: list[Extension] = []
        if read_resource:
            extensions.append(reading_resources(self, everywhere=select is None))
        if max_result is not None:
            extensions.append(cutting_results(max_result))
        if approve is not None:
            extensions.append(approving(approve))
        gathered = gather(self, own, select, local, loop=self._loop)
        if extensions:
            gathered = extended(gathered, extensions)
        return AgentToolbox.of(with_limit(gathered, max_tools))
