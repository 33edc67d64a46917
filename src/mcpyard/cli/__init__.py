"""The command line, on top of a running yard or a private one.

May import everything below it; imports heavy parts only inside the command that needs them.
"""
