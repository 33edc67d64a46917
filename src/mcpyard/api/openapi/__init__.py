"""The OpenAPI document of the REST face.

The schemas of what is answered are derived from the views; those of what is asked are written
beside the operations. The routes are plain Starlette: FastAPI would derive more of it, for 5 MB and
0.1 s more at the start of every yard, and would still have to be told most of what is here. Two
tests keep the document true: one walks the route table both ways, the other sends what the document
allows and checks every answer against it.
"""
