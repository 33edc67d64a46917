"""The page's own files: styles, scripts, pictures.

Their address holds a digest of all of them, so that a browser may keep each for good and still sees
a new one at once.
"""

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

FOLDER: Final = Path(__file__).with_name("static")

_KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FOR_GOOD: Final = "public, max-age=31536000, immutable"
_GONE: Final = 404


@cache
def files() -> dict[str, Path]:
    """Every file by its path below the folder; nothing else is ever served."""
    paths = (each for each in sorted(FOLDER.rglob("*")) if each.suffix in _KINDS)
    return {each.relative_to(FOLDER).as_posix(): each for each in paths}


@cache
def version() -> str:
    """A digest of all files."""
    digest = hashlib.sha256()
    for name, path in files().items():
        digest.update(name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def address(name: str) -> str:
    """Where a file is found."""
    return f"/static/{version()}/{name}"


async def static(request: Request) -> Response:
    """One file."""
    path = files().get(request.path_params["name"])
    if path is None:
        return Response(status_code=_GONE)
    packed = accepts_gzip(request)
    headers = {"Vary": "Accept-Encoding"} | ({"Content-Encoding": "gzip"} if packed else {})
    is_current = request.path_params["version"] == version()
    headers |= {"Cache-Control": _FOR_GOOD if is_current else "no-store"}
    body = _packed(path) if packed else _read(path)
    return Response(body, headers=headers, media_type=_KINDS[path.suffix])


def accepts_gzip(request: Request) -> bool:
    """Whether a browser takes a packed answer."""
    return "gzip" in request.headers.get("accept-encoding", "")


@cache
def _read(path: Path) -> bytes:
    return path.read_bytes()


@cache
def _packed(path: Path) -> bytes:
    return gzip.compress(_read(path))
