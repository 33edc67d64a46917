"""A small authorization server and a resource that it protects, on one address."""

import base64
import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route


@dataclass
class Issuer:
    """Its whole state, for tests to look at and to spoil."""

    base: str = ""
    lifetime: int = 3600
    clients: dict[str, dict[str, Any]] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    valid: set[str] = field(default_factory=set)
    refreshable: set[str] = field(default_factory=set)
    refreshes: int = 0
    meanwhile: Callable[[], object] = str
    """What happens while a token is renewed."""

    calls: int = 0
    resources: list[str] = field(default_factory=list)
    broken: bool = False
    secrets_in: str = ""
    """Where the secret of a client must be: `basic`, `post`, or nowhere for clients without."""

    challenge_methods: list[str] | None = field(default_factory=lambda: ["S256"])
    flood: int = 0
    """Bytes that every description is too long."""

    elsewhere: str = ""
    """Where the tokens are said to be, instead of here."""

    token_requests: list[str] = field(default_factory=list)

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/oauth-protected-resource/mcp", self.resource),
                Route("/.well-known/oauth-authorization-server", self.metadata),
                Route("/register", self.register, methods=["POST"]),
                Route("/authorize", self.authorize),
                Route("/token", self.token, methods=["POST"]),
                Route("/mcp", self.mcp, methods=["POST"]),
            ]
        )

    async def resource(self, _request: Request) -> Response:
        return JSONResponse({"resource": f"{self.base}/mcp", "authorization_servers": [self.base]})

    async def metadata(self, _request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.base,
                "authorization_endpoint": f"{self.base}/authorize",
                "token_endpoint": f"{self.elsewhere or self.base}/token",
                "registration_endpoint": f"{self.elsewhere or self.base}/register",
                "code_challenge_methods_supported": self.challenge_methods,
                "more": "x" * self.flood,
                "token_endpoint_auth_methods_supported": [
                    f"client_secret_{self.secrets_in}" if self.secrets_in else "none"
                ],
                "authorization_response_iss_parameter_supported": True,
            }
        )

    async def register(self, request: Request) -> Response:
        metadata = await request.json()
        number = f"client-{len(self.clients)}"
        record = {**metadata, "client_id": number, "token_endpoint_auth_method": "none"}
        self.clients[number] = record
        return JSONResponse(record, 201)

    async def authorize(self, request: Request) -> Response:
        query = dict(request.query_params)
        assert query["redirect_uri"] in self.clients[query["client_id"]]["redirect_uris"]
        assert query["code_challenge_method"] == "S256"
        code = secrets.token_hex(8)
        self.codes[code] = query
        back = {"code": code, "state": query["state"], "iss": self.base}
        return RedirectResponse(f"{query['redirect_uri']}?{urlencode(back)}", 302)

    async def token(self, request: Request) -> Response:
        if self.broken:
            return Response("down", 503)
        form = {
            name: values[0] for name, values in parse_qs((await request.body()).decode()).items()
        }
        self.resources.append(form.get("resource", ""))
        basic = request.headers.get("authorization", "").removeprefix("Basic ")
        in_head = base64.b64decode(basic).decode().partition(":")[2]
        self.token_requests.append(
            {"basic": in_head, "post": form.get("client_secret", "")}.get(self.secrets_in, "")
        )
        if form["grant_type"] == "refresh_token":
            self.refreshes += 1
            self.meanwhile()
            good = form["refresh_token"] in self.refreshable
            self.refreshable.discard(form["refresh_token"])
        else:
            authorization = self.codes.pop(form["code"], None)
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            proof = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            good = authorization is not None and authorization["code_challenge"] == proof
        return self.grant() if good else JSONResponse({"error": "invalid_grant"}, 400)

    def grant(self) -> Response:
        access, refresh = secrets.token_hex(8), secrets.token_hex(8)
        self.valid.add(access)
        self.refreshable.add(refresh)
        return JSONResponse(
            {
                "access_token": access,
                "refresh_token": refresh,
                "token_type": "Bearer",
                "expires_in": self.lifetime,
            }
        )

    async def mcp(self, request: Request) -> Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.valid:
            where = f"{self.base}/.well-known/oauth-protected-resource/mcp"
            header = f'Bearer resource_metadata="{where}"'
            return Response("", 401, {"WWW-Authenticate": header})
        self.calls += 1
        number = (await request.json())["id"]
        return JSONResponse({"jsonrpc": "2.0", "id": number, "result": {}})


async def consent(url: str) -> dict[str, str]:
    """Do what a person's browser does, up to the call back."""
    async with httpx2.AsyncClient() as browser:
        response = await browser.get(url)
    query = parse_qs(urlsplit(response.headers["location"]).query)
    return {name: values[0] for name, values in query.items()}
