"""Prompts and resources of a server on its page: filled in, read, followed, downloaded."""

import asyncio
import base64
import binascii
import hashlib
from collections.abc import AsyncGenerator, Iterable, Mapping
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from mcpyard.domain.errors import ArgumentsRefused, Problem, YardError
from mcpyard.domain.narrowing import is_array, object_of
from mcpyard.web import requests
from mcpyard.web.problems import error_data
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.server_screens.tool_results import ResultBlock, part_blocks, resource_blocks
from mcpyard.web.stream import HEARTBEAT, frame
from mcpyard.web.templating import Preferences, TemplateData, answer, preferences_of, render
from mcpyard.web.uri_expansion import expanded, variables_of
from mcpyard.yard.content_access import PROMPT, TEMPLATE, ContentAccess, set_log_level

_ARGUMENT: Final = "arg:"
"""Begins the names of fields that hold an argument or a variable."""

_MOST_SHOWN: Final = 100


class ContentPages:
    """Shows what servers have beside tools; its streams end when `closing` is set."""

    def __init__(self, presenter: ServerPresenter, closing: asyncio.Event) -> None:
        self._yard = presenter.yard
        self._closing = closing

    async def part(self, request: Request, ref: str, show: str) -> TemplateData:
        """What the tab of prompts, or of resources, of a server shows."""
        access = self._access(request)
        try:
            if show == "prompts":
                return {"prompts": await access.prompts(ref), "error": "", **self._able(ref)}
            resources, templates = await access.resources(ref), await access.templates(ref)
        except YardError as error:
            return error_data(request, error)
        fields = [(each, variables_of(each.uri_template)) for each in templates]
        return {"resources": resources, "templates": fields, "error": "", **self._able(ref)}

    async def prompt(self, request: Request) -> Response:
        """A prompt, filled in."""
        ref, name = requests.part(request, "ref"), requests.part(request, "prompt")
        arguments = _arguments((await requests.form(request)).pairs())
        try:
            prompt = await self._access(request).prompt(ref, name, arguments)
        except YardError as error:
            return answer(request, "parts/content_error.html", error_data(request, error))
        messages = await asyncio.to_thread(
            lambda: [(str(each.get("role")), _message(each)) for each in prompt.messages]
        )
        data: TemplateData = {"prompt": prompt, "messages": messages, "ref": ref}
        return answer(request, "parts/prompt_messages.html", data)

    async def complete(self, request: Request) -> Response:
        """What an argument of a prompt, or a variable of a template, may be."""
        query = request.query_params
        name, typed = query.get("argument", ""), _arguments(query.multi_items())
        reference = (
            {"type": PROMPT, "name": query["prompt"]}
            if "prompt" in query
            else {"type": TEMPLATE, "uri": query.get("template", "")}
        )
        value = typed.pop(name, "")
        ref = requests.part(request, "ref")
        try:
            completion = await self._access(request).complete(ref, reference, (name, value), typed)
        except YardError:
            # A form without proposals is better than a notice at every key.
            return answer(request, "parts/completions.html", {"values": []})
        return answer(
            request, "parts/completions.html", {"values": completion.values[:_MOST_SHOWN]}
        )

    async def read(self, request: Request) -> Response:
        """What a resource holds."""
        uri = request.query_params.get("uri", "")
        follow = "follow" in request.query_params
        return await self._read(request, requests.part(request, "ref"), uri, follow=follow)

    async def read_template(self, request: Request) -> Response:
        """What the resource holds whose address a template and its variables give."""
        form = await requests.form(request)
        uri = expanded(form["template"], _arguments(form.pairs()))
        return await self._read(request, requests.part(request, "ref"), uri, follow=False)

    async def download(self, request: Request) -> Response:
        """The first part of a resource as a file."""
        ref, uri = requests.part(request, "ref"), request.query_params.get("uri", "")
        contents = (await self._access(request).read(ref, uri)).contents
        part = contents[0] if contents else {}
        name = quote(unquote(urlsplit(uri).path).rpartition("/")[2] or "resource", safe="")
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
            "X-Content-Type-Options": "nosniff",
        }
        return Response(_bytes(part), headers=headers, media_type="application/octet-stream")

    async def updates(self, request: Request) -> Response:
        """A resource each time that it changes, as a stream."""
        ref, uri = requests.part(request, "ref"), request.query_params.get("uri", "")
        frames = self._frames(preferences_of(request), self._access(request), ref, uri)
        headers = {"X-Accel-Buffering": "no"}
        return StreamingResponse(frames, media_type="text/event-stream", headers=headers)

    async def log_level(self, request: Request) -> Response:
        """Ask a server for log messages of a level."""
        level = (await requests.form(request))["level"]
        set_log_level(self._yard, requests.part(request, "ref"), level or None)
        return Response(status_code=204)

    async def _read(self, request: Request, ref: str, uri: str, *, follow: bool) -> Response:
        try:
            if not uri:
                raise ArgumentsRefused.of(Problem("uri", "must name the resource"))
            contents = (await self._access(request).read(ref, uri)).contents
        except YardError as error:
            return answer(request, "parts/content_error.html", error_data(request, error))
        blocks = await asyncio.to_thread(resource_blocks, contents)
        able = self._able(ref)
        data = {"ref": ref, "uri": uri, "blocks": blocks, "follow": follow, "key": _key(uri)}
        return answer(request, "parts/resource.html", data | able)

    async def _frames(
        self, preferences: Preferences, access: ContentAccess, ref: str, uri: str
    ) -> AsyncGenerator[bytes]:
        changes = _Changes()
        listening = asyncio.create_task(access.listen(ref, [uri], changes))
        closing = asyncio.create_task(self._closing.wait())
        for each in (listening, closing):
            each.add_done_callback(lambda _: changes.changed.set())
        try:
            yield b": listening\n\n"
            while not (listening.done() or closing.done()):
                if await changes.within(HEARTBEAT):
                    yield frame(_key(uri), await _news(preferences, access, ref, uri))
                else:
                    yield b":\n\n"
        finally:
            closing.cancel()
            listening.cancel()
            await asyncio.wait({listening})

    def _able(self, ref: str) -> TemplateData:
        """What a server can do with its prompts and resources."""
        session = self._yard.directory.observed(self._yard.server(ref).id).session
        able: Mapping[str, object] = session.capabilities if session else {}
        subscribes = object_of(able.get("resources")).get("subscribe") is True
        return {"completes": "completions" in able, "subscribes": subscribes}

    def _access(self, request: Request) -> ContentAccess:
        return ContentAccess(self._yard, requests.caller(request))


class _Changes:
    """Whether a resource changed since it was last looked at (see `UpdateListener`)."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()

    def begun(self) -> None:
        # What changed before the subscription stood was not reported.
        self.changed.set()

    def updated(self, uri: str) -> None:
        del uri
        self.changed.set()

    async def within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self.changed.wait()
        except TimeoutError:
            return False
        self.changed.clear()
        return True


async def _news(preferences: Preferences, access: ContentAccess, ref: str, uri: str) -> str:
    blocks: list[ResultBlock] = []
    try:
        blocks = resource_blocks((await access.read(ref, uri)).contents)
        error = ""
    except YardError as failure:
        error = preferences.words.say(failure.message)
    data = {"ref": ref, "key": _key(uri), "blocks": blocks, "error": error}
    return render(preferences, "parts/resource_news.html", data)


def _message(message: Mapping[str, object]) -> list[ResultBlock]:
    content = message.get("content")
    return part_blocks(content if is_array(content) else [content])


def _arguments(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The arguments that were given, among the fields of a form."""
    return {
        name.removeprefix(_ARGUMENT): value
        for name, value in pairs
        if name.startswith(_ARGUMENT) and value
    }


def _bytes(part: Mapping[str, object]) -> bytes:
    if isinstance(text := part.get("text"), str):
        return text.encode("utf-8", "replace")
    try:
        return base64.b64decode(str(part.get("blob") or ""))
    except binascii.Error:
        return b""


def _key(uri: str) -> str:
    """Names a resource in the ids of a page."""
    return hashlib.sha256(uri.encode("utf-8", "replace")).hexdigest()[:12]
