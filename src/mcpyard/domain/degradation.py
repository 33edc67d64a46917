"""What does not work of mcpyard itself while calls are still served."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from mcpyard.domain.errors import YardError
from mcpyard.domain.remedies import remedy


class Degradation(Struct, frozen=True):
    """A component that does not work, why, and what to do about it."""

    component: str
    detail: str
    hint: str

    @classmethod
    def of(cls, component: str, error: YardError) -> "Degradation":
        """The one that an error tells of."""
        return cls(component, error.message, remedy(error))


class SelfCheck(Struct, frozen=True):
    """A check of one component: gives None when it works, raises or says why it does not."""

    component: str
    run: Callable[[], Awaitable[Degradation | None]]
