"""Processes and connections: the keeper, one task per server, the supervisor.

Owns children and their end. Executes the effects of the lifecycle table and reports what is
observed. May import `wire` and what is below it.
"""
