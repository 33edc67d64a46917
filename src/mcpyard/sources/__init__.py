"""Where definitions come from: project file, database, environment, memory.

Owns reading, watching and safely writing the owner documents. May import `formats` and `domain`.
"""
