"""Lossless editors: they change one member of a text and leave every other byte alone.

Shared by all clients' formats. May import `domain`.
"""
