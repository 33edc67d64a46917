"""The HTTP server under the faces: its limits, its requests, its end."""

from mcpyard.api.http_server.uvicorn_package import know_uvicorn

know_uvicorn()
