"""`mcpyard start`, `mcpyard stop` and `mcpyard restart`: the same request with another verb."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from mcpyard.cli.cli_errors import CliError, complain, understand
from mcpyard.cli.printing import JsonObject, decode_object
from mcpyard.cli.status_words import print_status
from mcpyard.client.discovery import RunningYard, need_yard, server_path
from mcpyard.domain.edges import EXIT_UNREACHABLE
from mcpyard.domain.errors import YardError

Action = Literal["start", "stop", "restart"]

_AT_ONCE: Final = 16


def control(home: Path, action: Action, names: Sequence[str], wait: float, *, as_json: bool) -> int:
    """Start, stop or restart servers, and print their status afterwards."""
    answers = request(need_yard(home), action, [*dict.fromkeys(names)], wait)
    if as_json:
        records = [each.record() if isinstance(each, CliError) else each for each in answers]
        print(json.dumps(records if len(records) > 1 else records[0]))
        return max(map(exit_code, answers))
    return max(map(print_answer, answers))


def request(
    yard: RunningYard, action: Action, names: Sequence[str], wait: float
) -> list[JsonObject | CliError]:
    """What mcpyard answers for each of some servers; a single one that is refused is an error."""
    paths = [f"{server_path(name, action)}?wait={wait:g}" for name in names]
    return (
        _request_together(yard, paths) if len(paths) > 1 else [decode_object(yard.post(paths[0]))]
    )


def _request_together(yard: RunningYard, paths: Sequence[str]) -> list[JsonObject | CliError]:
    """The answer for each server; one that is slow or fails does not hold up the others."""
    # Takes long to import, compared to a request for one server.
    from concurrent.futures import ThreadPoolExecutor

    def post(path: str) -> JsonObject | CliError:
        try:
            return decode_object(yard.post(path))
        except YardError as error:
            return understand(error)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(post, paths))


def exit_code(answer: JsonObject | CliError) -> int:
    """The exit code for one server."""
    if isinstance(answer, CliError):
        return answer.exit_code
    return EXIT_UNREACHABLE if answer["status"] == "error" else 0


def print_answer(answer: JsonObject | CliError) -> int:
    """Print the status of one server; returns its exit code."""
    if isinstance(answer, CliError):
        return complain(answer, as_json=False)
    print_status(str(answer["name"]), answer)
    return exit_code(answer)
