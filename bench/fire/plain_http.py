"""The least of an HTTP client, so that the yard is the load: a connection, a request at once."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

LIMIT = 16 * 1024 * 1024
EVENTS = "text/event-stream"


class CutError(Exception):
    """The connection went away, or could not be made."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, read to its end."""

    status: int
    headers: dict[str, str]
    body: bytes

    def message(self) -> dict[str, Any]:
        """The JSON in it, which may be the last event of a stream."""
        if not self.headers.get("content-type", "").startswith("text/event-stream"):
            try:
                return json.loads(self.body)
            except ValueError as error:
                words = f"no JSON, status {self.status}: {self.body[:200]!r} {self.headers}"
                raise ValueError(words) from error
        lines = [line[6:] for line in self.body.splitlines() if line.startswith(b"data: {")]
        return json.loads(lines[-1])


@dataclass(slots=True)
class Line:
    """A connection that is made again when it is lost."""

    url: str
    token: str
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = field(default=None)

    async def post(self, path: str, body: object, headers: dict[str, str] | None = None) -> Answer:
        content = json.dumps(body).encode()
        length = {"Content-Type": "application/json", "Content-Length": str(len(content))}
        return await self._send("POST", path, length | (headers or {}), content)

    async def listen(self, path: str, headers: dict[str, str]) -> Answer:
        """The first event of a stream, which stays open until this side hangs up."""
        return await self._send("GET", path, {"Accept": EVENTS, **headers})

    async def _send(
        self, method: str, path: str, headers: dict[str, str], content: bytes = b""
    ) -> Answer:
        place = urlsplit(self.url)
        whole_headers = {"Host": place.netloc, "Authorization": f"Bearer {self.token}", **headers}
        lines = "".join(f"{name}: {text}\r\n" for name, text in whole_headers.items())
        whole = f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + content
        try:
            if self._streams is None:
                where = place.hostname, place.port
                self._streams = await asyncio.open_connection(*where, limit=LIMIT)
            self._streams[1].write(whole)
            return await self._read(self._streams[0], whole=method == "POST")
        except (OSError, asyncio.IncompleteReadError) as error:
            self.hang_up()
            raise CutError(repr(error)) from error
        except BaseException:
            # Whatever comes next on this connection belongs to a request nobody waits for.
            self.hang_up()
            raise

    def hang_up(self) -> None:
        if self._streams:
            self._streams[1].transport.abort()
        self._streams = None

    async def _read(self, reader: asyncio.StreamReader, *, whole: bool) -> Answer:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head[:-4].split("\r\n")
        pairs = (line.split(": ", 1) for line in lines)
        headers = {name.lower(): text for name, text in pairs}
        if headers.get("transfer-encoding") == "chunked":
            body = await (_chunks(reader) if whole else _chunk(reader))
        else:
            body = await reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("connection") == "close":
            self.hang_up()
        return Answer(int(first.split(" ")[1]), headers, body)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while chunk := await _chunk(reader):
        body += chunk
    return body


async def _chunk(reader: asyncio.StreamReader) -> bytes:
    size = int(await reader.readuntil(b"\r\n"), 16)
    return (await reader.readexactly(size + 2))[:-2]
