"""The one rule about clients whose facts no program confirmed: they are written only on request.

Listing and importing read only, and need no confirmation; a preview tells that one is needed.
"""

from collections.abc import Iterable

from mcpyard.domain.errors import ClientUnverified
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.warnings import Warned, WarningKind


def unverified_warnings(
    written: Iterable[ClientScopeRef], *, confirmed: bool
) -> tuple[Warned, ...]:
    """What is to be told about the scopes that are written.

    Raises:
        ClientUnverified: One of them is known from documentation alone, and nobody confirmed it.
    """
    refs = {str(ref): ref for ref in written if not ref.provenance.verified}
    for ref in refs.values():
        if not confirmed:
            raise ClientUnverified(_says(ref))
    return tuple(Warned(WarningKind.UNVERIFIED, "", "", _says(ref)) for ref in refs.values())


def _says(ref: ClientScopeRef) -> str:
    return f"the configuration of {ref.client.title} ({ref}) is known from documentation only"
