"""One call on the page: opened, and sent again with other arguments."""

import json

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.definition.secret_text import MASKED
from mcpyard.domain.errors import CallUnknown, NotFound
from mcpyard.web import requests
from mcpyard.web.filters import pretty
from mcpyard.web.server_screens.filled_form import filled_form
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.server_screens.schema_form import form_of, takes_nothing
from mcpyard.web.templating import TemplateData, answer, preferences_of
from mcpyard.yard.calls.inspection import inspect_call, recorded_arguments
from mcpyard.yard.views.calls import RecordedTextView


class CallInspector:
    """Shows what is recorded of calls. Its routes take the key of the session, as changes do."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._yard = presenter.yard

    async def show(self, request: Request) -> Response:
        """A call, with everything that is recorded of it."""
        call = await inspect_call(self._yard, _call(request), str(request.base_url))
        parts = {"arguments": call.arguments, "result": call.result}
        texts = {name: _indented(text) for name, text in parts.items() if text}
        data: TemplateData = {"call": call, "texts": texts}
        data |= {"recording": await self._yard.calls.recording.state()}
        data |= {"has_tool": self._has_tool(call.server_id, call.tool)}
        return answer(request, "dialogs/call.html", data)

    async def edit(self, request: Request) -> Response:
        """The form of the tool with the arguments of a call, to send them again."""
        record, contents = await self._yard.calls.recording.get(_call(request))
        route = self._yard.route(str(record.server), record.tool)
        tool = next(
            each for each in self._yard.tools(str(record.server)) if each.name == record.tool
        )
        arguments, again = recorded_arguments(contents), preferences_of(request).words
        plain = form_of(route.tool.input_schema)
        form = filled_form(plain, arguments, again("call.masked_field")) if arguments else None
        text = pretty(arguments or {})
        data: TemplateData = {
            "call": record,
            "tool": tool,
            "ref": str(route.server),
            "form": form or plain,
            "plain": takes_nothing(route.tool.input_schema),
            "running": None,
            "raw": text if arguments and form is None else "",
            "masked": MASKED in text,
            "known": arguments is not None,
            "destructive": tool.annotations.get("destructiveHint") is True,
        }
        return answer(request, "dialogs/resend.html", data)

    def _has_tool(self, server: str, tool: str) -> bool:
        try:
            self._yard.route(server, tool)
        except NotFound:
            return False
        return True


def _call(request: Request) -> int:
    text = requests.part(request, "call")
    number = whole_number(text)
    if number is None:
        raise CallUnknown(f'there is no call "{text[:80]}"')
    return number


def _indented(text: RecordedTextView) -> str:
    """JSON on several lines; what was cut is no JSON any more."""
    try:
        return json.dumps(json.loads(text.text), indent=2, ensure_ascii=False)
    except ValueError:
        return text.text
