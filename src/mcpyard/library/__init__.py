"""The entry points of the library: mcpyard in a program, for coroutines and for blocking code.

May import everything but `cli`; the names that users need are exported by `mcpyard`.
"""
