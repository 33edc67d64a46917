"""What a server answered, looked at without decoding it."""

import re
from typing import Final

import msgspec
from msgspec import Raw

from mcpyard.domain.errors import ProtocolBroken

GLANCE: Final = 4096
"""Bytes of either end of a result that are searched for an error."""

_LONGEST_TASK: Final = 1 << 20
"""Bytes up to which a result is searched for a task: the search holds the event loop."""

IS_ERROR: Final = b'"isError"'
_SAYS_ERROR: Final = re.compile(rb'"isError"\s*:\s*true')
_ABSENT: Final = Raw(b"")


class _TaskResult(msgspec.Struct, rename="camel"):
    """The members that distinguish a task from a result."""

    result_type: Raw = _ABSENT
    task: Raw = _ABSENT
    content: Raw = _ABSENT


_task_result = msgspec.json.Decoder(_TaskResult)
TASK_TYPE: Final = b'"task"'


def check_result(raw: bytes) -> None:
    """Refuse what is no result: anything but an object, and a task, which nothing here can follow.

    Raises:
        ProtocolBroken: It is none.
    """
    if not raw.startswith(b"{"):
        raise ProtocolBroken("the result is not a JSON object")
    if len(raw) > _LONGEST_TASK or TASK_TYPE not in raw:
        return
    try:
        result = _task_result.decode(raw)
    except ValueError:
        return
    in_handshake = not bytes(result.content) and b'"taskId"' in bytes(result.task)
    if in_handshake or bytes(result.result_type) == TASK_TYPE:
        raise ProtocolBroken(
            "the server answered with a task, which mcpyard does not support: "
            "the result of the call is not available"
        )


def says_error(raw: bytes) -> bool:
    """Whether a result says that the tool failed, at a glance: it is for a statistic."""
    if len(raw) > 2 * GLANCE:
        raw = raw[:GLANCE] + raw[-GLANCE:]
    return IS_ERROR in raw and _SAYS_ERROR.search(raw) is not None
