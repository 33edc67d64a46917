"""The page's routes: the one table of its addresses."""

import asyncio

from starlette.routing import Route

from mcpyard.web import assets
from mcpyard.web.activity import ActivityRoutes
from mcpyard.web.call_inspector import CallInspector
from mcpyard.web.change_tracker import ChangeTracker
from mcpyard.web.charts import ChartPages
from mcpyard.web.client_screens.changes import ClientChangeRoutes
from mcpyard.web.client_screens.clients import ClientsRoutes
from mcpyard.web.client_screens.connecting import ConnectPages
from mcpyard.web.client_screens.fixing import FindingRoutes
from mcpyard.web.client_screens.profile_pages import ProfilePages
from mcpyard.web.client_screens.sync_pages import SyncPages
from mcpyard.web.client_screens.undoing import UndoRoutes
from mcpyard.web.cluster import ClusterPanel
from mcpyard.web.components import components
from mcpyard.web.context import PageContext
from mcpyard.web.degraded import DegradedRoutes
from mcpyard.web.palette import PaletteRoutes
from mcpyard.web.problems import Handler, telling
from mcpyard.web.recording import RecordingPages
from mcpyard.web.secrets import SecretPages
from mcpyard.web.server_screens.adding import AddRoutes
from mcpyard.web.server_screens.approving import ApproveRoutes
from mcpyard.web.server_screens.bulk import BulkRoutes
from mcpyard.web.server_screens.changing import ChangeRoutes
from mcpyard.web.server_screens.content_pages import ContentPages
from mcpyard.web.server_screens.fixing import FixRoutes
from mcpyard.web.server_screens.importing import ImportRoutes
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.server_screens.run_pages import RunRoutes
from mcpyard.web.server_screens.server import ServerPages
from mcpyard.web.server_screens.servers import ServersRoutes
from mcpyard.web.server_screens.toolbench import ToolRoutes
from mcpyard.web.settings import SettingsRoutes
from mcpyard.web.stream import NewsRoutes
from mcpyard.web.tokens import TokenPages
from mcpyard.yard.yard import YardCore


def pages(yard: YardCore, closing: asyncio.Event, context: PageContext) -> list[Route]:
    """Every address of the page; its streams end when `closing` is set."""
    presenter = ServerPresenter(ChangeTracker(yard))
    news, content = NewsRoutes(presenter, closing), ContentPages(presenter, closing)
    return [
        Route("/static/{version}/{name:path}", assets.static),
        Route("/ui/news", news.news),
        Route("/ui/stream", news.stream),
        Route("/ui/degraded", DegradedRoutes(yard).banner),
        *_cluster(presenter),
        Route("/components", components),
        *_servers(presenter, content),
        *_content(content),
        *_changes(presenter),
        *_many(presenter),
        *_tools(presenter, closing),
        *_settings(presenter, context),
        *_clients(presenter, context),
        *_activity(presenter),
    ]


def _content(content: ContentPages) -> list[Route]:
    one = "/ui/servers/{ref}"
    return [
        _post(f"{one}/prompts/{{prompt}}/get", content.prompt),
        Route(f"{one}/complete", telling(content.complete)),
        Route(f"{one}/resources/read", telling(content.read)),
        Route(f"{one}/resources/download", telling(content.download)),
        Route(f"{one}/resources/updates", telling(content.updates)),
        _post(f"{one}/resources/template", content.read_template),
        _post(f"{one}/log-level", content.log_level),
    ]


def _cluster(presenter: ServerPresenter) -> list[Route]:
    panel = ClusterPanel(presenter)
    node, server = "/ui/nodes/{node}", "/ui/servers/{ref}/move"
    return [
        Route("/ui/nodes", telling(panel.nodes)),
        Route("/ui/cluster/events", telling(panel.events)),
        Route(f"{node}/drain", telling(panel.drain_dialog)),
        _post(f"{node}/drain", panel.drain),
        Route(f"{node}/forget", telling(panel.forget_dialog)),
        _post(f"{node}/forget", panel.forget),
        Route(server, telling(panel.move_dialog)),
        _post(server, panel.move),
        _post(f"{server}/preview", panel.move_preview),
    ]


def _servers(presenter: ServerPresenter, content: ContentPages) -> list[Route]:
    servers, approving = ServersRoutes(presenter), ApproveRoutes(presenter)
    one = "/ui/servers/{ref}"
    return [
        Route("/", servers.screen),
        Route("/ui/servers/page", telling(servers.page)),
        Route("/servers/{ref}", ServerPages(presenter, content).screen),
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
    fixing, one = FixRoutes(presenter), "/ui/servers/{ref}"
    return [
        Route("/ui/servers/add", adding.dialog),
        _post("/ui/servers", adding.add),
        _post("/ui/servers/test", adding.test),
        _post("/ui/servers/read", adding.read),
        _post("/ui/servers/import", adding.import_text),
        Route("/ui/servers/found", telling(importing.found)),
        _post("/ui/servers/found", importing.take),
        _post("/ui/servers/example", importing.example),
        Route(f"{one}/fix/variable", telling(fixing.variable_dialog)),
        _post(f"{one}/fix/variable", fixing.set_variable),
        Route(f"{one}/fix/allow", telling(fixing.variable_dialog)),
        _post(f"{one}/fix/allow", fixing.allow),
        Route(f"{one}/fix/command", telling(fixing.command_dialog)),
        _post(f"{one}/fix/command", fixing.use_command),
        Route(f"{one}/edit", telling(changing.dialog)),
        Route(f"{one}/delete", telling(changing.ask)),
        _post(f"{one}/edit", changing.change),
        _post(f"{one}/diff", changing.diff),
        Route(one, telling(changing.remove), methods=["DELETE"]),
    ]


def _many(presenter: ServerPresenter) -> list[Route]:
    bulk, palette = BulkRoutes(presenter), PaletteRoutes(presenter)
    return [
        Route("/ui/palette", telling(palette.palette)),
        Route("/ui/found", telling(palette.found)),
        Route("/ui/charts/tokens", telling(ChartPages(presenter).tokens)),
        _post("/ui/bulk/copy/preview", bulk.preview),
        _post("/ui/bulk/copy/apply", bulk.copy),
        _post("/ui/bulk/{verb}", bulk.run),
        _post("/ui/bulk/{verb}/ask", bulk.ask),
    ]


def _tools(presenter: ServerPresenter, closing: asyncio.Event) -> list[Route]:
    runs = RunRoutes(presenter, closing)
    tools = ToolRoutes(presenter, runs.calls)
    one, run = "/ui/servers/{ref}/tools/{tool}", "/ui/runs/{run}"
    return [
        Route("/tools", tools.screen),
        Route("/ui/tools", telling(tools.rows)),
        Route(one, telling(tools.tool)),
        _post(f"{one}/switch", tools.switch),
        _post(f"{one}/call", runs.call),
        _post(f"{one}/start", runs.start),
        Route(run, telling(runs.follow)),
        _post(f"{run}/cancel", runs.cancel),
        _post(f"{run}/questions/{{question}}", runs.answer),
    ]


def _clients(presenter: ServerPresenter, context: PageContext) -> list[Route]:
    sync = SyncPages(presenter, context)
    clients, changes = ClientsRoutes(presenter, sync), ClientChangeRoutes(presenter)
    undoing, findings = UndoRoutes(presenter), FindingRoutes(presenter.yard)
    return [
        *_sync(sync),
        Route("/clients", clients.screen),
        Route("/ui/clients", telling(clients.part)),
        Route("/ui/clients/show", telling(clients.show)),
        Route("/ui/clients/copy", telling(changes.copy_dialog)),
        Route("/ui/clients/edit", telling(changes.edit_dialog)),
        Route("/ui/clients/remove", telling(changes.remove_dialog)),
        Route("/ui/clients/undo", telling(undoing.ask)),
        Route("/ui/clients/private", telling(findings.ask)),
        _post("/ui/clients/private", findings.make_private),
        _post("/ui/clients/undo", undoing.undo),
        _post("/ui/clients/switch", changes.switch),
        _post("/ui/clients/{verb}", changes.apply),
        _post("/ui/clients/{verb}/preview", changes.preview),
    ]


def _sync(sync: SyncPages) -> list[Route]:
    return [
        _post("/ui/clients/assign", sync.assign),
        Route("/ui/clients/cell", telling(sync.cell)),
        Route("/ui/clients/sync", telling(sync.dialog)),
        _post("/ui/clients/sync", sync.apply),
        _post("/ui/clients/sync/preview", sync.preview),
        Route("/ui/clients/adopt", telling(sync.adopt_dialog)),
        _post("/ui/clients/adopt", sync.adopt),
        _post("/ui/clients/adopt/preview", sync.adopt_preview),
        Route("/ui/clients/approve", telling(sync.approve_dialog)),
        _post("/ui/clients/approve", sync.approve),
    ]


def _activity(presenter: ServerPresenter) -> list[Route]:
    activity, inspector = ActivityRoutes(presenter), CallInspector(presenter)
    recording = RecordingPages(presenter.yard)
    return [
        Route("/activity", activity.screen),
        Route("/ui/calls", telling(activity.calls)),
        Route("/ui/calls/older", telling(activity.older)),
        Route("/ui/calls/newer", telling(activity.newer)),
        _post("/ui/calls/{call}/show", inspector.show),
        _post("/ui/calls/{call}/edit", inspector.edit),
        _post("/ui/recording/on", recording.on),
        _post("/ui/recording/off", recording.off),
        _post("/ui/recording/ask", recording.ask),
        _post("/ui/recording/purge", recording.purge),
    ]


def _settings(presenter: ServerPresenter, context: PageContext) -> list[Route]:
    settings, connect = SettingsRoutes(presenter, context), ConnectPages(presenter, context)
    profiles, tokens = ProfilePages(presenter), TokenPages(presenter, context)
    secrets = SecretPages(presenter.yard.secrets)
    return [
        Route("/settings", settings.screen),
        Route("/ui/settings", telling(settings.part)),
        Route("/ui/clients/connect", telling(connect.dialog)),
        _post("/ui/clients/connect", connect.apply),
        _post("/ui/clients/connect/preview", connect.preview),
        Route("/ui/clients/disconnect", telling(connect.ask_end)),
        _post("/ui/clients/disconnect", connect.end),
        Route("/ui/profiles/edit", telling(profiles.dialog)),
        Route("/ui/profiles/tools", telling(profiles.tools)),
        Route("/ui/profiles/remove", telling(profiles.ask)),
        _post("/ui/profiles", profiles.save),
        _post("/ui/profiles/remove", profiles.remove),
        Route("/ui/secrets/remove", telling(secrets.ask)),
        _post("/ui/secrets/remove", secrets.remove),
        Route("/ui/tokens/edit", telling(tokens.dialog)),
        Route("/ui/tokens/remove", telling(tokens.ask)),
        _post("/ui/tokens", tokens.create),
        _post("/ui/tokens/remove", tokens.revoke),
    ]


def _post(path: str, handler: Handler) -> Route:
    return Route(path, telling(handler), methods=["POST"])
