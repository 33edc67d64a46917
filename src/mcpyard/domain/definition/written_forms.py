"""How a secret is written where a text is not plain: in JSON, addresses, HTML and Base64.

Apart from `secrets`, because it takes modules that a yard needs for nothing else.
"""

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from functools import partial
from html import escape
from urllib.parse import quote, quote_plus


def written_forms(secret: str) -> Iterator[str]:
    """The secret, and every way in which it may be written; some of them are the same."""
    yield secret
    for ascii_only in (False, True):
        yield json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
    # JSON can hold characters that are no text.
    raw = secret.encode(errors="surrogatepass")
    for quoted in (quote, quote_plus, partial(quote, safe="")):
        yield quoted(raw)
    yield escape(secret)
    for encoded in (b64encode, urlsafe_b64encode):
        # What fills it up to whole groups is not always written.
        yield encoded(raw).decode().rstrip("=")
