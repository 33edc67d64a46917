"""Where definitions come from: project file, database, environment, Python code.

Owns reading, watching and safely writing the owner documents. May import `formats` and `domain`.
"""
