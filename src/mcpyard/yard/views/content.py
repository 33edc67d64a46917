"""Resources and prompts of servers, as a program reads them."""

from collections.abc import Mapping
from typing import Annotated

import orjson
from msgspec import Meta, Struct

from mcpyard.domain.narrowing import list_of, object_of, texts_of
from mcpyard.yard.calls.parts import Part, Resource, Text, read_parts
from mcpyard.yard.views.base import View


class ResourceView(View, frozen=True, kw_only=True):
    """A resource that a server lists."""

    server: str
    uri: Annotated[str, Meta(description="As the server itself calls it.")]
    name: str
    title: str | None
    description: str | None
    mime_type: str | None
    size: int | None
    annotations: Mapping[str, object]


class ResourceTemplateView(View, frozen=True, kw_only=True):
    """A template for the addresses of resources that a server does not list."""

    server: str
    uri_template: str
    name: str
    title: str | None
    description: str | None
    mime_type: str | None


class PromptArgumentView(View, frozen=True, kw_only=True):
    """An argument of a prompt."""

    name: str
    description: str | None
    required: bool


class PromptView(View, frozen=True, kw_only=True):
    """A prompt that a server offers."""

    server: str
    name: str
    title: str | None
    description: str | None
    arguments: tuple[PromptArgumentView, ...]


class ContentsView(View, frozen=True, kw_only=True):
    """What a resource holds."""

    contents: Annotated[
        list[dict[str, object]],
        Meta(description="As the server sent them: `uri`, `mimeType`, and `text` or `blob`."),
    ]


class FilledPromptView(View, frozen=True, kw_only=True):
    """A prompt, filled in."""

    description: str | None
    messages: Annotated[
        list[dict[str, object]],
        Meta(description="As the server sent them: `role` and `content`."),
    ]


class CompletionView(View, frozen=True, kw_only=True):
    """What the value of an argument may be."""

    values: list[str]
    total: int | None
    has_more: bool


class LogLevelView(View, frozen=True, kw_only=True):
    """The log messages that mcpyard asks a server for."""

    level: Annotated[
        str | None, Meta(description="The least level; null for what the server sends by itself.")
    ]


class ResourceContents(Struct, frozen=True):
    """What a resource holds: one or more parts, each with its text or its bytes in base64.

    Attributes:
        contents: The parts in order.
    """

    contents: tuple[Resource, ...]

    @property
    def text(self) -> str:
        """All parts that are texts, one after the other."""
        return "\n".join(each.text for each in self.contents if each.text is not None)


class PromptMessage(Struct, frozen=True):
    """A message of a prompt, or of a request for a model's answer.

    Attributes:
        role: `user` or `assistant`.
        parts: Its content.
    """

    role: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """Its text."""
        return "\n".join(each.text for each in self.parts if isinstance(each, Text))


class PromptResult(Struct, frozen=True):
    """A prompt, filled in.

    Attributes:
        description: What it is for.
        messages: Its messages in order.
    """

    description: str | None
    messages: tuple[PromptMessage, ...]


def resource_views(server: str, result: bytes) -> list[ResourceView]:
    """The resources in the list of a server."""
    return [
        ResourceView(
            server=server,
            uri=uri,
            name=_text(each, "name") or uri,
            title=_text(each, "title"),
            description=_text(each, "description"),
            mime_type=_text(each, "mimeType"),
            size=size if isinstance(size := each.get("size"), int) else None,
            annotations=object_of(each.get("annotations")),
        )
        for each in _items(result, "resources")
        if (uri := _text(each, "uri"))
    ]


def template_views(server: str, result: bytes) -> list[ResourceTemplateView]:
    """The resource templates in the list of a server."""
    return [
        ResourceTemplateView(
            server=server,
            uri_template=template,
            name=_text(each, "name") or template,
            title=_text(each, "title"),
            description=_text(each, "description"),
            mime_type=_text(each, "mimeType"),
        )
        for each in _items(result, "resourceTemplates")
        if (template := _text(each, "uriTemplate"))
    ]


def prompt_views(server: str, result: bytes) -> list[PromptView]:
    """The prompts in the list of a server."""
    return [
        PromptView(
            server=server,
            name=name,
            title=_text(each, "title"),
            description=_text(each, "description"),
            arguments=tuple(_argument(object_of(one)) for one in list_of(each.get("arguments"))),
        )
        for each in _items(result, "prompts")
        if (name := _text(each, "name"))
    ]


def resource_contents(result: bytes) -> ResourceContents:
    """What the result of reading a resource holds."""
    parts = [
        Resource(
            _text(each, "uri") or "",
            _text(each, "mimeType"),
            _text(each, "text"),
            _text(each, "blob"),
        )
        for each in _items(result, "contents")
    ]
    return ResourceContents(tuple(parts))


def prompt_result(result: bytes) -> PromptResult:
    """The prompt in a result."""
    members = object_of(orjson.loads(result))
    return PromptResult(_text(members, "description"), messages_of(members.get("messages")))


def contents_view(result: bytes) -> ContentsView:
    """What the result of reading a resource holds, as the server sent it."""
    return ContentsView(contents=_items(result, "contents"))


def filled_prompt_view(result: bytes) -> FilledPromptView:
    """The prompt in a result, as the server sent it."""
    members = object_of(orjson.loads(result))
    return FilledPromptView(
        description=_text(members, "description"), messages=_items(result, "messages")
    )


def completion_view(result: bytes) -> CompletionView:
    """The completion in a result."""
    completion = object_of(object_of(orjson.loads(result)).get("completion"))
    total = completion.get("total")
    return CompletionView(
        values=texts_of(completion.get("values")),
        total=total if isinstance(total, int) else None,
        has_more=completion.get("hasMore") is True,
    )


def messages_of(listed: object) -> tuple[PromptMessage, ...]:
    """The messages in a list of them."""
    messages = map(object_of, list_of(listed))
    return tuple(
        PromptMessage(_text(each, "role") or "user", read_parts(each.get("content")))
        for each in messages
    )


def _argument(members: Mapping[str, object]) -> PromptArgumentView:
    return PromptArgumentView(
        name=_text(members, "name") or "",
        description=_text(members, "description"),
        required=members.get("required") is True,
    )


def _items(result: bytes, key: str) -> list[dict[str, object]]:
    return [object_of(each) for each in list_of(object_of(orjson.loads(result)).get(key))]


def _text(members: Mapping[str, object], key: str) -> str | None:
    value = members.get(key)
    return value if isinstance(value, str) else None
