"""What to do about each error, in a sentence; a cause that knows better says it instead.

A test proves that no error is missing.
"""

import shlex
from typing import Final

from mcpyard.domain import errors
from mcpyard.domain.errors import YardError

REMEDIES: Final[dict[type[YardError], str]] = {
    errors.DefinitionError: "Correct the fields that are named.",
    errors.NameRefused: "Take a name of the kind that is asked for; nothing was changed.",
    errors.DocumentBroken: "Correct the file at the place that is named, or just before it.",
    errors.EditRefused: "Make this change by hand; the file is as it was.",
    errors.ArgumentsRefused: "Correct what is named; nothing was called or changed.",
    errors.SignInUnknown: "Begin the sign-in again; an address works once.",
    errors.TooLarge: "Send less at once.",
    errors.ServerUnknown: "See the names: mcpyard ls",
    errors.ToolUnknown: "See the names: mcpyard tools; a server that is stopped offers none.",
    errors.ProfileUnknown: "See the names: GET /api/profiles",
    errors.EditUnknown: "Each of the last 100 edits is undone once; see them: mcpyard undo --list",
    errors.NameTaken: "Choose another name, or change the one that has it.",
    errors.Disabled: "Switch it on: mcpyard edit NAME --enable",
    errors.ReadOnlyOwner: "Change it where it comes from.",
    errors.StillRunning: "Stop it first, or let the change restart it.",
    errors.ManagedByYard: "Use a registry of your own for statuses of your own.",
    errors.NeedsApproval: "Read the file, then: mcpyard approve",
    errors.ApprovalOutdated: "Look at what waits now, then approve that: mcpyard approve",
    errors.ThisYard: "Remove the entry, or leave it to the program that it is meant for.",
    errors.NoSignIn: "Only remote servers that ask for a sign-in have one.",
    errors.ChangedSince: "Take it back by hand, or undo later edits first: mcpyard undo --list",
    errors.FileBusy: "Try again in a moment.",
    errors.YardBusy: "Use that yard, end it, or take another home.",
    errors.NewerState: "Update mcpyard, or take another home.",
    errors.DocumentMoved: "Look at what is there now, and make the change again.",
    errors.Disconnected: "See why: mcpyard show NAME; start it: mcpyard start NAME",
    errors.StartFailed: "See what it said: mcpyard logs NAME; check the machine: mcpyard doctor",
    errors.NeedsAuth: "Sign in: mcpyard login NAME",
    errors.CallRefused: "The server's words say why; other arguments may help.",
    errors.ProtocolBroken: "Try a newer version of the server; its log may say more.",
    errors.NobodyAnswered: "See why each of them did not, and start one of them.",
    errors.TimedOut: "Try again, or raise the time limit of the server, the tool or the call.",
    errors.StateBroken: "Put the file away, or a copy of it back in its place.",
    errors.StateGone: "Put the home back, or end this yard and start it again: mcpyard up",
    errors.StorageFull: "Make room on the disk, then try again.",
    errors.NotWritable: "See who may write there, or take another place; then try again.",
}


def remedy(error: YardError) -> str:
    """What to do about an error: its own advice, else that of its kind or the nearest ancestor."""
    if error.advice:
        return error.advice
    sentence = next((REMEDIES[kind] for kind in type(error).__mro__ if kind in REMEDIES), "")
    return sentence.replace("NAME", shlex.quote(error.server)) if error.server else sentence
