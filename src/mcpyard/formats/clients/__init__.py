"""One module of facts per client program: where its file is and how it spells a server.

Independent of each other. May import `formats.facts` alone; `formats.roster` lists them.
"""
