"""The parts of the Clients screen in every state, for the components page."""

from mcpyard.formats.warnings import Warned, WarningKind
from mcpyard.web.badges import EFFECTIVE
from mcpyard.web.client_screens.changes import preview_of
from mcpyard.web.client_screens.presenters import EntryCard
from mcpyard.web.templating import TemplateData
from mcpyard.yard.clients.edit_results import Done

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
    return {"entries": entries, **preview_of(done)}
