"""A call of a tool on the page: begun, followed, answered, cancelled."""

import asyncio
from collections import Counter
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.errors import ArgumentsRefused, Problem, YardError
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import Wanted
from mcpyard.web import requests
from mcpyard.web.problems import error_data
from mcpyard.web.server_screens.json_arguments import read_arguments
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.server_screens.running_calls import PageCall, PageCalls, PageQuestion, Reply
from mcpyard.web.server_screens.schema_form import FormField, form_of
from mcpyard.web.server_screens.tool_results import outcome_blocks
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.server_questions import ElicitAnswer, ElicitRequest

SHORT: Final = 0.4
"""Seconds within which the answer of a call comes with the answer to its form."""

POLL: Final = 20.0
"""Seconds after which a browser that follows a call asks anew."""

MOST_FOLLOWED: Final = 2
"""Calls that a browser follows by requests that wait.

A browser has six connections to a host, for all its windows; more calls are asked for every two
seconds.
"""

GATHER: Final = 0.1
_UNCHANGED: Final = 204
START_WAIT: Final = 60.0


class RunRoutes:
    """Runs tools of a yard for the page; what is followed ends when `closing` is set."""

    def __init__(self, presenter: ServerPresenter, closing: asyncio.Event) -> None:
        self._presenter = presenter
        self._yard = presenter.yard
        self._closing = closing
        self.calls = PageCalls()
        self._followed: Counter[str] = Counter()

    async def call(self, request: Request) -> Response:
        """Call a tool; a server that somebody stopped stays stopped."""
        ref, name = requests.part(request, "ref"), requests.part(request, "tool")
        sent = (await requests.form(request))["arguments"]
        data: TemplateData = {"sent": sent, "tool": name, "ref": ref, "stopped": None}
        data |= {"cancelled": False}
        try:
            arguments = read_arguments(sent)
            if stopped := self._stopped(ref):
                return answer(request, "parts/result.html", data | {"outcome": None} | stopped)
            call = PageCall(self._yard.route(ref, name), sent, requests.caller(request))
            gateway = self._yard.gateway
            self.calls.add(call)
            call.begin(gateway, arguments, self.calls.ended)
        except YardError as error:
            failed: TemplateData = {"outcome": None, **error_data(request, error)}
            return answer(request, "parts/result.html", data | failed)
        await call.settled(SHORT)
        return await self.shown(request, call)

    async def shown(self, request: Request, call: PageCall) -> Response:
        """A call, running or over."""
        if call.over:
            return answer(request, "parts/result.html", await result_data(request, call))
        return answer(request, "parts/run.html", run_data(call))

    async def follow(self, request: Request) -> Response:
        """What changed of a call since the version that the browser names; waits for it."""
        call = self._call(request)
        whole = {"HX-Retarget": "closest .run", "HX-Reswap": "outerHTML"}
        if call is None:
            return answer(request, "parts/run_lost.html", {}, headers=whole)
        seen = whole_number(request.query_params.get("seen", "")) or 0
        if not await self._wait_for_news(call, seen):
            return Response(status_code=_UNCHANGED)
        if not call.over:
            # What comes at the same time is shown together.
            await asyncio.sleep(GATHER)
        if call.over:
            data = await result_data(request, call)
            return answer(request, "parts/result.html", data, headers=whole)
        return answer(request, "parts/run_news.html", run_data(call, seen))

    async def _wait_for_news(self, call: PageCall, seen: int) -> bool:
        """Wait for something new of a call; not where its browser waits for enough already."""
        if self._followed[call.who] >= MOST_FOLLOWED:
            return call.over or call.version > seen
        self._followed[call.who] += 1
        following = asyncio.ensure_future(call.newer_than(seen, POLL))
        closing = asyncio.ensure_future(self._closing.wait())
        try:
            await asyncio.wait({following, closing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._followed[call.who] -= 1
            closing.cancel()
            following.cancel()
        return True

    async def cancel(self, request: Request) -> Response:
        """Cancel a call; its server is told."""
        if call := self._call(request):
            call.cancel()
        return Response(status_code=204)

    async def answer(self, request: Request) -> Response:
        """Answer a question of a server: `accept`, `decline` or `cancel`."""
        form = await requests.form(request)
        call, key = self._call(request), requests.part(request, "question")
        question = call.questions.get(key) if call else None
        if question is None or question.reply.done():
            return answer(request, "parts/question_over.html")
        question.reply.set_result(_reply(question, form))
        return Response("", media_type="text/html")

    async def start(self, request: Request) -> Response:
        """Start the server of a tool, and tell beside the tool what became of it."""
        record = await self._yard.start(requests.part(request, "ref"), wait=START_WAIT)
        return answer(request, "parts/started.html", {"record": record})

    def _call(self, request: Request) -> PageCall | None:
        return self.calls.find(requests.part(request, "run"), requests.caller(request))

    def _stopped(self, ref: str) -> TemplateData | None:
        """What to show of a server that somebody stopped, instead of calling it."""
        record = self._presenter.record(ref)
        idle = record.phase is Phase.STOPPED and record.wanted is Wanted.STOPPED
        return {"stopped": record.name} if idle and record.enabled else None


def run_data(call: PageCall, seen: int = 0) -> TemplateData:
    """A running call, with the questions that came after a version."""
    questions = [each for each in call.questions.values() if each.since > seen]
    return {
        "call": call,
        "ref": str(call.route.server),
        "questions": [(each, _form(each)) for each in questions],
        "gone": [key for key, version in call.gone.items() if version > seen],
    }


async def result_data(request: Request, call: PageCall) -> TemplateData:
    """A call that is over."""
    data: TemplateData = {
        "sent": call.sent,
        "tool": call.route.tool.name,
        "ref": str(call.route.server),
        "stopped": None,
        "outcome": call.outcome,
        "cancelled": call.cancelled,
        "messages": [*call.messages],
    }
    if call.failure:
        return data | error_data(request, call.failure)
    if call.outcome:
        blocks = await asyncio.to_thread(outcome_blocks, call.outcome)
        schema = call.route.tool.output_schema
        data |= {"blocks": blocks, "raw": call.outcome.to_dict(), "output_schema": schema}
    return data


def _form(question: PageQuestion) -> FormField | None:
    inquiry = question.request
    if not isinstance(inquiry, ElicitRequest) or inquiry.url is not None:
        return None
    return form_of(inquiry.schema) if inquiry.schema else None


def _reply(question: PageQuestion, form: requests.Form) -> Reply:
    action = form["action"]
    if not isinstance(question.request, ElicitRequest):
        if action != "accept":
            return None
        text = form["text"]
        if not text.strip():
            raise ArgumentsRefused.of(Problem("text", "must not be empty"))
        return {
            "role": "assistant",
            "content": {"type": "text", "text": text},
            "model": form["model"].strip() or "unknown",
            "stopReason": "endTurn",
        }
    if action == "accept":
        # An address has no form, so nothing is sent with it.
        content = None if question.request.url is not None else read_arguments(form["arguments"])
        return ElicitAnswer("accept", content)
    return ElicitAnswer("decline" if action == "decline" else "cancel")
