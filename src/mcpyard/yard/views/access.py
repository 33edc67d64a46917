"""Who may come in, and what is shown to whom: tokens, links, profiles."""

from typing import Annotated, Final

from msgspec import Meta

from mcpyard.domain.stored import CallToken
from mcpyard.yard.views.base import Moment, Uuid, View, moment

_SERVERS: Final = "A server's name or id, or a pattern of names with *; default: all."


class ProfileView(View, frozen=True, kw_only=True):
    """A stored selection of servers and tools."""

    name: str
    servers: list[Annotated[str, Meta(description=_SERVERS, min_length=1)]]
    tools: dict[str, dict[str, Annotated[dict[str, object], Meta(extra={"schema": "ToolView"})]]]


class TokenView(View, frozen=True, kw_only=True):
    """A call token, without its secret."""

    id: Uuid
    name: str
    profile: Annotated[str | None, Meta(description="The only profile it opens.")]
    created: Moment
    last_used: Moment | None
    revoked: Moment | None
    expires: Annotated[Moment | None, Meta(description="When it stops working; null for never.")]


class NewTokenView(TokenView, frozen=True, kw_only=True):
    """A call token that was just made, with its secret."""

    token: Annotated[str, Meta(description="Shown this once.")]


class RevocationView(View, frozen=True, kw_only=True):
    """A key that was revoked while some nodes of the cluster could not be told."""

    unconfirmed: Annotated[
        list[str],
        Meta(
            description="The nodes that did not confirm within 2 s. Each refuses the key once it "
            "reaches the database or another node again."
        ),
    ]


class SeenClientView(View, frozen=True, kw_only=True):
    """A client that was seen at the gateway."""

    name: Annotated[str, Meta(description="What it calls itself (`clientInfo.name`).")]
    version: Annotated[str, Meta(description="Its own version; may be empty.")]
    client: Annotated[
        str | None, Meta(description="The id of the client, as in `/api/clients`, if known.")
    ]
    title: str
    last_seen: Annotated[Moment, Meta(description="When it was last heard of.")]
    sessions: Annotated[
        int, Meta(description="Its open sessions; stateless clients have none.", ge=0)
    ]


class LoginLinkView(View, frozen=True, kw_only=True):
    """An address that signs one browser in, once."""

    url: Annotated[str, Meta(description="Good for one browser.")]
    expires: Moment


class TicketView(View, frozen=True, kw_only=True):
    """What opens one stream for a browser."""

    ticket: str
    expires_in: float


class SignInView(View, frozen=True, kw_only=True):
    """Where a sign-in at a remote server begins."""

    authorization_url: str


def token_view(token: CallToken) -> TokenView:
    """The view of a call token."""
    return TokenView(
        id=str(token.id),
        name=token.name,
        profile=token.profile,
        created=moment(token.created),
        last_used=moment(token.last_used),
        revoked=moment(token.revoked),
        expires=moment(token.expires),
    )
