"""The pure core: what a server is, what should be, what is, and how one moves to the other.

Owns the definition model and its spellings, variable expansion, the desired state, the lifecycle
table, the plan, the exception tree and the ports. Everything here is a function of its arguments:
no clock, no file, no network, no task. May import nothing of mcpyard.
"""
