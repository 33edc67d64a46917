"""The system's clock."""

import time
from datetime import UTC, datetime


class SystemClock:
    """Real time (see the `Clock` port)."""

    def monotonic(self) -> float:
        """Seconds that never jump."""
        return time.monotonic()

    def now(self) -> datetime:
        """The time of day, in UTC."""
        return datetime.now(UTC)
