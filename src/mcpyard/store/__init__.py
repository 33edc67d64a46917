"""What must survive: repositories behind the ports of `domain`.

Owns the database files and their migrations. May import `domain`.
"""
