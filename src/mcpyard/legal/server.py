"""The MCP server: its tools and resources."""

import sqlite3
from collections.abc import Callable
from typing import Annotated, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from mcpyard.legal import answers, shapes, templates
from mcpyard.legal.collection import Collection
from mcpyard.legal.full_texts import index, page
from mcpyard.legal.library import TextNotFound
from mcpyard.legal.model import DocumentKind
from mcpyard.legal.query.asking import BadQuery

_READS: Final = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_INSTRUCTIONS: Final = (
    "Statutes, cases and document templates. Cite law, article, version date and source of what "
    "you use; a result with sample = true is invented and not law."
)

Limit = Annotated[int, Field(ge=1, le=50, description="At most so many results")]


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
    _add_resources(server, collection)
    return server


def _add_search(server: MCPServer, collection: Collection) -> None:
    @server.tool(annotations=_READS)
    def search_statutes(
        query: Annotated[
            str, Field(description="Words, or a law and an article: 隐私权; 民法典 第九百九十条")
        ],
        law: Annotated[str | None, Field(description="Only in this law")] = None,
        limit: Limit = 10,
    ) -> Annotated[CallToolResult, shapes.Statutes]:
        """Search the articles of all statutes, by words or by law and article number."""
        return _answered(
            lambda: answers.statutes(collection.library().statutes(query, law or None, limit))
        )

    @server.tool(annotations=_READS)
    def get_article(
        law: Annotated[str, Field(description="Full or short name: 中华人民共和国民法典, 民法典")],
        article: Annotated[
            str | int,
            Field(description="第九百九十条, 第990条, Article 990, 第一百二十条之一, 序言"),
        ],
        version: Annotated[
            str, Field(description="The date of an older version; the current one without")
        ] = "",
    ) -> Annotated[CallToolResult, shapes.Article]:
        """Read one article of a law, with the articles before and after it."""
        return _answered(
            lambda: answers.article(collection.library().article(law, str(article), version))
        )

    @server.tool(annotations=_READS)
    def search_cases(
        query: Annotated[str, Field(description="Words, or the name of a case")],
        limit: Limit = 10,
    ) -> Annotated[CallToolResult, shapes.Cases]:
        """Search published cases, by words or by name."""
        return _answered(lambda: answers.cases(collection.library().cases(query, limit)))


def _add_templates(server: MCPServer, collection: Collection) -> None:
    @server.tool(annotations=_READS)
    def list_templates() -> Annotated[CallToolResult, shapes.Templates]:
        """List the document templates with the fields that each needs."""
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
        lines = [
            f"{entry.template}: {entry.title} ({', '.join(each.name for each in entry.fields)})"
            for entry in entries
        ]
        shape = shapes.Templates(templates=entries)
        return answers.answer(shape, "\n".join(lines), [each.hit for each in listed])

    @server.tool(annotations=_READS)
    def fill_template(
        template: Annotated[str, Field(description="The name of a template")],
        fields: Annotated[
            dict[str, str | int | float], Field(description="A value for each field of it")
        ],
    ) -> Annotated[CallToolResult, shapes.Filled]:
        """Fill a document template; missing and unknown fields are named."""
        by_name = collection.templates()
        if (entry := by_name.get(template)) is None:
            message = f"No template is called {template[:80]!r}. There are: {', '.join(by_name)}."
            return answers.refusal(message, [*by_name])
        if (wrong := templates.unfit(entry.text, fields)) is not None:
            return answers.refusal(_unfit_message(template, wrong))
        text = templates.fill(entry.text, fields)
        shape = shapes.Filled.model_validate(
            answers.attributed(entry.hit)
            | {"template": template, "title": entry.title, "text": text}
        )
        return answers.answer(shape, text, [entry.hit])


def _add_resources(server: MCPServer, collection: Collection) -> None:
    markdown = "text/markdown"

    @server.resource("legal://laws", title="All laws", mime_type=markdown)
    def laws() -> str:
        """The laws, each with the address of its text."""
        return index(collection.library(), DocumentKind.STATUTE)

    @server.resource("legal://cases", title="All cases", mime_type=markdown)
    def cases() -> str:
        """The cases, each with the address of its text."""
        return index(collection.library(), DocumentKind.CASE)

    @server.resource("legal://laws/{law}", title="A law", mime_type=markdown)
    def law_text(law: str) -> str:
        """The whole text of a law, in its current version."""
        return _read(lambda: page(collection.library(), DocumentKind.STATUTE, law))

    @server.resource("legal://laws/{law}/{version}", title="A law's version", mime_type=markdown)
    def law_version(law: str, version: str) -> str:
        """The whole text of a law, in the version of a date."""
        return _read(lambda: page(collection.library(), DocumentKind.STATUTE, law, version))

    @server.resource("legal://cases/{case}", title="A case", mime_type=markdown)
    def case_text(case: str) -> str:
        """The whole text of a case."""
        return _read(lambda: page(collection.library(), DocumentKind.CASE, case))

    @server.resource("legal://templates/{template}", title="A template", mime_type=markdown)
    def template_text(template: str) -> str:
        """The text of a template, with its fields."""
        if (entry := collection.templates().get(template)) is None:
            raise ResourceNotFoundError(f"No template is called {template[:80]!r}.")
        return entry.text


def _answered(ask: Callable[[], CallToolResult]) -> CallToolResult:
    try:
        return ask()
    except BadQuery as error:
        return answers.refusal(str(error))
    except TextNotFound as error:
        return answers.refusal(str(error), error.nearest)
    except sqlite3.Error as error:
        return answers.refusal(f"The corpus can't be read: {error}. Import it again.")


def _read(text: Callable[[], str]) -> str:
    try:
        return text()
    except TextNotFound as error:
        raise ResourceNotFoundError(str(error)) from error


def _unfit_message(template: str, wrong: templates.Unfit) -> str:
    lines = [f"The template {template!r} can't be filled."]
    if wrong.missing:
        lines.append(f"Missing fields: {', '.join(wrong.missing)}.")
    if wrong.unknown:
        lines.append(f"Unknown fields: {', '.join(wrong.unknown)}.")
    return " ".join(lines)
