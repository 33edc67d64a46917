"""The outermost layer: nothing reaches a route, a mount or a stream but through this door.

In this order: the names a request uses (`host_names`), who asks and what that one may do
(`authenticator`), the size of the body. Whatever is answered, also a refusal, carries the strict
headers (`headers`), fewer of them where only programs read it. What changed something is noted
(`audit`), and so are refused sign-ins (`sign_in_refusals`). The path is given on as it was sent,
still quoted, because names may hold a slash.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcpyard.api.audit import Audit
from mcpyard.api.problems import problem_of
from mcpyard.api.responses import refuse
from mcpyard.api.security.authenticator import ADMIN, Authenticator
from mcpyard.api.security.headers import BRIEF, STRICT, strictly
from mcpyard.api.security.host_names import AllowedNames
from mcpyard.api.security.incoming import CALLBACK, LOGIN, Incoming
from mcpyard.api.security.keys import Keys
from mcpyard.api.security.known_heads import Head, Heads
from mcpyard.api.security.sign_in_refusals import SignInRefusals
from mcpyard.asgi_scope import KNOWN_HEAD, Principal, annotate
from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.errors import TooLarge

if TYPE_CHECKING:
    from starlette.responses import Response

BODY_LIMIT: Final = 4 * 1024 * 1024

_TOO_LARGE: Final = f"the body is larger than {BODY_LIMIT} bytes"
_OPENED_BY: Final = {LOGIN: "link", CALLBACK: "sign-in"}


class Guard:
    """Lets through what may pass; routes find who sent it in their scope (see `asgi_scope`)."""

    def __init__(
        self, app: ASGIApp, keys: Keys, hosts: Iterable[str], audit: Audit | None = None
    ) -> None:
        self._app = app
        self._keys = keys
        self._names = AllowedNames(hosts)
        self._authenticator = Authenticator(keys)
        self._audit = audit
        self._refusals = SignInRefusals(audit, keys) if audit else None
        self._heads = Heads(BODY_LIMIT)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            return _nothing()
        head = scope.get(KNOWN_HEAD) or Head(scope)
        incoming = self._heads.find(head)
        who = self._authenticator.know(incoming) if incoming else None
        if incoming and who and not self._objects(incoming, who):
            if head.admits is None:
                head.admit(who, self._looking_again(incoming, who))
            onward = annotate(scope, incoming.path, incoming.headers, who)
            return self._app(onward, receive, strictly(send, BRIEF))
        return self._examine(scope, receive, send, head)

    def _objects(self, incoming: Incoming, who: Principal) -> bool:
        """Whether a request whose head was let through before may not pass any more."""
        return who is not ADMIN and self._authenticator.objection(incoming, who) is not None

    def _looking_again(self, incoming: Incoming, who: Principal) -> Callable[[], bool]:
        """What tells whether the same head from the same sender may still pass."""
        if who is ADMIN:
            return self._authenticator.admin_check(incoming)

        def passes() -> bool:
            now = self._authenticator.know(incoming)
            return now is not None and now.name == who.name and not self._objects(incoming, now)

        return passes

    async def _examine(self, scope: Scope, receive: Receive, send: Send, head: Head) -> None:
        incoming = Incoming.of(scope)
        sending = strictly(send, BRIEF if incoming.is_gateway else STRICT)
        if refusal := self._names.objection(incoming):
            if self._refusals:
                self._refusals.names(incoming, refusal)
            await refusal(scope, receive, sending)
            return
        who = self._authenticator.know(incoming)
        await self._authenticator.fetch_ticket(incoming, who)
        if self._audit and (name := _worth_a_note(incoming, who)):
            sending = self._audit.noting(name, incoming, sending)
        if refusal := self._authenticator.objection(incoming, who) or _too_large(incoming):
            if self._refusals:
                self._refusals.token(incoming, refusal)
            await refusal(scope, receive, sending)
            return
        if who and who.session:
            await self._keys.renew(who.session)
        self._heads.add(head, incoming)
        app = self._app
        if who and incoming.is_stream and not incoming.changes:
            app = self._keys.revocations.watching(app, who.name)
        onward = annotate(scope, incoming.path, incoming.headers, who)
        await app(onward, _limited(receive), sending)


async def _nothing() -> None:
    pass


def _worth_a_note(incoming: Incoming, who: Principal | None) -> str | None:
    """Whose name stands in the audit log, if the request belongs there.

    A stranger changes nothing; its refusal is noted by itself. What goes through the gateway stands
    in the journal of calls.
    """
    if opened_by := _OPENED_BY.get(incoming.path):
        return opened_by
    return who.name if who and incoming.changes and not incoming.is_gateway else None


def _too_large(incoming: Incoming) -> "Response | None":
    length = incoming.header(b"content-length") or "0"
    fits = whole_number(length, BODY_LIMIT) is not None
    return None if fits else refuse(problem_of(TooLarge(_TOO_LARGE)))


def _limited(receive: Receive) -> Receive:
    """A body that does not say its length is counted as it comes."""
    taken = 0

    async def counted() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > BODY_LIMIT:
            raise TooLarge(_TOO_LARGE)
        return message

    return counted
