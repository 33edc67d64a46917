"""The one client of a running mcpyard: finds it, sends requests, reads answers, errors and events.

Used by the commands, by the yard that a program attaches to, and by the stdio bridge. Commands
import it at every start, so nothing heavy is imported at the top of `discovery` and `http`.
"""
