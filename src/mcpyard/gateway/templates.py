"""Whether an address fits a resource template (RFC 6570, as far as templates are matched)."""

import re
from collections.abc import Callable
from typing import Final

_EXPRESSION: Final = re.compile(r"\{([+#./;?&]?)[^{}]*\}")
_LONGEST: Final = 2_000


def matcher(template: str) -> Callable[[str], bool]:
    """Tells whether an address could have been made from a template.

    It decides only which server is asked first, so it may say yes too often.
    """
    if len(template) > _LONGEST:
        return lambda _: False
    pattern, end = "", 0
    for match in _EXPRESSION.finditer(template):
        pattern += re.escape(template[end : match.start()])
        pattern += "[^/?#]*" if match[1] == "" else ".*"
        end = match.end()
    whole = re.compile(pattern + re.escape(template[end:]))
    return lambda uri: len(uri) <= _LONGEST and whole.fullmatch(uri) is not None
