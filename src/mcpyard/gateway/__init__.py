"""The MCP face: every server of the yard through one endpoint, in both eras.

May import `yard`, the codecs of `wire` and the pure layers.
"""
