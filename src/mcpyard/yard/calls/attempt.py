"""One call of one tool: whose it is, how it ended, and what is noted of it."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from mcpyard.catalog.routes import Route
from mcpyard.domain.call_contents import WINDOW, CallTrace
from mcpyard.domain.callers import Caller
from mcpyard.domain.edges import edge
from mcpyard.domain.errors import CallRefused, TimedOut, YardError
from mcpyard.domain.ports import Clock, RequestHandler
from mcpyard.domain.started_calls import StartedCall
from mcpyard.yard.calls.accounts import OK, TOOL_ERROR, Accounts
from mcpyard.yard.calls.breakers import ToolBreaker
from mcpyard.yard.calls.fallback import Fallback, name_server
from mcpyard.yard.calls.results import GLANCE, IS_ERROR, TASK_TYPE, check_result, says_error

if TYPE_CHECKING:
    from mcpyard.yard.calls.recorder import CallRecorder

CANCELLED: Final = "cancelled"

_ELICIT: Final = "elicitation/create"


class CallBooks(NamedTuple):
    """Where calls are noted."""

    fallback: Fallback
    accounts: Accounts
    clock: Clock


class Attempt(Struct, eq=False):
    """A call; however it ends, `over` accounts for it.

    No context manager: to enter and leave one costs as much as all that is counted here.

    Attributes:
        books: Where it is noted.
        route: The tool.
        who: The caller, for the journal.
        caller: Whose quota it uses up.
        arguments: A JSON object.
        began: When it began.
        named: Whether its errors name the server.
        probe: The breaker of a tool that it tries again.
        started: The call on its way, where it was begun without waiting for it.
        ms: How long it took, once it is over.
        waited: Seconds that it waited before it was sent.
        limit: Seconds that it may take with that.
        passed_over: Servers that were skipped before, and why.
        answers: What a person answered to the server meanwhile, as JSON.
    """

    books: CallBooks
    route: Route
    who: str
    caller: Caller
    arguments: bytes
    began: float
    named: bool = True
    started: StartedCall | None = None
    ms: float = 0.0
    _result: bytes = b""
    _ended: str = CANCELLED
    probe: ToolBreaker | None = None
    waited: float = 0.0
    limit: float = 0.0
    passed_over: Sequence[tuple[str, str]] = ()
    answers: Sequence[bytes] = ()

    @property
    def call(self) -> StartedCall:
        """The call on its way, of one that was started."""
        return self.started  # pyright: ignore[reportReturnType]

    def taken(self, raw: bytes) -> bytes:
        """Take what the server answered; the result object as it came.

        Raises:
            ProtocolBroken: It is none.
        """
        self._result = raw
        # Almost every result is a short object that says neither of the two.
        if TASK_TYPE in raw or raw[:1] != b"{":
            check_result(raw)
        may_be_error = len(raw) > GLANCE or IS_ERROR in raw
        self._ended = TOOL_ERROR if may_be_error and says_error(raw) else OK
        fallback = self.books.fallback
        if fallback.breakers.known:
            fallback.answered(self.route)
        return raw

    def over(self, error: BaseException | None = None) -> None:
        """The call ended, with this error unless it was answered."""
        fallback, accounts, clock = self.books
        if error is not None and isinstance(error, YardError):
            self._ended = edge(error).problem
            if self.waited and isinstance(error, TimedOut) and error.sent:
                self._say_all_of_its_time(error)
            fallback.failed(self.route, error, waited=self.waited > self.limit / 2)
            if self.named:
                name_server(error, self.route.server_name)
        self.caller.calls -= 1
        if self.probe:
            self.probe.trying = False
        now = clock.monotonic()
        self.ms = ms = (now - self.began) * 1000
        sizes = len(self.arguments), len(self._result)
        record = self._trace(accounts.recorder, now, error) if accounts.recorder else None
        accounts.note(self.route, self.who, ms, self._ended, sizes, record)

    def _say_all_of_its_time(self, error: TimedOut) -> None:
        """Let an error name the whole limit: the server was asked with what was left of it."""
        times = f"{self.limit:g} s, {min(self.waited, self.limit):.3g} s of them before it was sent"
        error.message = f"tools/call was not answered in time ({times})"
        error.args = (error.message,)

    def _trace(
        self, recorder: "CallRecorder", now: float, error: BaseException | None
    ) -> CallTrace | None:
        """What is recorded of the call, if there is room for it."""
        if not recorder.has_room(self.route, now, failed=self._ended != OK):
            return None
        message, details = "", None
        if error is not None:
            # Not the error itself: it holds the frames that it went through.
            message = str(error) or self._ended
            details = error.data if isinstance(error, CallRefused) else None
        times = self.waited * 1000, self.passed_over
        arguments, result = self.arguments[:WINDOW], self._result[:WINDOW]
        trace = CallTrace(arguments, result, message, details, *times, self.answers)
        return recorder.admit(trace)

    def asking(self, handler: RequestHandler | None) -> RequestHandler | None:
        """A handler of the server's questions that notes the answers, where calls are recorded."""
        if handler is None or self.books.accounts.recorder is None:
            return handler
        # A list and not the attempt: the call on its way would hold what holds it.
        self.answers = answers = list[bytes]()
        return partial(_ask, handler, answers)


async def _ask(handler: RequestHandler, answers: list[bytes], method: str, params: bytes) -> bytes:
    """Have a question of a server answered; what a person said is masked where it is repeated."""
    reply = await handler(method, params)
    if method == _ELICIT:
        answers.append(reply[:WINDOW])
    return reply
