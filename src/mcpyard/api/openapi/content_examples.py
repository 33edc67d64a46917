"""What resources and prompts look like; a test holds each against its schema."""

from collections.abc import Mapping
from typing import Final

_PROMPT: Final = {
    "server": "files", "name": "summary", "title": None, "description": "Summarise a file.",
    "arguments": [{"name": "path", "description": "The file.", "required": True}],
}  # fmt: skip
_MESSAGE: Final = {"role": "user", "content": {"type": "text", "text": "Summarise notes.md."}}

CONTENT_ANSWERS: Final[Mapping[str, object]] = {
    "Resource": {
        "server": "files", "uri": "file:///data/notes.md", "name": "notes.md", "title": None,
        "description": None, "mimeType": "text/markdown", "size": 512, "annotations": {},
    },
    "ResourceTemplate": {
        "server": "files", "uriTemplate": "file:///data/{path}", "name": "file", "title": None,
        "description": "A file of the folder.", "mimeType": None,
    },
    "ResourceContents": {
        "contents": [
            {"uri": "file:///data/notes.md", "mimeType": "text/markdown", "text": "# Notes"}
        ]
    },
    "Prompt": _PROMPT,
    "FilledPrompt": {"description": "Summarise a file.", "messages": [_MESSAGE]},
    "Completion": {"values": ["notes.md"], "total": 1, "hasMore": False},
    "LogLevel": {"level": "debug"},
}  # fmt: skip

CONTENT_BODIES: Final[Mapping[str, Mapping[str, object]]] = {
    "PromptArguments": {"one": {"arguments": {"path": "notes.md"}}, "none": {}},
    "ArgumentToComplete": {
        "prompt": {"prompt": "summary", "argument": "path", "value": "no"},
        "template": {"template": "file:///data/{path}", "argument": "path", "value": "no"},
    },
    "NewLogLevel": {"more": {"level": "debug"}, "default": {"level": None}},
}
