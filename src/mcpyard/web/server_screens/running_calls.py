"""Calls of the page while they run: their progress, what their servers ask, and how they end.

A call belongs to no request and to no stream of the page: it goes on when a browser is reloaded or
loses its connection, and is found again by its id or by its tool.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from secrets import token_hex
from typing import Final, TypeAlias

import orjson

from mcpyard.catalog.routes import Route
from mcpyard.domain.errors import OverQuota, YardError
from mcpyard.domain.interests import LEVELS
from mcpyard.domain.narrowing import object_of
from mcpyard.web.filters import inert
from mcpyard.web.server_screens.web_addresses import host_to_open
from mcpyard.yard.calls.call_context import CallContext
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.server_content import InProcessRequests
from mcpyard.yard.server_questions import (
    ElicitAnswer,
    ElicitReply,
    ElicitRequest,
    QuestionAnswerer,
    SampleReply,
    SampleRequest,
)

log = logging.getLogger(__name__)

MOST: Final = 64
"""Calls that run at once, of all browsers."""

MOST_QUESTIONS: Final = 20
MOST_MESSAGES: Final = 50
KEPT: Final = 16
"""Calls that are over and can still be looked at: the answer may have been lost on the way."""

QUESTION_SECONDS: Final = 900.0
"""How long a question waits for the person; the call's own clock stands still meanwhile."""

_LONGEST: Final = 500
_MESSAGE: Final = "notifications/message"

Reply: TypeAlias = ElicitAnswer | Mapping[str, object] | None
"""The answer of a person: what was entered, or a result of the protocol; None for a refusal."""


@dataclass(frozen=True, slots=True)
class CallProgress:
    """How far a call is: `done` of `total`, where the server knows the total."""

    done: float
    total: float | None
    message: str

    @property
    def share(self) -> float | None:
        """The part that is done, from 0 to 1; None where no total is known."""
        if not self.total or self.total < 0:
            return None
        return min(1.0, max(0.0, self.done / self.total))


@dataclass(frozen=True, slots=True)
class LogMessage:
    """A log message that a server sent during a call."""

    level: str
    text: str


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """What a server asks the person at the page.

    Attributes:
        id: Names it within its call.
        request: The question.
        reply: Gets the answer.
        since: The version of the call in which it came.
    """

    id: str
    request: ElicitRequest | SampleRequest
    reply: asyncio.Future[Reply]
    since: int

    @property
    def host(self) -> str:
        """The host of an address that the person is to open; empty where it cannot be opened."""
        url = self.request.url if isinstance(self.request, ElicitRequest) else None
        return host_to_open(url or "")


class PageCall:
    """A call of a tool from the page.

    Attributes:
        id: Names it in addresses of the page.
        route: The tool.
        sent: The arguments as they were typed.
        who: Who called it; nobody else sees it.
        began: When.
        version: Grows with everything that changes.
        progress: What the server last reported.
        messages: The last log messages that the server sent about the call.
        questions: What waits for an answer.
        gone: The questions that are over, with the version in which each ended.
        outcome: How it ended; None while it runs, and when it failed.
        failure: Why it failed.
    """

    def __init__(self, route: Route, sent: str, who: str) -> None:
        self.id = token_hex(8)
        self.route = route
        self.sent = sent
        self.who = who
        self.began = datetime.now(UTC)
        self.version = 1
        self.progress: CallProgress | None = None
        self.messages: deque[LogMessage] = deque(maxlen=MOST_MESSAGES)
        self.questions: dict[str, PageQuestion] = {}
        self.gone: dict[str, int] = {}
        self.outcome: Outcome | None = None
        self.failure: YardError | None = None
        self._ids = count(1)
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def over(self) -> bool:
        """Whether it ended."""
        return self._task is not None and self._task.done()

    @property
    def cancelled(self) -> bool:
        """Whether the person cancelled it."""
        return self.over and self.outcome is None and self.failure is None

    def begin(
        self,
        requests: InProcessRequests,
        arguments: Mapping[str, object],
        on_end: Callable[["PageCall"], None],
    ) -> None:
        """Call the tool."""
        answerer = QuestionAnswerer(self._elicited, self._sampled)
        context = CallContext(
            self.who,
            progress=self._progressed,
            on_notification=self._notified,
            log_level=LEVELS[0],
            fall_back=False,
        )
        call = requests.of(self.who, answerer).call_with(self.route, arguments, context)
        self._task = asyncio.create_task(self._carry(call), name="call of the page")
        self._task.add_done_callback(lambda task: self._ended(task, on_end))

    def cancel(self) -> None:
        """Give it up; the server is told."""
        if self._task:
            self._task.cancel()

    async def newer_than(self, version: int, seconds: float) -> bool:
        """Wait until it is over or something changed since a version; whether it did."""
        return await self._until(lambda: self.version > version, seconds)

    async def settled(self, seconds: float) -> bool:
        """Wait for a short call to end, or for its first question; whether it came to that."""
        return await self._until(lambda: bool(self.questions), seconds)

    async def _until(self, condition: Callable[[], bool], seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                while not (self.over or condition()):
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def _carry(self, call: Coroutine[object, object, Outcome]) -> None:
        try:
            self.outcome = await call
        except YardError as error:
            self.failure = error

    def _ended(self, task: asyncio.Task[None], on_end: Callable[["PageCall"], None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            log.error("a call of the page failed", exc_info=error)
            self.failure = YardError("internal error in mcpyard; see its log")
        on_end(self)
        self._note()

    def _note(self) -> None:
        self.version += 1
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _progressed(self, params: Mapping[str, object]) -> None:
        done, total = params.get("progress"), params.get("total")
        message = params.get("message")
        self.progress = CallProgress(
            float(done) if isinstance(done, int | float) else 0.0,
            float(total) if isinstance(total, int | float) else None,
            inert(message)[:_LONGEST] if isinstance(message, str) else "",
        )
        self._note()

    def _notified(self, method: str, params: bytes) -> None:
        if method != _MESSAGE:
            return
        try:
            members = object_of(orjson.loads(params))
        except ValueError:
            # A number without end, or half a character.
            members = {"data": params.decode(errors="replace")}
        self.messages.append(
            LogMessage(inert(members.get("level", ""))[:20], log_text(members.get("data")))
        )
        self._note()

    async def _elicited(self, request: ElicitRequest) -> ElicitReply:
        return await self._asked(request, ElicitAnswer("cancel"))

    async def _sampled(self, request: SampleRequest) -> SampleReply:
        reply = await self._asked(request, None)
        return None if isinstance(reply, ElicitAnswer) else reply

    async def _asked(self, request: ElicitRequest | SampleRequest, unanswered: Reply) -> Reply:
        if len(self.questions) >= MOST_QUESTIONS:
            raise OverQuota(f"{MOST_QUESTIONS} questions already wait for an answer")
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        question = PageQuestion(str(next(self._ids)), request, reply, self.version + 1)
        self.questions[question.id] = question
        self._note()
        try:
            async with asyncio.timeout(QUESTION_SECONDS):
                return await reply
        except TimeoutError:
            return unanswered
        finally:
            del self.questions[question.id]
            self._note()
            self.gone[question.id] = self.version


class PageCalls:
    """The calls of all browsers."""

    def __init__(self) -> None:
        self._calls: dict[str, PageCall] = {}
        self._over: deque[str] = deque()

    def add(self, call: PageCall) -> None:
        """Keep a call.

        Raises:
            OverQuota: Too many run already.
        """
        if len(self._calls) - len(self._over) >= MOST:
            raise OverQuota(f"{MOST} calls of the page are already running")
        self._calls[call.id] = call

    def find(self, key: str, who: str) -> PageCall | None:
        """The call by that id, if it is this person's."""
        call = self._calls.get(key)
        return call if call and call.who == who else None

    def running(self, route: Route, who: str) -> PageCall | None:
        """The call of a tool that this person began and that still runs."""
        return next(
            (
                each
                for each in self._calls.values()
                if each.who == who
                and not each.over
                and (each.route.server, each.route.tool.name) == (route.server, route.tool.name)
            ),
            None,
        )

    def ended(self, call: PageCall) -> None:
        """A call is over; the oldest of these are forgotten."""
        self._over.append(call.id)
        while len(self._over) > KEPT:
            self._calls.pop(self._over.popleft(), None)


def log_text(data: object) -> str:
    """What a log message of a server says, on one line."""
    text = data if isinstance(data, str) else orjson.dumps(data).decode()
    return inert(text[: 4 * _LONGEST])[:_LONGEST]
