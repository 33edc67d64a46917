"""Tags of a server: short texts that a person finds and groups servers by.

They stand in lists that are typed with commas between them, and as headings, so that each is one
line that looks like what it is.
"""

from typing import Annotated, Final

from pydantic import AfterValidator, StrictStr, WithJsonSchema
from pydantic_core import PydanticCustomError

from mcpyard.domain.definition import checks

MOST_TAGS: Final = 20
"""More than a person tells apart at one server."""

LONGEST_TAG: Final = 50
"""Characters; longer ones are descriptions."""


def tags_of_text(text: str) -> list[str]:
    """Tags that were typed with commas between them."""
    return [tag for each in text.split(",") if (tag := each.strip())]


def tag_fault(tag: str) -> str | None:
    """What keeps a text from being a tag."""
    if not tag.strip():
        return "must not be empty"
    if len(tag) > LONGEST_TAG:
        return f"is {len(tag)} characters long; {LONGEST_TAG} are allowed"
    if tag != tag.strip():
        return "must not begin or end with white space"
    if "," in tag:
        return "must not contain a comma"
    if checks.has_control(tag):
        return "contains a control character"
    return checks.text_fault(tag)


def _tag(value: str) -> str:
    _refuse(tag_fault(value))
    return value


def _tags(value: list[str]) -> list[str]:
    if len(value) > MOST_TAGS:
        _refuse(f"has {len(value)} tags; {MOST_TAGS} are allowed")
    twice = next((each for at, each in enumerate(value) if each in value[:at]), None)
    if twice is not None:
        _refuse(f'contains "{twice}" twice')
    return value


def _refuse(fault: str | None) -> None:
    if fault:
        raise PydanticCustomError("refused", "{fault}", {"fault": fault})


Tags = Annotated[
    list[Annotated[StrictStr, AfterValidator(_tag)]],
    AfterValidator(_tags),
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": LONGEST_TAG},
            "maxItems": MOST_TAGS,
            "uniqueItems": True,
        }
    ),
]
