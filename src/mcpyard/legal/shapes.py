"""The shapes of the answers: what the output schemas of the tools are made from."""

from pydantic import BaseModel, Field

_LAW = Field(description="The law, without the name of the state, with the part of a code")
_ARTICLE = Field(description="The article as it is cited, e.g. 第九百九十条")


class Attributed(BaseModel):
    """Where a text comes from."""

    source: str = Field(description="Where the text was taken from")
    version_date: str | None = Field(
        description="The day of this version, YYYY-MM-DD; null when the source does not say"
    )
    imported_at: str = Field(description="When the text was imported, ISO 8601")
    sample: bool = Field(description="True for invented sample text, which is not law")


class Statute(Attributed):
    """An article that was found."""

    law: str = _LAW
    article: str = _ARTICLE
    headings: str = Field(description="Parts, chapters and sections, separated by >")
    text: str
    excerpt: str = Field(description="A piece of the text, the words found between ** and **")
    uri: str = Field(description="The resource with the whole law")


class Statutes(BaseModel):
    """The answer to a search for statutes, the best result first."""

    results: list[Statute]
    notice: str | None = None


class AdjacentArticle(BaseModel):
    """The article before or after."""

    article: str
    text: str


class Article(Statute):
    """An article in its context."""

    title: str = Field(description="The full title of the law")
    previous: AdjacentArticle | None
    next: AdjacentArticle | None
    versions: list[str] = Field(description="The dates of all versions here, the newest first")
    current: bool = Field(description="False for an older version of the law")
    notice: str | None = None


class Case(Attributed):
    """A case that was found."""

    case: str = Field(description="The name of the case")
    headline: str
    section: str = Field(description="The section of the case that fits best")
    text: str
    excerpt: str = Field(description="A piece of the text, the words found between ** and **")
    uri: str = Field(description="The resource with the whole case")


class Cases(BaseModel):
    """The answer to a search for cases, the best result first."""

    results: list[Case]
    notice: str | None = None


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

    templates: list[TemplateEntry]


class Filled(Attributed):
    """A template with its fields filled."""

    template: str
    title: str
    text: str
