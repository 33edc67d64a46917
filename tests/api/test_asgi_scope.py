"""What mcpyard keeps in the ASGI scope: one module has the keys, everybody else its names."""

import ast
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import mcpyard
from mcpyard import asgi_scope
from mcpyard.asgi_scope import Principal, Scope, annotate, caller_name, is_owner, principal_of
from mcpyard.domain.stored import CallToken

SOURCE = Path(mcpyard.__file__).parent
STANDARD = {
    *("type", "asgi", "http_version", "method", "scheme", "path", "raw_path", "query_string"),
    *("root_path", "headers", "client", "server", "state"),
}
OURS = {
    value for name, value in vars(asgi_scope).items() if name.isupper() and isinstance(value, str)
}
TOKEN = CallToken(UUID(int=1), "laptop", "hash", None, datetime(2026, 1, 1, tzinfo=UTC))


def scope_keys(tree: ast.Module) -> set[str]:
    """The literal keys that a module reads from or writes to something called `scope`."""
    keys: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=holder, slice=ast.Constant(value=str(key))):
                pass
            case ast.Call(
                func=ast.Attribute(value=holder, attr="get" | "pop" | "setdefault"),
                args=[ast.Constant(value=str(key)), *_],
            ):
                pass
            case _:
                continue
        if ast.unparse(holder).rpartition(".")[2] == "scope":
            keys.add(key)
    return keys


def test_every_literal_scope_key_outside_its_module_is_one_of_the_asgi_specification() -> None:
    strange = {
        (path.relative_to(SOURCE).as_posix(), key)
        for path in SOURCE.rglob("*.py")
        for key in scope_keys(ast.parse(path.read_bytes())) - STANDARD
    }
    assert strange == set()


def test_our_own_scope_keys_are_written_once() -> None:
    holders = {
        path.name
        for path in SOURCE.rglob("*.py")
        if any(f'"{key}"' in path.read_text() for key in OURS)
    }
    assert holders == {"asgi_scope.py"}
    assert all(key.startswith("mcpyard.") for key in OURS)
    assert len(OURS) == 5


def test_routes_find_what_the_guard_noted() -> None:
    scope: Scope = {"type": "http", "path": "/a/b", "headers": []}
    admin = Principal("admin")
    assert annotate(scope, "/a%2Fb", {b"host": b"x"}, admin) is scope
    assert (scope["path"], scope[asgi_scope.HEADERS]) == ("/a%2Fb", {b"host": b"x"})
    assert principal_of(scope) is admin
    assert (caller_name(scope, "page"), is_owner(scope)) == ("admin", True)


def test_nobody_is_named_where_nobody_was_recognised() -> None:
    public = annotate({"type": "http"}, "/", {}, None)
    for scope in (public, {"type": "http"}):
        assert principal_of(scope) is None
        assert (caller_name(scope, "page"), is_owner(scope)) == ("page", False)


def test_the_holder_of_a_call_token_is_named_and_does_not_see_everything() -> None:
    scope = annotate({"type": "http"}, "/", {}, Principal.holding(TOKEN))
    assert (caller_name(scope, "page"), is_owner(scope)) == ("token:laptop", False)
