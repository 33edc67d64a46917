"""Which node runs a server: pure logic, no input or output.

May import `domain`.
"""
