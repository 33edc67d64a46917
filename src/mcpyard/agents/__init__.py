"""Adapters from the toolbox to agent libraries, one module each.

The modules are independent of each other; each library is an optional extra. May import `yard` and
the pure layers.
"""
