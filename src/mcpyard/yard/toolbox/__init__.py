"""The tools of one conversation of an agent."""
