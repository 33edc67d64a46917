"""A page for a browser that has no session, whole in one answer: it may load nothing else."""

import base64
import hashlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

_STYLE: Final = """
:root { color-scheme: light dark; }
body {
  margin: 0; min-height: 100vh; display: grid; place-items: center; overflow-wrap: anywhere;
  background: light-dark(#f5f6f4, #14171a); color: light-dark(#1b2125, #e6e9ea);
  font: 15px/1.6 system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", sans-serif;
}
main {
  box-sizing: border-box; width: min(30rem, 100vw - 2rem); margin: 1rem; padding: 1.5rem 1.75rem;
  background: light-dark(#ffffff, #1c2024); border-radius: 10px;
  border: 1px solid light-dark(#dadfdc, #333a40);
}
h1 {
  display: flex; align-items: center; gap: .6rem;
  margin: 0 0 1rem; font-size: 20px; line-height: 1.3;
}
h1 svg { width: 30px; height: 30px; }
h2 { margin: 0; font-size: 16px; }
p { margin: .75rem 0 0; }
p:lang(zh-Hant) { font-family: system-ui, "Noto Sans CJK TC", "PingFang TC", sans-serif; }
a { color: light-dark(#17634f, #5fc9a8); }
code {
  padding: .1rem .35rem; border-radius: 5px; background: light-dark(#eef0ed, #262b30);
  font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
"""
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>%s</style>
%s</head>
<body>
<main>
<h1><svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#1f6f5c"/>
<path d="M8 23L16 9l8 14" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"
stroke-linejoin="round"/></svg>mcpyard</h1>
%s
</main>
</body>
</html>
"""
_DIGEST: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""Nothing but the style that stands in the page."""


def plain_page(
    body: str,
    status: int = 200,
    *,
    title: str = "",
    head: str = "",
    headers: "Mapping[str, str] | None" = None,
) -> "Response":
    """A page with this in its body, and in its head; both are HTML."""
    # Seldom needed, and not by a start.
    from html import escape  # noqa: PLC0415

    from starlette.responses import Response  # noqa: PLC0415

    named = f"{escape(title)} - mcpyard" if title else "mcpyard"

    every = {"Content-Security-Policy": POLICY, **(headers or {})}
    return Response(_PAGE % (named, _STYLE, head, body), status, every, media_type="text/html")
