"""The use cases that every face calls: reconcile, edit, call, clients, registry, events.

Owns no process, file or socket: it reaches them through the ports of `domain`. May import
`catalog`, `formats` and `domain`.
"""
