"""The MCP server: its tools and resources."""

import sqlite3
from collections.abc import Callable
from typing import Annotated, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from mcpyard.legal import answers, shapes, templates
from mcpyard.legal.cases import CaseFilter
from mcpyard.legal.cases import search_cases as search_cases_in
from mcpyard.legal.collection import Collection
from mcpyard.legal.full_texts import article_page, index, page
from mcpyard.legal.model import DocumentKind
from mcpyard.legal.newer_versions import marked_article
from mcpyard.legal.not_found import TextNotFound
from mcpyard.legal.notices import say
from mcpyard.legal.query.asking import BadQuery
from mcpyard.legal.statutes import search_statutes as search_statutes_in
from mcpyard.legal.times import BadDate

_MARKDOWN: Final = "text/markdown"
_READS: Final = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_INSTRUCTIONS: Final = (
    "Statutes, cases and document templates. Cite law, article, version date and source of what "
    "you use. A `notice` says what was asked for and is not here, or not in force: pass it on, "
    "and never take a suggestion for the answer. A result with sample = true is invented, not law."
)

Limit = Annotated[int, Field(ge=1, le=50, description="At most so many results")]
AsOf = Annotated[
    str, Field(description="The day whose law counts, YYYY-MM-DD; today without 按该日有效的法律")
]


def make_server(collection: Collection) -> MCPServer:
    """A server that answers from a collection."""
    server = MCPServer(
        "mcpyard-legal",
        title="Legal knowledge",
        instructions=_INSTRUCTIONS,
        version="1",
        log_level="WARNING",
    )
    _add_search(server, collection)
    _add_templates(server, collection)
    _add_law_resources(server, collection)
    _add_case_resources(server, collection)
    return server


def _add_search(server: MCPServer, collection: Collection) -> None:
    @server.tool(annotations=_READS)
    def search_statutes(
        query: Annotated[
            str,
            Field(
                description="Words, a question, or laws and articles: 隐私权; 民法典 第九百九十条; "
                "2018年公司法第二十六条"
            ),
        ],
        law: Annotated[str | None, Field(description="Only in this law 仅限该法律")] = None,
        limit: Limit = 10,
        as_of: AsOf = "",
    ) -> Annotated[CallToolResult, shapes.Statutes]:
        """Search the articles of all statutes, by words or by law and article number. 检索法条.

        Read `notice` first: it says which named law or article is not in the collection.
        """
        return _answered(
            lambda: answers.statutes(
                search_statutes_in(collection.library(), query, law or None, limit, as_of)
            )
        )

    @server.tool(annotations=_READS)
    def get_article(
        law: Annotated[str, Field(description="Full or short name: 中华人民共和国民法典, 民法典")],
        article: Annotated[
            str | int,
            Field(
                description="第九百九十条, 第990条, 第十四条第二款, Article 990, 第133-1条, 序言"
            ),
        ],
        version: Annotated[
            str, Field(description="The date or the year of a version; the current one without")
        ] = "",
        as_of: AsOf = "",
    ) -> Annotated[CallToolResult, shapes.Article]:
        """Read one article of a law, with those around it and those it refers to. 读取法条."""
        library = collection.library()
        return _answered(
            lambda: answers.article(
                marked_article(library, library.article(law, str(article), version, as_of))
            )
        )

    @server.tool(annotations=_READS)
    def search_cases(  # noqa: PLR0913, PLR0917  each is an argument of the tool
        query: Annotated[
            str,
            Field(description="Words, a name, a number, a court, a day, or an article it cites"),
        ] = "",
        limit: Limit = 10,
        cites: Annotated[
            str, Field(description="Only cases that cite this article: 民法典第1066条")
        ] = "",
        court: Annotated[str, Field(description="Only of this court, or a part of its name")] = "",
        decided_from: Annotated[str, Field(description="First day, YYYY-MM-DD")] = "",
        decided_to: Annotated[str, Field(description="Last day, YYYY-MM-DD")] = "",
    ) -> Annotated[CallToolResult, shapes.Cases]:
        """Search published cases, by words, name, cited article, court or day. 检索案例."""
        library = collection.library()
        limits = CaseFilter(cites, court, decided_from, decided_to)
        return _answered(
            lambda: answers.cases(library, search_cases_in(library, query, limit, limits))
        )


def _add_templates(server: MCPServer, collection: Collection) -> None:
    @server.tool(annotations=_READS)
    def list_templates() -> Annotated[CallToolResult, shapes.Templates]:
        """List the document templates with the fields that each needs. 文书模板列表."""
        listed = collection.templates().values()
        entries = [
            shapes.TemplateEntry.model_validate(
                answers.attributed(each.hit)
                | {
                    "template": each.name,
                    "title": each.title,
                    "fields": [
                        {"name": name, "description": description}
                        for name, description in templates.fields(each.text).items()
                    ],
                    "uri": answers.template_uri(each),
                }
            )
            for each in listed
        ]
        hits = [each.hit for each in listed]
        shape = shapes.Templates(notice=answers.sample_notice(hits), templates=entries)
        return answers.answer(shape, hits)

    @server.tool(annotations=_READS)
    def fill_template(
        template: Annotated[str, Field(description="The name of a template")],
        fields: Annotated[
            dict[str, str | int | float], Field(description="A value for each field of it")
        ],
    ) -> Annotated[CallToolResult, shapes.Filled]:
        """Fill a document template; missing and unknown fields are named. 填写文书模板."""
        by_name = collection.templates()
        if (entry := by_name.get(template)) is None:
            message = say("no_template", name=template[:80], names=", ".join(by_name))
            return answers.refusal(message, [*by_name])
        if (wrong := templates.unfit(entry.text, fields)) is not None:
            return answers.refusal(_unfit_message(template, wrong))
        text = templates.fill(entry.text, fields)
        shape = shapes.Filled.model_validate(
            answers.attributed(entry.hit)
            | {"template": template, "title": entry.title, "text": text}
            | {"notice": answers.sample_notice([entry.hit])}
        )
        return answers.answer(shape, [entry.hit])


def _add_law_resources(server: MCPServer, collection: Collection) -> None:
    @server.resource("legal://laws", title="All laws", mime_type=_MARKDOWN)
    def laws() -> str:
        """The laws, each with the address of its text."""
        return index(collection.library(), DocumentKind.STATUTE)

    @server.resource("legal://laws/{law}", title="A law", mime_type=_MARKDOWN)
    def law_text(law: str) -> str:
        """The whole text of a law, in its current version."""
        return _read(lambda: page(collection.library(), DocumentKind.STATUTE, law))

    @server.resource("legal://laws/{law}/{version}", title="A law's version", mime_type=_MARKDOWN)
    def law_version(law: str, version: str) -> str:
        """The whole text of a law, in the version of a date."""
        return _read(lambda: page(collection.library(), DocumentKind.STATUTE, law, version))

    @server.resource(
        "legal://laws/{law}/{version}/{article}", title="An article", mime_type=_MARKDOWN
    )
    def law_article(law: str, version: str, article: str) -> str:
        """One article of a law, in the version of a date."""
        return _read(lambda: article_page(collection.library(), law, version, article))


def _add_case_resources(server: MCPServer, collection: Collection) -> None:
    @server.resource("legal://cases", title="All cases", mime_type=_MARKDOWN)
    def cases() -> str:
        """The cases, each with the address of its text."""
        return index(collection.library(), DocumentKind.CASE)

    @server.resource("legal://cases/{case}", title="A case", mime_type=_MARKDOWN)
    def case_text(case: str) -> str:
        """The whole text of a case."""
        return _read(lambda: page(collection.library(), DocumentKind.CASE, case))

    @server.resource("legal://templates/{template}", title="A template", mime_type=_MARKDOWN)
    def template_text(template: str) -> str:
        """The text of a template, with its fields."""
        if (entry := collection.templates().get(template)) is None:
            names = ", ".join(collection.templates())
            raise ResourceNotFoundError(say("no_template", name=template[:80], names=names))
        return entry.text


def _answered(ask: Callable[[], CallToolResult]) -> CallToolResult:
    try:
        return ask()
    except (BadQuery, BadDate) as error:
        return answers.refusal(str(error))
    except TextNotFound as error:
        return answers.refusal(str(error), error.nearest)
    except sqlite3.Error as error:
        return answers.refusal(say("unreadable", error=error))


def _read(text: Callable[[], str]) -> str:
    try:
        return text()
    except TextNotFound as error:
        raise ResourceNotFoundError(str(error)) from error


def _unfit_message(template: str, wrong: templates.Unfit) -> str:
    lines = [say("unfit", name=template)]
    if wrong.missing:
        lines.append(say("missing_fields", names=", ".join(wrong.missing)))
    if wrong.unknown:
        lines.append(say("unknown_fields", names=", ".join(wrong.unknown)))
    return " ".join(lines)
