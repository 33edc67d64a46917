"""Which refused requests are sign-ins that failed, for the audit log: never with the secret."""

from typing import TYPE_CHECKING, Final

from mcpyard.api.audit import Audit
from mcpyard.api.security.incoming import Incoming
from mcpyard.api.security.keys import PREFIX, Keys, hashed
from mcpyard.asgi_scope import Principal

if TYPE_CHECKING:
    from starlette.responses import Response

_UNAUTHORIZED: Final = 401
_NAMES: Final = {
    421: ("wrong-host", (b"host",)),
    403: ("foreign-origin", (b"origin", b"sec-fetch-site")),
}
"""By the status of a refusal: its reason, and the headers that may hold the name."""


class SignInRefusals:
    """Notes the refused sign-ins of one yard."""

    def __init__(self, audit: Audit, keys: Keys) -> None:
        self._audit = audit
        self._keys = keys

    def names(self, incoming: Incoming, answer: "Response") -> None:
        """Note a request that came under a wrong host name, or from another origin."""
        if refusal := _NAMES.get(answer.status_code):
            reason, headers = refusal
            name = next(filter(None, map(incoming.header, headers)), "")
            self._audit.refuse(reason, incoming, answer.status_code, name=name)

    def token(self, incoming: Incoming, answer: "Response") -> None:
        """Note a request with a token that opens nothing; one without a token is no sign-in."""
        sent = incoming.header(b"authorization")
        if answer.status_code != _UNAUTHORIZED or sent is None:
            return
        reason, who = self._reason(sent.partition(" ")[2])
        self._audit.refuse(reason, incoming, answer.status_code, who=who)

    def _reason(self, token: str) -> tuple[str, str]:
        if not token.startswith(PREFIX):
            return "wrong-admin-token", ""
        hash_of_it = hashed(token)
        record = next((each for each in self._keys.tokens.all() if each.hash == hash_of_it), None)
        if record is None:
            return "wrong-call-token", ""
        who = Principal.holding(record).name
        return "revoked-token" if record.revoked else "expired-token", who
