"""From data to HTML: one environment of templates, and what every one of them knows."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import Response

from mcpyard import __version__
from mcpyard.web import filters, messages
from mcpyard.web.assets import accepts_gzip, address
from mcpyard.web.badges import UNKNOWN
from mcpyard.web.catalogues import LANGUAGES, Catalogue, choose_language, words_in
from mcpyard.web.chart_words import chart_words
from mcpyard.web.server_screens import listing
from mcpyard.web.server_screens.listing import ListChoice
from mcpyard.yard.consent import text_of

LANGUAGE_COOKIE: Final = "mcpyard_language"
THEME_COOKIE: Final = "mcpyard_theme"
THEMES: Final = ("auto", "light", "dark")
KEYS_COOKIE: Final = "mcpyard_keys"
KEYS: Final = ("on", "off")
"""Whether a single key does something by itself; the palette has a modifier and always opens."""

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "media-src data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What the browser may load: our own files and nothing else. `data:` is for the images and
sounds that tools answer with."""

NO_PREFETCH: Final = {"X-DNS-Prefetch-Control": "off"}
"""Keeps the browser from looking up hosts of links that nobody has opened."""

HTML: Final = "text/html; charset=utf-8"

LARGE: Final = 8192
"""Bytes from which on an answer is packed."""

TABS: Final = (
    ("servers", "/", "stack"),
    ("tools", "/tools", "tool"),
    ("clients", "/clients", "screens"),
    ("activity", "/activity", "pulse"),
    ("settings", "/settings", "gear"),
)
"""Each tab of the control panel: the key of its name, its address, its icon."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """How somebody wants to see the page."""

    language: str
    theme: str
    keys: str = KEYS[0]
    listing: ListChoice = field(default_factory=ListChoice)

    @property
    def words(self) -> Catalogue:
        """The words of the language."""
        return words_in(self.language)


def preferences_of(request: Request) -> Preferences:
    """What a browser asks for, or its person chose."""
    chosen = request.cookies.get(LANGUAGE_COOKIE)
    theme = request.cookies.get(THEME_COOKIE, "")
    language = choose_language(chosen, request.headers.get("accept-language", ""))
    keys = request.cookies.get(KEYS_COOKIE, "")
    return Preferences(
        language,
        theme if theme in THEMES else THEMES[0],
        keys if keys in KEYS else KEYS[0],
        ListChoice.of(request.cookies),
    )


TemplateData: TypeAlias = dict[str, object]
"""What a template shows, by the names that it uses."""


def render(preferences: Preferences, template: str, data: Mapping[str, object]) -> str:
    """A template filled in."""
    context = {**data, "t": preferences.words, "preferences": preferences}
    return environment().get_template(template).render(context)


def answer(
    request: Request,
    template: str,
    data: Mapping[str, object] | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A template as an answer, be it a whole page or a part of one."""
    text = render(preferences_of(request), template, data or {})
    strict = {"Content-Security-Policy": POLICY, **NO_PREFETCH, **(headers or {})}
    body = text.encode()
    if len(body) >= LARGE and accepts_gzip(request):
        # No secret is on the page, so that its size tells nothing of one.
        body = gzip.compress(body, 1)
        strict |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(body, status, strict, media_type=HTML)


@cache
def environment() -> Environment:
    """The templates; each is compiled when it is first used."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        auto_reload=False,
    )
    template_globals = cast("dict[str, object]", made.globals)
    template_globals.update(
        static=address,
        languages=LANGUAGES,
        themes=THEMES,
        key_choices=KEYS,
        list_choices=listing.CHOICES,
        tabs=TABS,
        version=__version__,
        url=filters.url,
        unknown=UNKNOWN,
        shown_text=text_of,
        chart_words=chart_words,
        cause_message=messages.cause_message,
        finding_message=messages.finding_message,
        note_message=messages.note_message,
        sentence_message=messages.sentence_message,
        warning_message=messages.warning_message,
    )
    made.filters.update(filters.FILTERS)
    return made
