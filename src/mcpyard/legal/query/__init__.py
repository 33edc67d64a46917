"""Reading a query: its references, its law names, its words."""
