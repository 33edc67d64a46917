"""The pure catalogue of tools: exposed names, argument validators, routes.

Owns how a server's tool is called outside (`mcp_<server>_<tool>`), whether arguments fit its
schema, and where a call goes. Does no input or output. May import `domain`.
"""
