"""Resources, prompts and the log level of servers for REST and the page."""

from collections.abc import Mapping, Sequence
from typing import Final

from mcpyard.domain.errors import ArgumentsRefused, CallRefused, Problem
from mcpyard.domain.interests import LEVELS
from mcpyard.domain.ports import NotificationInterest
from mcpyard.yard.server_content import (
    GET_PROMPT,
    PROMPTS,
    READ,
    RESOURCES,
    TEMPLATES,
    UpdateListener,
    check_connected,
)
from mcpyard.yard.views.content import (
    CompletionView,
    ContentsView,
    FilledPromptView,
    PromptView,
    ResourceTemplateView,
    ResourceView,
    completion_view,
    contents_view,
    filled_prompt_view,
    prompt_views,
    resource_views,
    template_views,
)
from mcpyard.yard.yard import YardCore

COMPLETE: Final = "completion/complete"
PROMPT: Final = "ref/prompt"
TEMPLATE: Final = "ref/resource"

_WRONG_INPUT: Final = frozenset({-32602, -32002})
"""The codes of errors that say that a parameter is wrong, or that there is no such resource."""

_NAMED_BY: Final = {READ: "uri", GET_PROMPT: "prompt"}

_INTEREST: Final = "mcpyard"
"""Names the interest of mcpyard's own user in log messages, beside those of clients."""


class ContentAccess:
    """What servers have beside tools, in one caller's name."""

    def __init__(self, yard: YardCore, who: str) -> None:
        self._yard = yard
        self._requests = yard.gateway.of(who)

    async def resources(self, ref: str) -> list[ResourceView]:
        """The resources that a server lists."""
        return resource_views(*await self._ask(ref, RESOURCES, {}))

    async def templates(self, ref: str) -> list[ResourceTemplateView]:
        """The resource templates of a server."""
        return template_views(*await self._ask(ref, TEMPLATES, {}))

    async def prompts(self, ref: str) -> list[PromptView]:
        """The prompts of a server."""
        return prompt_views(*await self._ask(ref, PROMPTS, {}))

    async def read(self, ref: str, uri: str) -> ContentsView:
        """Read a resource.

        Raises:
            ArgumentsRefused: The server does not have it.
        """
        return contents_view((await self._ask(ref, READ, {"uri": uri}))[1])

    async def prompt(self, ref: str, name: str, arguments: Mapping[str, str]) -> FilledPromptView:
        """A prompt, filled in with arguments.

        Raises:
            ArgumentsRefused: The server has no such prompt, or refuses the arguments.
        """
        params = {"name": name, "arguments": dict(arguments)}
        return filled_prompt_view((await self._ask(ref, GET_PROMPT, params))[1])

    async def complete(
        self,
        ref: str,
        reference: Mapping[str, str],
        argument: tuple[str, str],
        others: Mapping[str, str],
    ) -> CompletionView:
        """What an argument's value may be, from how it begins and what others are.

        Args:
            ref: The server.
            reference: The prompt or the template, as the protocol refers to it.
            argument: The name of the argument, and what of it is typed.
            others: The values of other arguments.
        """
        name, value = argument
        params = {
            "ref": dict(reference),
            "argument": {"name": name, "value": value},
            "context": {"arguments": dict(others)},
        }
        return completion_view((await self._ask(ref, COMPLETE, params))[1])

    async def listen(self, ref: str, uris: Sequence[str], listener: UpdateListener) -> None:
        """Report changes of resources until cancelled."""
        await self._requests.listen(self._name(ref), uris, listener)

    async def _ask(self, ref: str, method: str, params: Mapping[str, object]) -> tuple[str, bytes]:
        """The name of a server, and its result."""
        name = self._name(ref)
        try:
            return name, await self._requests.request(name, method, params)
        except CallRefused as refused:
            if refused.code not in _WRONG_INPUT:
                raise
            problem = Problem(_NAMED_BY.get(method, "argument"), refused.message)
            raise ArgumentsRefused.of(problem).about(name) from refused

    def _name(self, ref: str) -> str:
        return check_connected(self._yard.record(ref, tools=False))


def set_log_level(yard: YardCore, ref: str, level: str | None) -> None:
    """Ask a server for log messages of a level and above, also after its restarts.

    Raises:
        ArgumentsRefused: There is no such level.
    """
    if level is not None and level not in LEVELS:
        raise ArgumentsRefused.of(Problem("level", f"must be one of {', '.join(LEVELS)}, or null"))
    yard.notifications.set_interest(_INTEREST, yard.server(ref).id, NotificationInterest(level))


def log_level(yard: YardCore, ref: str) -> str | None:
    """The log level that was asked for."""
    return yard.notifications.interest(_INTEREST, yard.server(ref).id).log_level
