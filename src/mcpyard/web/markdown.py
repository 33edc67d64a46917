"""Markdown of servers as HTML: no HTML of theirs, no images, no links but to web pages and mail.

A heading becomes a paragraph, since the headings of the page are its own; no element gets a style.
"""

import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from html import escape
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup

from mcpyard.web.filters import inert

LONGEST: Final = 20_000
"""Characters of a text that is rendered; a longer one is shown as it is."""

_LINKED: Final = ("http://", "https://", "mailto:")
_OUTSIDE: Final = 'target="_blank" rel="noopener noreferrer nofollow"'
_MARKS: Final = re.compile(
    r"^ {0,3}(?:#{1,6} \S|```|~~~|[-*+] \S|\d{1,9}[.)] \S|> ?\S|\|.*\|)|\*\*\S|\]\(\S",
    re.MULTILINE,
)

_Env = MutableMapping[str, Any]


def looks_like_markdown(text: str) -> bool:
    """Whether a text without a type has marks of Markdown, and is short enough to render."""
    return len(text) <= LONGEST and _MARKS.search(text) is not None


def rendered(text: str) -> Markup:
    """The HTML of a text."""
    return Markup(_parser().render(inert(text[:LONGEST])))  # noqa: S704  the renderer escapes


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.validateLink = lambda url: url.lower().startswith(_LINKED)
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _link(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: _Env
) -> str:
    del renderer, options, env
    return f'<a href="{escape(str(tokens[at].attrGet("href") or ""))}" {_OUTSIDE}>'


def _image(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: _Env
) -> str:
    """A link to the image: nothing is loaded from elsewhere."""
    token = tokens[at]
    where = escape(str(token.attrGet("src") or ""))
    name = escape(renderer.renderInlineAsText(token.children or [], options, env)) or where
    return f'<a href="{where}" {_OUTSIDE}>{name}</a>'


def _heading(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: _Env
) -> str:
    del renderer, options, env
    return f'<p class="md-heading md-{tokens[at].tag}">' if tokens[at].nesting > 0 else "</p>\n"


def _cell(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: _Env
) -> str:
    """A cell without its alignment, which would be a style."""
    del renderer, options, env
    return f"<{tokens[at].tag}>"


_RULES: Final = {
    "link_open": _link,
    "image": _image,
    "heading_open": _heading,
    "heading_close": _heading,
    "th_open": _cell,
    "td_open": _cell,
}
