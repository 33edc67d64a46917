"""What a browser sees that was not let in: a page that says how to come in, not a line of JSON."""

from typing import TYPE_CHECKING, Final

from mcpyard.api.security.incoming import Incoming
from mcpyard.api.security.plain_page import plain_page

if TYPE_CHECKING:
    from starlette.responses import Response

_HOW_TO: Final = """<p>This browser is not signed in. Run <code>mcpyard open</code> on the machine
that runs mcpyard, then open the URL that it prints.</p>
<p lang="zh-Hans">此浏览器尚未登录。请在运行 mcpyard 的机器上执行
<code>mcpyard open</code> 并打开它给出的地址。</p>
<p lang="zh-Hant">此瀏覽器尚未登入。請在執行 mcpyard 的機器上執行
<code>mcpyard open</code> 並開啟它給出的位址。</p>"""
_UNAUTHORIZED: Final = 401


def is_looking(incoming: Incoming) -> bool:
    """Whether a person's browser asks for a page."""
    wants = incoming.header(b"accept") or ""
    return (
        not incoming.changes and incoming.header(b"authorization") is None and "text/html" in wants
    )


def strange_browser() -> "Response":
    """The page for one that is not let in."""
    return plain_page(_HOW_TO, _UNAUTHORIZED, headers={"WWW-Authenticate": "Bearer"})
