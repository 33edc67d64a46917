"""The HTTP server under the faces: its limits, its requests, its end."""

from importlib import import_module

from mcpyard.spared_modules import spare_module

# It imports its command line and with it click; its other modules ask it for these two only.
spare_module(
    "uvicorn",
    {
        "Config": lambda: import_module("uvicorn.config").Config,
        "Server": lambda: import_module("uvicorn.server").Server,
    },
)
