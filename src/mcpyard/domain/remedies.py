"""What to do about each error, in a sentence; a cause that knows better says it instead.

A test proves that no error is missing.
"""

import shlex
from typing import Final

from mcpyard.domain import errors
from mcpyard.domain.errors import YardError

REMEDIES: Final[dict[type[YardError], str]] = {
    errors.DefinitionError: "Fix the fields listed.",
    errors.NameRefused: "Choose a valid name; nothing was changed.",
    errors.DocumentBroken: "Fix the file at the given position, or just before it.",
    errors.EditRefused: "Make this change by hand; the file was not modified.",
    errors.ArgumentsRefused: "Fix the arguments listed; nothing was called or changed.",
    errors.SignInUnknown: "Start the sign-in again; each link works once.",
    errors.TooLarge: "Send a smaller request.",
    errors.ServerUnknown: "List the servers: mcpyard ls",
    errors.ToolUnknown: "List the tools: mcpyard tools; stopped servers offer none.",
    errors.ProfileUnknown: "List the profiles: mcpyard profile ls",
    errors.EditUnknown: "The last 100 edits can be undone once each: mcpyard undo --list",
    errors.SecretUnknown: "List the secrets: mcpyard secret ls",
    errors.CallUnknown: "List the calls: mcpyard calls ls; the oldest are removed first.",
    errors.NodeUnknown: "List the nodes: mcpyard cluster status",
    errors.ClientUnverified: (
        'Check the file and its format, then repeat with --unverified (API: "unverified": true).'
    ),
    errors.NameTaken: "Choose another name, or change the server that uses it.",
    errors.Disabled: "Enable it: mcpyard edit NAME --enable",
    errors.ReadOnlyOwner: "Change it at its source.",
    errors.StillRunning: "Stop it first, or allow the change to restart it.",
    errors.ManagedByYard: "Use a separate registry for your own statuses.",
    errors.NeedsApproval: "Review the file, then: mcpyard approve",
    errors.ApprovalOutdated: "Review the current version, then approve it: mcpyard approve",
    errors.ThisYard: "Remove this entry; a gateway cannot connect to itself.",
    errors.NoSignIn: "Only remote servers that require a sign-in support this.",
    errors.ChangedSince: "Revert it by hand, or undo later edits first: mcpyard undo --list",
    errors.FileBusy: "Try again in a moment.",
    errors.YardBusy: "Use the running instance, stop it, or choose another home folder.",
    errors.NodeTaken: (
        "Choose another node name, or stop the daemon that uses it; if that is gone for good, "
        "start this one with --replace."
    ),
    errors.ClusterRefused: "Check the settings of the cluster: mcpyard doctor",
    errors.NewerState: "Update mcpyard, or choose another home folder.",
    errors.DocumentMoved: "Review the current version, then make the change again.",
    errors.Disconnected: "See why: mcpyard show NAME; start it: mcpyard start NAME",
    errors.StartFailed: "Check the log: mcpyard logs NAME; check the machine: mcpyard doctor",
    errors.NeedsAuth: "Sign in: mcpyard login NAME",
    errors.CallRefused: "See the server's error message; try other arguments.",
    errors.ProtocolBroken: "Update the server, or check its log.",
    errors.ServerBusy: "Try again later, or raise concurrency or queue of the server.",
    errors.NotHere: "Try again; the server is moving to another node.",
    errors.OverQuota: "Wait until some have ended, or raise the quota: MCPYARD_LIMITS",
    errors.NobodyAnswered: "Check why each of them failed, and start one of them.",
    errors.TimedOut: "Try again, or increase the timeout of the server, the tool or the call.",
    errors.Isolated: "Check the network of this node, or use another node.",
    errors.StoreAway: "Try again when the database is back; running servers keep answering.",
    errors.OutcomeUnknown: "Check whether the change is there before you repeat it.",
    errors.StateBroken: "Restore a backup: mcpyard restore",
    errors.StateGone: "Restore the home folder, or restart mcpyard: mcpyard up",
    errors.StorageFull: "Free some disk space, then try again.",
    errors.NotWritable: "Check the permissions, or choose another location; then try again.",
}


def remedy(error: YardError) -> str:
    """What to do about an error: its own advice, else that of its kind or the nearest ancestor."""
    if error.advice:
        return error.advice
    sentence = next((REMEDIES[kind] for kind in type(error).__mro__ if kind in REMEDIES), "")
    return sentence.replace("NAME", shlex.quote(error.server)) if error.server else sentence
