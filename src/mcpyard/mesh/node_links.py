"""The links of a node to all others: one connection a pair, dialed by the smaller name."""

import asyncio
import contextlib
import logging
import os
import random
import socket
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from mcpyard.domain.cluster import Member, NodeState
from mcpyard.domain.errors import ClusterRefused, YardError
from mcpyard.mesh.certificates import NodeCertificates, certified_names, explain_refusal
from mcpyard.mesh.messages import Hello, settle_protocol
from mcpyard.mesh.node_link import LinkHandler, NodeLink
from mcpyard.mesh.socket_link import SocketLink

log = logging.getLogger(__name__)

_FIRST_PAUSE: Final = 0.2
_LONGEST_PAUSE: Final = 2.0
_CONNECT_SECONDS: Final = 3.0

_CHECK_CERTIFICATE: Final = "check that this node's certificate is of its authority and not expired"


class NodeLinks:
    """Accepts the links of nodes with smaller names, and dials those with larger ones.

    Attributes:
        problems: Why a node could not be linked the last time, by name.
    """

    def __init__(
        self, say: Callable[[], Hello], certificates: NodeCertificates, handler: LinkHandler
    ) -> None:
        self._say = say
        self._certificates = certificates
        self._handler = handler
        self._server: asyncio.Server | None = None
        self._up: dict[str, NodeLink] = {}
        self._unknown: set[NodeLink] = set()
        self._addresses: dict[str, str] = {}
        self._joined: dict[str, int] = {}
        self._news: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._dials: dict[str, asyncio.Task[None]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self.problems: dict[str, str] = {}

    def get(self, node: str) -> NodeLink | None:
        """The link to a node, if it can be used."""
        link = self._up.get(node)
        return link if link is not None and link.is_up else None

    def all(self) -> list[NodeLink]:
        """Every link that can be used."""
        return [link for link in self._up.values() if link.is_up]

    async def listen(self, host: str, port: int) -> int:
        """Accept links; the port that was taken.

        Raises:
            ClusterRefused: The address cannot be listened on.
        """
        loop = asyncio.get_running_loop()
        context = self._certificates.accepting
        try:
            self._server = await loop.create_server(
                self._accept, host, port, ssl=context, ssl_handshake_timeout=_CONNECT_SECONDS
            )
        except OSError as error:
            # The errors of a name that is not resolved have numbers of their own.
            unresolved = isinstance(error, socket.gaierror) or not error.errno
            reason = error.strerror or str(error) if unresolved else os.strerror(error.errno or 0)
            text = f"the address {host}:{port} cannot be used for other nodes: {reason}"
            raise ClusterRefused(text).advising("Choose another one with --node-listen") from error
        return int(self._server.sockets[0].getsockname()[1])

    def follow(self, peers: Iterable[Member]) -> None:
        """Keep links to these nodes."""
        present = [each for each in peers if each.state is not NodeState.LEFT]
        self._addresses = {each.node.name: each.node.address for each in present}
        for each in present:
            if self._joined.get(each.node.name) != each.epoch:
                self._joined[each.node.name] = each.epoch
                self._news[each.node.name].set()
        name = self._say().node
        for node in self._addresses:
            if name < node and node not in self._dials:
                self._dials[node] = asyncio.create_task(self._dial(node), name=f"dial {node}")
        for node in self._dials.keys() - self._addresses.keys():
            self._dials.pop(node).cancel()

    async def close(self) -> None:
        """Close all links."""
        if self._server is not None:
            self._server.close()
        dials = [*self._dials.values()]
        for dial in dials:
            dial.cancel()
        await asyncio.gather(*(link.finish() for link in self.all()))
        for link in [*self._up.values(), *self._unknown]:
            await link.close()
        if pending := {*dials, *self._closing}:
            await asyncio.wait(pending)

    def _accept(self) -> asyncio.Protocol:
        socket = SocketLink()
        link = NodeLink(socket, self._handler)
        self._unknown.add(link)

        def on_hello(hello: Hello) -> Hello:
            protocol = self._check(hello, certified_names(socket.ssl_object))
            self._unknown.discard(link)
            # The answer goes out before anything that the link is used for.
            asyncio.get_running_loop().call_soon(self._begin, link, hello, protocol)
            return replace(self._say(), protocol=protocol)

        link.expect_hello(on_hello)
        asyncio.get_running_loop().call_later(_CONNECT_SECONDS, self._give_up, link)
        return socket.protocol

    def _give_up(self, link: NodeLink) -> None:
        if link in self._unknown:
            self._unknown.discard(link)
            self._close(link)

    def _close(self, link: NodeLink) -> None:
        task = asyncio.create_task(link.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _check(self, hello: Hello, certified: frozenset[str]) -> int:
        """Refuse a node that cannot be linked; otherwise the number of the protocol."""
        if hello.node not in certified:
            names = ", ".join(sorted(certified))
            text = f'the certificate of {names} cannot be used by node "{hello.node}"'
            raise ClusterRefused(text)
        protocol = settle_protocol(self._say(), hello)
        if protocol is None:
            raise self._refuse(hello)
        before = self._up.get(hello.node)
        if before is not None and before.is_up and before.epoch > hello.epoch:
            raise ClusterRefused(f'a newer daemon has the node name "{hello.node}"')
        self._handler.accept(hello)
        return protocol

    def _refuse(self, hello: Hello) -> ClusterRefused:
        """Why a node that shares no protocol with this one is refused; its status shows it too."""
        text = (
            f'node "{hello.node}" (mcpyard {hello.version}) speaks {_versions(hello.protocols)} of '
            f"the protocol between nodes, this one {_versions(self._say().protocols)}"
        )
        if hello.oldest or hello.node not in self.problems:
            # A node that is refused says hello once more, as nodes did that knew one number only.
            self._note(hello.node, text)
        return ClusterRefused(text).advising(
            "Upgrade the older node; between two releases of mcpyard skip none"
        )

    def _begin(self, link: NodeLink, hello: Hello, protocol: int) -> None:
        """Use a link, instead of one to the same node that may be half gone."""
        before = self._up.get(hello.node)
        self._up[hello.node] = link
        self.problems.pop(hello.node, None)
        if before is not None:
            self._close(before)
        link.begin(hello, protocol)

    async def _dial(self, node: str) -> None:
        pause = _FIRST_PAUSE
        while True:
            try:
                link = await self._connect(node)
            # A name that no resolver takes, such as "a..b", is a ValueError.
            except (OSError, YardError, ValueError, TimeoutError) as error:
                is_ours = isinstance(error, YardError)
                self._note(node, error.message if is_ours else explain_refusal(error, node))
            else:
                pause = _FIRST_PAUSE
                await link.lost.wait()
            # A node that has just joined listens.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause * random.uniform(0.8, 1.2)):  # noqa: S311  jitter
                    await self._news[node].wait()
            self._news[node].clear()
            pause = min(_LONGEST_PAUSE, 2 * pause)

    async def _connect(self, node: str) -> NodeLink:
        host, _, port = self._addresses[node].rpartition(":")
        socket = SocketLink()
        # With TLS 1.3 whoever dials learns only so that its certificate is refused.
        socket.closed_text = f'node "{node}" closes the connection: {_CHECK_CERTIFICATE}'
        link = NodeLink(socket, self._handler)
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await asyncio.get_running_loop().create_connection(
                    lambda: socket.protocol,
                    host.strip("[]"),
                    int(port),
                    ssl=self._certificates.dialing,
                    server_hostname=node,
                    ssl_handshake_timeout=_CONNECT_SECONDS,
                )
                other = await self._say_hello(link)
            protocol = self._check(other, frozenset({node}))
        except BaseException:
            await link.close()
            raise
        self._begin(link, other, protocol)
        return link

    async def _say_hello(self, link: NodeLink) -> Hello:
        """Say hello; to a node that reads only one number, which knows no newer one, again."""
        own = self._say()
        try:
            return await link.say_hello(own)
        except ClusterRefused as refused:
            if len(own.protocols) == 1:
                raise
            try:
                return await link.say_hello(replace(own, protocol=own.protocols[0], oldest=0))
            except ClusterRefused:
                raise refused from None

    def _note(self, node: str, text: str) -> None:
        if self.problems.get(node) != text:
            self.problems[node] = text
            log.warning("%s", text)


def _versions(numbers: range) -> str:
    first, last = numbers[0], numbers[-1]
    return f"version {last}" if first == last else f"versions {first} to {last}"
