"""A server that misbehaves in one chosen way; run as `python -I -S zoo.py MODE`.

It speaks the handshake era by hand. Unless the mode says otherwise it is a good server: its tool
`echo` gives back its `text`, `hang` never answers, `die` exits with status 7, `misbehave` does
what the mode is about.
"""

import json
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

Message = dict[str, Any]
TEXT_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
ASKED = ("sampling/createMessage", "elicitation/create", "roots/list")
MEGABYTE = b"x" * 1_000_000


class Server:
    """A good server; the modes replace parts of it."""

    def __init__(self) -> None:
        self.tools = [
            {"name": name, "description": f"does {name}", "inputSchema": TEXT_SCHEMA}
            for name in ("echo", "hang", "die", "misbehave")
        ]
        self.misbehave: Callable[[Message], None] = self.echo
        self.handlers: dict[str, Callable[[Message], None]] = {
            "initialize": self.initialize,
            "tools/list": lambda request: self.answer(request, {"tools": self.tools}),
            "tools/call": self.call,
            "ping": lambda request: self.answer(request, {}),
        }
        self.answered: Callable[[Message], None] = nothing
        self.hear: Callable[[Message], None] = self.take
        self.serve: Callable[[], None] = self.read_on
        self.say: Callable[[Message], None] = say

    def read_on(self) -> None:
        for line in sys.stdin.buffer:
            self.hear(json.loads(line))

    def take(self, message: Message) -> None:
        if "method" not in message:
            self.answered(message)
        elif handler := self.handlers.get(message["method"]):
            handler(message)
        elif "id" in message:
            self.refuse(message)

    def initialize(self, request: Message) -> None:
        result = {
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "zoo", "version": "1"},
        }
        self.answer(request, result)

    def call(self, request: Message) -> None:
        tool = request["params"]["name"]
        calls = {
            "hang": lambda _request: write(2, b"hanging\n"),
            "die": lambda _request: leave(7),
            "misbehave": self.misbehave,
        }
        calls.get(tool, self.echo)(request)

    def echo(self, request: Message) -> None:
        self.answer_text(request, request["params"].get("arguments", {}).get("text", ""))

    def answer_text(self, request: Message, text: str) -> None:
        self.answer(request, {"content": [{"type": "text", "text": text}]})

    def answer(self, request: Message, result: Message) -> None:
        self.say({"id": request["id"], "result": result})

    def refuse(self, request: Message) -> None:
        self.say({"id": request["id"], "error": {"code": -32601, "message": "not here"}})


def say(message: Message) -> None:
    write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def leave(status: int) -> NoReturn:
    write(2, f"leaving with {status}\n".encode())
    os._exit(status)


def nothing(_message: Message) -> None:
    """Answer nothing."""


def for_ever(fd: int, data: bytes) -> NoReturn:
    while True:
        write(fd, data)


def good(_server: Server) -> None:
    """Behave."""


def exits_at_once(_server: Server) -> None:
    leave(3)


def exits_before_list(server: Server) -> None:
    server.handlers["tools/list"] = lambda _request: leave(4)


def never_answers(server: Server) -> None:
    server.hear = nothing


def never_lists(server: Server) -> None:
    server.handlers["tools/list"] = nothing


def answers_twice(server: Server) -> None:
    def say_twice(message: Message) -> None:
        say(message)
        say(message)

    server.say = say_twice


def wrong_ids(server: Server) -> None:
    def misbehave(request: Message) -> None:
        for wrong in (request["id"] + 1000, -1, "none", None, 1.5, [request["id"]], {}):
            server.answer_text({"id": wrong}, "for somebody else")

    server.misbehave = misbehave


def noisy(server: Server, *lines: bytes) -> None:
    """Say these lines before everything."""

    def say_noisily(message: Message) -> None:
        write(1, b"".join(line + b"\n" for line in lines))
        say(message)

    server.say = say_noisily


def garbage_lines(server: Server) -> None:
    noisy(server, b"Server is ready!", b"", b"{", b'{"jsonrpc"', b"[[[[", b"null", b"17", b"[]")


def bad_utf8(server: Server) -> None:
    noisy(server, b"\xff\xfe\xfd", b'{"jsonrpc":"2.0","method":"\xc3\x28"}', b"\x00\x80")


def half_a_frame(server: Server) -> None:
    def misbehave(request: Message) -> None:
        write(1, b'{"jsonrpc":"2.0","id":%d,"result":{"cont' % request["id"])
        server.hear = nothing

    server.misbehave = misbehave


def long_line(server: Server) -> None:
    def misbehave(request: Message) -> None:
        write(1, b'{"jsonrpc":"2.0","id":%d,"result":{"text":"' % request["id"])
        for _ in range(int(request["params"]["arguments"]["text"])):
            write(1, MEGABYTE)
        write(1, b'"}}\n')

    server.misbehave = misbehave


def no_newline(server: Server) -> None:
    server.misbehave = lambda _request: for_ever(1, MEGABYTE)


def stops_reading(server: Server) -> None:
    server.misbehave = lambda _request: signal.pause()


def works_alone(server: Server) -> None:
    """Does one thing at a time, and is at it for a while."""

    def misbehave(request: Message) -> None:
        threading.Event().wait(2)
        server.answer_text(request, "worked")

    server.misbehave = misbehave


def floods_stderr(_server: Server) -> None:
    line = b"all is well, said the server at some length, and said it again\n" * 1000
    threading.Thread(target=for_ever, args=(2, line), daemon=True).start()


def floods_stdout(server: Server) -> None:
    """Write lines that are no messages, on and on, from when it is told to."""
    # Short enough for the pipe to take it whole, so that answers are not torn.
    lines = b"all is well, said the server\n" * 100

    def misbehave(request: Message) -> None:
        threading.Thread(target=for_ever, args=(1, lines), daemon=True).start()
        server.answer_text(request, "flooding")

    server.misbehave = misbehave


def floods_changes(server: Server) -> None:
    """Have 10,000 other tools again and again, from when it is told to."""
    tool, whole = server.tools[0], threading.Lock()

    def list_tools(request: Message) -> None:
        text = f"for request {request['id']}"
        more = [tool | {"name": f"tool_{number}", "description": text} for number in range(9996)]
        server.answer(request, {"tools": [*server.tools, *more]})

    def say_whole(message: Message) -> None:
        with whole:
            say(message)

    def change() -> None:
        while True:
            say_whole({"method": "notifications/tools/list_changed"})
            threading.Event().wait(0.01)

    def misbehave(request: Message) -> None:
        threading.Thread(target=change, daemon=True).start()
        server.answer_text(request, "changing")

    server.handlers["tools/list"] = list_tools
    server.say, server.misbehave = say_whole, misbehave


def hoards(server: Server) -> None:
    """Keep as many megabytes as it is told to."""
    hoard: list[bytes] = []

    def misbehave(request: Message) -> None:
        hoard.append(b"x" * (int(request["params"]["arguments"]["text"]) << 20))
        server.answer_text(request, "hoarded")

    server.misbehave = misbehave


def multiplies(server: Server) -> None:
    """Start as many processes as it is told to, half of them detached."""

    def misbehave(request: Message) -> None:
        for number in range(int(request["params"]["arguments"]["text"])):
            if number % 2:
                detached(server)
            elif os.fork() == 0:
                os.closerange(0, 3)
                while True:
                    signal.pause()
        server.answer_text(request, "multiplied")

    server.misbehave = misbehave


def closes_stdout(server: Server) -> None:
    def misbehave(_request: Message) -> None:
        os.close(1)
        server.say = nothing

    server.misbehave = misbehave


def changes_tools(server: Server) -> None:
    def misbehave(request: Message) -> None:
        name = request["params"]["arguments"]["text"]
        server.tools = [*server.tools, {"name": name, "inputSchema": TEXT_SCHEMA}]
        server.say({"method": "notifications/tools/list_changed"})
        server.answer_text(request, "changed")

    server.misbehave = misbehave


def duplicate_names(server: Server) -> None:
    server.tools += [tool | {"description": "an impostor"} for tool in server.tools]


def many_tools(server: Server) -> None:
    server.tools += [server.tools[0] | {"name": f"tool_{number}"} for number in range(4996)]


def ignores_probe(server: Server) -> None:
    server.handlers["server/discover"] = nothing


def dies_at_probe(server: Server) -> None:
    server.handlers["server/discover"] = lambda _request: leave(5)


def asks(server: Server) -> None:
    """Ask for what nobody offers, during a call; the call's answer tells the error codes."""
    open_calls: list[Message] = []
    codes: list[str] = []

    def misbehave(request: Message) -> None:
        open_calls.append(request)
        for number, method in enumerate(ASKED):
            server.say({"id": f"ask-{number}", "method": method, "params": {}})

    def answered(message: Message) -> None:
        codes.append(str(message.get("error", {}).get("code", "an answer")))
        if len(codes) == len(ASKED):
            server.answer_text(open_calls.pop(), " ".join(codes))

    server.misbehave, server.answered = misbehave, answered


def stubborn(server: Server) -> None:
    """Live on, whatever the signal and though the input ends."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    serve = server.serve

    def serve_on() -> None:
        serve()
        while True:
            signal.pause()

    server.serve = serve_on


def detached(_server: Server) -> None:
    """Leave a daemon behind: forked twice, in a session of its own, deaf to signals."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            # What holds the pipe open would hide the end of the server itself.
            os.closerange(0, 3)
            while True:
                signal.pause()
        os._exit(0)
    os.wait()


MODES = {
    mode.__name__: mode
    for mode in (
        good,
        exits_at_once,
        exits_before_list,
        never_answers,
        never_lists,
        answers_twice,
        wrong_ids,
        garbage_lines,
        bad_utf8,
        half_a_frame,
        long_line,
        no_newline,
        stops_reading,
        works_alone,
        floods_stderr,
        floods_stdout,
        floods_changes,
        hoards,
        multiplies,
        closes_stdout,
        changes_tools,
        duplicate_names,
        many_tools,
        ignores_probe,
        dies_at_probe,
        asks,
        stubborn,
        detached,
    )
}

if __name__ == "__main__":
    server = Server()
    MODES[sys.argv[1]](server)
    server.serve()
