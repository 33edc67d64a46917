"""Every door of the application, and those who stand before it."""

import re
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import httpx2
from starlette.routing import BaseRoute, Mount, Route

from tests.api.asgi import YardApi, client_of

PROBES = {"/livez", "/readyz", "/healthz"}
PUBLIC = {
    ("GET", "/login"),
    ("GET", "/oauth/callback"),
    *((method, path) for method in ("GET", "HEAD") for path in PROBES),
}

_PART = re.compile(r"\{[^}]*\}")


async def every_door(api: YardApi) -> list[tuple[str, str]]:
    """Each method and path of the application's route table, through all mounts."""
    # All routes are loaded once nothing answers that is loaded so far.
    assert (await api.get("/no-such-route")).status_code == 404
    return [*_doors(cast("Any", api.app)._app.rest._app.routes, "")]


def _doors(routes: Iterable[BaseRoute], prefix: str) -> Iterable[tuple[str, str]]:
    for route in routes:
        if isinstance(route, Mount):
            yield prefix + route.path, "/"
            yield from _doors(route.routes, prefix + route.path)
        else:
            assert isinstance(route, Route), (
                f"a kind of route that this walk does not know: {route}"
            )
            for method in sorted(route.methods or {"GET"}):
                yield method, prefix + _PART.sub("x", route.path)


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser that was let in; its client sends the cookie, and nothing else of its own."""

    client: httpx2.AsyncClient
    key: str
    page: httpx2.Response

    def headers(self, **more: str) -> Mapping[str, str]:
        """What a script of the yard's own page sends."""
        return {"X-Mcpyard-Key": self.key, "Sec-Fetch-Site": "same-origin", **more}


@asynccontextmanager
async def let_in(api: YardApi) -> AsyncGenerator[Browser]:
    """A browser that came by a new link."""
    link = (await api.post("/api/login-links")).json()["url"]
    async with client_of(api.app, {}) as client:
        page = await client.get(link)
        assert page.status_code == 200
        (cookie,) = page.headers.get_list("set-cookie")
        client.headers["Cookie"] = cookie.split(";")[0]
        match = re.search(r'<meta name="mcpyard-key" content="([^"]+)">', page.text)
        assert match
        yield Browser(client, match.group(1), page)
