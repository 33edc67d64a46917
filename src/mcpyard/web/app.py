"""The page's routes: the one table of its addresses."""

import asyncio

from starlette.routing import Route

from mcpyard.web import assets
from mcpyard.web.activity import ActivityRoutes
from mcpyard.web.change_tracker import ChangeTracker
from mcpyard.web.client_screens.changes import ClientChangeRoutes
from mcpyard.web.client_screens.clients import ClientsRoutes
from mcpyard.web.client_screens.connecting import ConnectPages
from mcpyard.web.client_screens.undoing import UndoRoutes
from mcpyard.web.components import components
from mcpyard.web.context import PageContext
from mcpyard.web.degraded import DegradedRoutes
from mcpyard.web.problems import Handler, telling
from mcpyard.web.profiles import ProfilePages, TokenPages
from mcpyard.web.server_screens.adding import AddRoutes
from mcpyard.web.server_screens.approving import ApproveRoutes
from mcpyard.web.server_screens.changing import ChangeRoutes
from mcpyard.web.server_screens.importing import ImportRoutes
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.server_screens.server import ServerPages
from mcpyard.web.server_screens.servers import ServersRoutes
from mcpyard.web.server_screens.toolbench import ToolRoutes
from mcpyard.web.settings import SettingsRoutes
from mcpyard.web.stream import NewsRoutes
from mcpyard.yard.yard import YardCore


def pages(yard: YardCore, closing: asyncio.Event, context: PageContext) -> list[Route]:
    """Every address of the page; its streams end when `closing` is set."""
    presenter = ServerPresenter(ChangeTracker(yard))
    news = NewsRoutes(presenter, closing)
    return [
        Route("/static/{version}/{name:path}", assets.static),
        Route("/ui/news", news.news),
        Route("/ui/stream", news.stream),
        Route("/ui/degraded", DegradedRoutes(yard).banner),
        Route("/components", components),
        *_servers(presenter),
        *_changes(presenter),
        *_tools(presenter),
        *_settings(presenter, context),
        *_clients(presenter),
        *_activity(presenter),
    ]


def _servers(presenter: ServerPresenter) -> list[Route]:
    servers, approving = ServersRoutes(presenter), ApproveRoutes(presenter)
    one = "/ui/servers/{ref}"
    return [
        Route("/", servers.screen),
        Route("/servers/{ref}", ServerPages(presenter).screen),
        Route(f"{one}/tools", telling(servers.tools)),
        _post(f"{one}/start", servers.start),
        _post(f"{one}/stop", servers.stop),
        _post(f"{one}/restart", servers.restart),
        _post(f"{one}/enable", servers.enable),
        Route(f"{one}/approve", telling(approving.dialog)),
        _post(f"{one}/approve", approving.approve),
        _post(f"{one}/login", servers.login),
        _post(f"{one}/logout", servers.logout),
    ]


def _changes(presenter: ServerPresenter) -> list[Route]:
    adding, changing, importing = (
        AddRoutes(presenter),
        ChangeRoutes(presenter),
        ImportRoutes(presenter),
    )
    one = "/ui/servers/{ref}"
    return [
        Route("/ui/servers/add", adding.dialog),
        _post("/ui/servers", adding.add),
        _post("/ui/servers/test", adding.test),
        _post("/ui/servers/read", adding.read),
        _post("/ui/servers/import", adding.import_text),
        Route("/ui/servers/found", telling(importing.found)),
        _post("/ui/servers/found", importing.take),
        _post("/ui/servers/example", importing.example),
        Route(f"{one}/edit", telling(changing.dialog)),
        Route(f"{one}/delete", telling(changing.ask)),
        _post(f"{one}/edit", changing.change),
        _post(f"{one}/diff", changing.diff),
        Route(one, telling(changing.remove), methods=["DELETE"]),
    ]


def _tools(presenter: ServerPresenter) -> list[Route]:
    tools = ToolRoutes(presenter)
    one = "/ui/servers/{ref}/tools/{tool}"
    return [
        Route("/tools", tools.screen),
        Route("/ui/tools", telling(tools.rows)),
        Route(one, telling(tools.tool)),
        _post(f"{one}/switch", tools.switch),
        _post(f"{one}/call", tools.call),
        _post(f"{one}/start", tools.start),
    ]


def _clients(presenter: ServerPresenter) -> list[Route]:
    clients, changes = ClientsRoutes(presenter), ClientChangeRoutes(presenter)
    undoing = UndoRoutes(presenter)
    return [
        Route("/clients", clients.screen),
        Route("/ui/clients", telling(clients.part)),
        Route("/ui/clients/show", telling(clients.show)),
        Route("/ui/clients/copy", telling(changes.copy_dialog)),
        Route("/ui/clients/edit", telling(changes.edit_dialog)),
        Route("/ui/clients/remove", telling(changes.remove_dialog)),
        Route("/ui/clients/undo", telling(undoing.ask)),
        _post("/ui/clients/undo", undoing.undo),
        _post("/ui/clients/switch", changes.switch),
        _post("/ui/clients/{verb}", changes.apply),
        _post("/ui/clients/{verb}/preview", changes.preview),
    ]


def _activity(presenter: ServerPresenter) -> list[Route]:
    activity = ActivityRoutes(presenter)
    return [
        Route("/activity", activity.screen),
        Route("/ui/calls", telling(activity.calls)),
        Route("/ui/calls/older", telling(activity.older)),
        Route("/ui/calls/newer", telling(activity.newer)),
    ]


def _settings(presenter: ServerPresenter, context: PageContext) -> list[Route]:
    settings, connect = SettingsRoutes(presenter, context), ConnectPages(presenter, context)
    profiles, tokens = ProfilePages(presenter), TokenPages(presenter, context)
    return [
        Route("/settings", settings.screen),
        Route("/ui/settings", telling(settings.part)),
        Route("/ui/clients/connect", telling(connect.dialog)),
        _post("/ui/clients/connect", connect.apply),
        _post("/ui/clients/connect/preview", connect.preview),
        Route("/ui/profiles/edit", telling(profiles.dialog)),
        Route("/ui/profiles/remove", telling(profiles.ask)),
        _post("/ui/profiles", profiles.save),
        _post("/ui/profiles/remove", profiles.remove),
        Route("/ui/tokens/edit", telling(tokens.dialog)),
        Route("/ui/tokens/remove", telling(tokens.ask)),
        _post("/ui/tokens", tokens.create),
        _post("/ui/tokens/remove", tokens.revoke),
    ]


def _post(path: str, handler: Handler) -> Route:
    return Route(path, telling(handler), methods=["POST"])
