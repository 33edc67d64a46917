"""The sign-ins at a yard's remote servers, where it has any."""

from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from mcpyard.domain.definition.launch import RemoteLaunch
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import NoSignIn, SignInUnknown
from mcpyard.domain.ports import SignIns

_NONE = "this mcpyard instance does not support sign-in"


class ServerSignIns:
    """Signs in and out (see `SignIns`); without that port it refuses."""

    def __init__(self, sign_ins: SignIns | None) -> None:
        self._sign_ins = sign_ins

    async def begin(self, server: DesiredServer, redirect_uri: str) -> str:
        """The URL to open in a browser."""
        return await self._present().begin(server, redirect_uri)

    async def finish(self, answer: Mapping[str, str]) -> UUID:
        """Take what the browser brought back; which server is signed in now."""
        if self._sign_ins is None:
            raise SignInUnknown(_NONE)
        return await self._sign_ins.finish(answer)

    async def end(self, server: DesiredServer) -> None:
        """Delete the tokens of a server."""
        await self._present().end(server)

    async def forget(
        self, removed: Iterable[DesiredServer], others: Collection[DesiredServer]
    ) -> None:
        """Delete the tokens of servers that were removed, unless another one uses them."""
        for each in removed:
            await self._forget(each, others)

    async def _forget(self, removed: DesiredServer, others: Iterable[DesiredServer]) -> None:
        launch = removed.launch
        if self._sign_ins is None or not isinstance(launch, RemoteLaunch) or launch.brings_token:
            return
        launches = (each.launch for each in others if each.id != removed.id)
        if not any(isinstance(each, RemoteLaunch) and each.url == launch.url for each in launches):
            await self._sign_ins.end(removed)

    def signed_in(self, server: DesiredServer) -> bool:
        """Whether a token of a sign-in is sent to a server."""
        return self._sign_ins is not None and self._sign_ins.signed_in(server)

    def _present(self) -> SignIns:
        if self._sign_ins is None:
            raise NoSignIn(_NONE)
        return self._sign_ins
