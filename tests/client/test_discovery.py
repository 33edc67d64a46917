"""What commands are told by a program that listens where a yard should."""

import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Thread

import pytest

from mcpyard.cli.cli_errors import understand
from mcpyard.client.discovery import RunningYard, server_path
from mcpyard.domain.edges import EXIT_UNREACHABLE, EXIT_USAGE
from mcpyard.domain.errors import Disconnected, InputError
from mcpyard.store.home import Running

STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@contextmanager
def listening(answer: Callable[[bytes], bytes]) -> Generator[RunningYard]:
    """A yard that answers one request with some bytes, and closes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(answer(connection.recv(65536)))

        thread = Thread(target=serve)
        thread.start()
        yield RunningYard(Running(7, f"http://127.0.0.1:{server.getsockname()[1]}"), "key")
        thread.join()


def test_a_request_carries_the_token_and_its_body() -> None:
    seen: list[bytes] = []

    def answer(request: bytes) -> bytes:
        seen.append(request)
        return b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

    with listening(answer) as yard:
        assert yard.post("/api/x", {"a": "é"}) == b"{}"
    assert seen[0].startswith(b"POST /api/x HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"\r\nAuthorization: Bearer key\r\n" in seen[0]
    assert seen[0].endswith(b"\r\n\r\n" + '{"a": "é"}'.encode())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"", "the connection was closed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "the connection was closed"),
        (b"SSH-2.0-x\r\n\r\n", "it is not HTTP"),
    ],
)
def test_an_answer_that_is_cut_is_told_with_the_process(answer: bytes, words: str) -> None:
    with (
        listening(lambda _: answer) as yard,
        pytest.raises(Disconnected, match=rf"\(pid 7 at http.*\) does not answer: {words}"),
    ):
        yard.get("/api/x")


def test_a_yard_that_is_gone_is_told_as_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
    with pytest.raises(Disconnected, match=r"does not answer: .*Connection refused") as gone:
        RunningYard(Running(7, url), "key").get("/api/x")
    error = understand(gone.value)
    assert error.exit_code == EXIT_UNREACHABLE
    assert error.problem["type"] == "urn:mcpyard:error:yard-silent"
    assert "check its log" in str(error.problem["hint"])


def test_a_stream_that_is_cut_has_ended() -> None:
    sent = STREAM + b'13\r\ndata: {"a": 1}\n\n:\n\r\n'
    with listening(lambda _: sent) as yard:
        assert [*yard.events("/api/events")] == [{"a": 1}]


def test_a_stream_is_read_until_the_time_is_over() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        events = RunningYard(Running(7, url), "key").events("/api/events", 0)
        assert [*events] == []


def test_a_path_without_a_name_is_an_error_of_usage() -> None:
    with pytest.raises(InputError, match="must not be empty") as refused:
        server_path("")
    error = understand(refused.value)
    assert error.exit_code == EXIT_USAGE
    assert error.problem["type"] == "urn:mcpyard:error:usage"
