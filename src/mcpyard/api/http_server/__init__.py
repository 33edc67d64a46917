"""The HTTP server under the faces: its limits, its requests, its end."""
