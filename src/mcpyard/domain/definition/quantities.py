"""Numbers in a definition: times, counts and sizes, each with its bounds."""

from typing import Annotated, Final

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from mcpyard.domain.definition.sizes import read_size

MAX_TIMEOUT: Final = 24 * 60 * 60 * 1000
"""A day: beyond it a limit is a mistake in units, and timers of the event loop lose precision."""

HARD_MAX_MESSAGE: Final = 256 * 1024 * 1024

MOST_TIMES: Final = 1000
"""Failures or restarts beyond which a limit is none any more."""

LEAST_MEMORY: Final = 1024 * 1024
"""Bytes; a smaller limit lacks its unit, and no program would start within it."""

MOST_MEMORY: Final = 10**15

MOST_PROCESSES: Final = 100_000

MOST_WAITING: Final = 100_000


def _whole(value: object) -> object:
    # JSON knows one kind of number: 30000.0 is 30000. A bool is an int to Python, not to a person.
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "a whole number")
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _bytes(value: object) -> object:
    if not isinstance(value, str):
        return _whole(value)
    size = read_size(value)
    if size is None:
        raise PydanticCustomError("refused", 'expected bytes or a size such as "512MB"')
    return size


Milliseconds = Annotated[int, BeforeValidator(_whole), Field(strict=True, gt=0, le=MAX_TIMEOUT)]
Times = Annotated[int, BeforeValidator(_whole), Field(strict=True, ge=0, le=MOST_TIMES)]
Waiting = Annotated[int, BeforeValidator(_whole), Field(strict=True, ge=0, le=MOST_WAITING)]
Bytes = Annotated[int, BeforeValidator(_whole), Field(strict=True, gt=0, le=HARD_MAX_MESSAGE)]
Memory = Annotated[
    int, BeforeValidator(_bytes), Field(strict=True, ge=LEAST_MEMORY, le=MOST_MEMORY)
]
Processes = Annotated[int, BeforeValidator(_whole), Field(strict=True, ge=1, le=MOST_PROCESSES)]
