"""The system's clock."""

import time
from datetime import UTC, datetime


class SystemClock:
    """Real time (see the `Clock` port)."""

    # The function itself, without one of ours around it: every call asks twice.
    monotonic = staticmethod(time.monotonic)

    def now(self) -> datetime:
        """The time of day, in UTC."""
        return datetime.now(UTC)
