"""The shapes of the answers: what the output schemas of the tools are made from.

A member that says nothing is left out of an answer, and a notice comes first.
"""

from pydantic import BaseModel, Field

_LAW = Field(description="The law, without the name of the state, with the part of a code")
_ARTICLE = Field(description="The article as it is cited, e.g. 第九百九十条")
_NOTICE = Field(
    default=None,
    description="Read this first: what was asked for and is not here, or is not in force",
)


class Attributed(BaseModel):
    """Where a text comes from."""

    source: str = Field(description="Where the text was taken from")
    version_date: str | None = Field(
        default=None,
        description="The day this version was promulgated, YYYY-MM-DD; absent where unknown",
    )
    imported_at: str = Field(description="When the text was imported, ISO 8601")
    sample: bool = Field(description="True for invented sample text, which is not law")


class Statute(BaseModel):
    """An article that was found. What all results share stands in the answer that holds them."""

    law: str = _LAW
    article: str = _ARTICLE
    headings: str | None = Field(
        default=None, description="Parts, chapters and sections, separated by >"
    )
    text: str
    paragraph: str | None = Field(
        default=None, description="The paragraph or item that the query names, and its beginning"
    )
    version_date: str | None = Field(
        default=None,
        description="The day this version was promulgated, YYYY-MM-DD; absent where unknown",
    )
    in_force_from: str | None = Field(default=None, description="The first day in force")
    in_force_basis: str | None = Field(
        default=None,
        description="What that day rests on: file, text, table (not verified), or assumed "
        "(the day of the version, as nothing says another)",
    )
    in_force_until: str | None = Field(default=None, description="The first day without it")
    status: str | None = Field(
        default=None,
        description="not yet in force, superseded or repealed on the day of as_of; else in force",
    )
    source: str = Field(description="Where the text was taken from")
    sample: bool | None = Field(
        default=None, description="True for invented sample text, which is not law"
    )
    uri: str = Field(description="The resource with the whole law")


class Statutes(BaseModel):
    """The answer to a search for statutes, the best result first."""

    notice: str | None = _NOTICE
    suggestions: list[str] | None = Field(
        default=None, description="What could be asked for instead; not an answer to the query"
    )
    imported_at: str | None = Field(
        default=None, description="When the oldest of the texts was imported, ISO 8601"
    )
    results: list[Statute]


class AdjacentArticle(BaseModel):
    """The article before or after."""

    article: str
    text: str


class CitedArticle(BaseModel):
    """An article that the text refers to; without a text where it is not here."""

    law: str
    article: str
    text: str | None = None


class Article(Statute):
    """An article in its context."""

    notice: str | None = _NOTICE
    imported_at: str = Field(description="When the text was imported, ISO 8601")
    title: str = Field(description="The full title of the law")
    previous: AdjacentArticle | None = None
    next: AdjacentArticle | None = None
    versions: list[str] = Field(description="The dates of all versions here, the newest first")
    current: bool = Field(description="False for a version that is not in force")
    references: list[CitedArticle] | None = Field(
        default=None, description="The articles that the text refers to, with their texts"
    )


class Case(Attributed):
    """A case that was found."""

    case: str = Field(description="The name of the case")
    headline: str | None = None
    section: str = Field(description="The section of the case that fits best")
    text: str = Field(description="The section, or a piece of it between … and …")
    decided: list[str] | None = Field(default=None, description="Court, day and number")
    cites: list[str] | None = Field(default=None, description="Articles that the case cites")
    uri: str = Field(description="The resource with the whole case")


class Cases(BaseModel):
    """The answer to a search for cases, the best result first."""

    notice: str | None = _NOTICE
    results: list[Case]


class TemplateField(BaseModel):
    """A field to fill."""

    name: str
    description: str


class TemplateEntry(Attributed):
    """A document template."""

    template: str
    title: str
    fields: list[TemplateField]
    uri: str


class Templates(BaseModel):
    """All templates."""

    notice: str | None = _NOTICE
    templates: list[TemplateEntry]


class Filled(Attributed):
    """A template with its fields filled."""

    notice: str | None = _NOTICE
    template: str
    title: str
    text: str
