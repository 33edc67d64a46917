"""Bytes: the framer, the JSON-RPC peer, the two era codecs, the transports.

Owns everything between a file descriptor or socket and a result object. Relays what it does not
understand. May import `catalog`, `formats` and `domain`.
"""
