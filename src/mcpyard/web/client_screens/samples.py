"""The parts of the Clients screen in every state, for the components page."""

from mcpyard.domain.model import Scope
from mcpyard.domain.sync.plan import CellState
from mcpyard.formats.warnings import Warned, WarningKind
from mcpyard.web.badges import EFFECTIVE
from mcpyard.web.client_screens.changes import preview_of
from mcpyard.web.client_screens.presenters import EntryCard
from mcpyard.web.client_screens.sync_table import SyncCard
from mcpyard.web.templating import TemplateData
from mcpyard.yard.clients.edit_results import Done
from mcpyard.yard.views.sync import SyncAssignmentView, SyncCellView

_DIFF = """--- /dev/null
+++ /srv/person/.codex/config.toml
@@ -0,0 +1,2 @@
+[mcp_servers.files]
+command = "npx"
"""


def client_samples() -> TemplateData:
    """A server in every state, and a preview with every kind of warning."""
    entries = [
        EntryCard(
            "codex:user",
            name,
            "npx -y @acme/files",
            name == "enabled",
            badge,
            "is disabled in its entry",
        )
        for name, badge in EFFECTIVE.items()
    ]
    warnings = [
        Warned(kind, "bearer_token_env_var", "a string", "has no effect: dropped")
        for kind in WarningKind
    ]
    done = Done((("/srv/person/.codex/config.toml", _DIFF),), tuple(warnings))
    return {"entries": entries, "sync_cards": _sync_cards(), **preview_of(done)}


def _sync_cards() -> list[SyncCard]:
    """A cell in every state, one that nothing is true of, and one that a file decides about."""
    cards = [_sync_card(state) for state in CellState]
    absent = SyncCard("unassigned", "codex:user", None, _assignment("unassigned", assigned=False))
    locked = _assignment("locked", locked="decided by /srv/project/mcpyard.toml")
    return [*cards, absent, SyncCard("locked", "codex:user", None, locked)]


def _sync_card(state: CellState) -> SyncCard:
    assigned = state not in {CellState.FOREIGN, CellState.PRUNE}
    cell = SyncCellView(
        server=state,
        target="codex:user",
        state=state,
        wanted=assigned,
        changes=False,
        reason="",
        choices=[],
        seen="",
        differences=[],
        warnings=[],
    )
    return SyncCard(state, "codex:user", cell, _assignment(state, assigned=assigned))


def _assignment(name: str, *, assigned: bool = True, locked: str = "") -> SyncAssignmentView:
    return SyncAssignmentView(
        server=name,
        target="codex:user",
        wanted=assigned,
        source=Scope.PROJECT if locked else Scope.USER,
        file="/srv/person/mcpyard.toml",
        locked=locked,
    )
