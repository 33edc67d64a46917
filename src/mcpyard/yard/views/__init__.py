"""What the faces show of servers, tools, calls, clients and approvals: frozen structs.

Their members are the members of the JSON on the wire, in its order, and the OpenAPI schemas are
derived from them.
"""
