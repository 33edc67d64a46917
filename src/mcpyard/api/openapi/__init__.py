"""The OpenAPI document of the REST face.

The schemas of answers are derived from the views, those of bodies from the structs and models that
read them; what no type tells is written in `schemas.py`. The routes are plain Starlette: FastAPI
would derive more of it, for 5 MB and 0.1 s more at the start of every yard, and would still have to
be told most of what is here. Two tests keep the document true: one walks the route table both ways,
the other sends what the document allows and checks every answer against it.
"""
