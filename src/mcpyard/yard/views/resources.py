"""What the process tree of a server uses, and what it may use, as the faces show it."""

from typing import Annotated

from msgspec import Meta

from mcpyard.domain.observed import Figures
from mcpyard.yard.views.base import Count, View


class LimitsView(View, frozen=True, kw_only=True):
    """What the process tree of a server may use; null for no limit."""

    memory: Annotated[Count | None, Meta(description="Resident memory in bytes.")]
    processes: Count | None


class FiguresView(View, frozen=True, kw_only=True):
    """What the whole process tree of a server uses."""

    processes: Count
    rss: Annotated[Count, Meta(description="Resident memory in bytes, summed.")]
    cpu_seconds: Annotated[float, Meta(description="On all cores, since the processes began.")]
    cpu_percent: Annotated[float, Meta(description="Of one core, since the last request.")]


def figures_view(figures: Figures | None) -> FiguresView | None:
    """What the processes of a server use."""
    if figures is None:
        return None
    return FiguresView(
        processes=figures.processes,
        rss=figures.rss,
        cpu_seconds=round(figures.cpu_seconds, 2),
        cpu_percent=round(figures.cpu_percent, 1),
    )
