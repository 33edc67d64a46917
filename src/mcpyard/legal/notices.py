"""What the server says, in English and in Chinese: its readers are models and people of both."""

import os

from mcpyard.legal import tables
from mcpyard.legal.query.law_versions import BEFORE, OLD
from mcpyard.legal.query.numerals import Number
from mcpyard.legal.query.titles import Law, OutsideLaw


def say(message: str, **values: object) -> str:
    """A message of the table in both languages."""
    return " ".join(text.format(**values) for text in tables.messages()[message])


def say_here(message: str, **values: object) -> str:
    """A message of the table in the language of the user's terminal."""
    return tables.messages()[message][_is_chinese()].format(**values)


def _is_chinese() -> bool:
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return next((name for name in names if name), "").lower().startswith("zh")


def outside(law: OutsideLaw, corpus_basis: str = "") -> str:
    """A law that the collection does not hold; `corpus_basis` is an article of it that says why."""
    repeal = law.repeal
    if repeal is None:
        return say("outside", name=law.name)
    basis = corpus_basis or repeal.basis
    is_verified = not basis.startswith(tables.UNVERIFIED)
    message = "repealed" if is_verified else "repealed_unverified"
    return say(
        message if repeal.successor else "ended",
        name=law.name,
        day=repeal.day,
        basis=basis,
        successor=repeal.successor,
    )


def no_article(law: Law, number: Number, version: str, last: str) -> str:
    """An article that a law does not have."""
    digits = f"{number.main}-{number.insert}" if number.insert else str(number.main)
    return say(
        "no_article",
        law=law.name,
        number=number,
        digits=digits,
        version=version or "-",
        last=last or "-",
    )


def no_version(law: Law, version: str, versions: tuple[str, ...]) -> str:
    """A version that is not here."""
    listed = ", ".join(versions) or "-"
    named = "earlier" if version == OLD else version.replace(BEFORE, "before ")
    return say("no_version", law=law.name, version=named[:20], versions=listed)


def not_in_force(law: Law, as_of: str, valid_from: str, valid_until: str) -> str:
    """A law whose versions here are not in force on a day."""
    times = {"start": valid_from or "-", "end": valid_until or "-"}
    return say("not_in_force", law=law.name, day=as_of, **times)
