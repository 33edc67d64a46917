"""The connections between the nodes of a cluster, and the servers of all of them.

May import `wire`, `cluster` and `domain`.
"""
