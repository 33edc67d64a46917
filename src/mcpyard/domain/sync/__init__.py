"""One set of servers in every program: what is to change where, decided without reading a file."""
