"""Which version of a law is meant, among those that are here."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from mcpyard.legal import notices, times
from mcpyard.legal.query.law_versions import BEFORE, OLD
from mcpyard.legal.query.titles import Law
from mcpyard.legal.times import LawStatus


@dataclass(frozen=True, slots=True)
class LawVersion:
    """A version of a law, and when it is in force."""

    version_date: str
    valid_from: str
    valid_until: str
    ended_by: str

    def status(self, as_of: str) -> LawStatus:
        """Whether it is in force on a day."""
        return times.status(self.valid_from, self.valid_until, self.ended_by, as_of)


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """The date of a version, and what has to be said of it."""

    version_date: str
    notices: tuple[str, ...] = ()


def choose(
    law: Law, versions: Sequence[LawVersion], version: str, as_of: str
) -> VersionChoice | None:
    """The version that is meant, of versions of which the newest is first; None if it is not here.

    A year or a month stands for the version of that time, or that came into force in it; a day also
    for the version that was in force on it; OLD for the one before the current, BEFORE and a day
    for the one until then. Without any, it is the one in force on the day, or the nearest.
    """
    if version == OLD:
        older = [each for each in versions if each.status(as_of) is not LawStatus.IN_FORCE]
        return _first([each for each in older if each.valid_from <= as_of])
    if version.startswith(BEFORE):
        return _in_force_on(law, versions, _day_before(version.removeprefix(BEFORE)))
    if version:
        return (
            _first([each for each in versions if _is_of(each.version_date, version)])
            or _begun_in(law, versions, version)
            or _in_force_on(law, versions, version)
        )
    current = _first([each for each in versions if each.status(as_of) is LawStatus.IN_FORCE])
    return current or _nearest(law, versions, as_of)


def _is_of(day: str, version: str) -> bool:
    """Whether a day is in a year or a month, or is that day."""
    return day == version or day.startswith(f"{version}-")


def _first(versions: Sequence[LawVersion]) -> VersionChoice | None:
    return VersionChoice(versions[0].version_date) if versions else None


def _begun_in(law: Law, versions: Sequence[LawVersion], version: str) -> VersionChoice | None:
    begun = [each for each in versions if _is_of(each.valid_from, version)]
    if not begun:
        return None
    dates = begun[0].version_date, begun[0].valid_from
    notice = notices.say("begun", law=law.name, year=version, dates=dates)
    return VersionChoice(begun[0].version_date, (notice,))


def _in_force_on(law: Law, versions: Sequence[LawVersion], day: str) -> VersionChoice | None:
    if not _is_day(day):
        return None
    for each in versions:
        if each.status(day) is LawStatus.IN_FORCE:
            notice = notices.say("then", law=law.name, day=day, version=each.version_date)
            return VersionChoice(each.version_date, (notice,))
    return None


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _day_before(day: str) -> str:
    return (date.fromisoformat(day) - timedelta(days=1)).isoformat() if _is_day(day) else ""


def _nearest(law: Law, versions: Sequence[LawVersion], as_of: str) -> VersionChoice | None:
    """The version that began last before a day on which none was in force, or else the first."""
    ordered = sorted(versions, key=lambda each: each.valid_from)
    before = [each for each in ordered if each.valid_from <= as_of]
    for each in before[-1:] or ordered[:1]:
        notice = notices.not_in_force(law, as_of, each.valid_from, each.valid_until)
        return VersionChoice(each.version_date, (notice,))
    return None
