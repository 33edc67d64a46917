"""The commands with their options and help, one module for each group of `mcpyard --help`.

Nothing heavy is imported here: a command imports its module of `commands` when it runs.
"""
