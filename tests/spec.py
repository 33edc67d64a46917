"""The scenarios of the specification, each covered by a test or not yet built.

A covered id must have a test with `@pytest.mark.spec(id)`; an id that is not yet built must have
none. So no id can be forgotten, and none can lose its test.
"""


def _ids(text: str) -> list[str]:
    return text.split()


COVERED = _ids("""
A1.1 A1.2 A1.3 A1.4 A1.5
A2.1 A2.2 A2.3 A2.4
A3.1 A3.2 A3.3 A3.4
A4.1 A4.2 A4.3
A5.1 A5.2 A5.3 A5.4 A5.5
A6.1 A6.2 A6.3 A6.4
B1 B2 B3 B4 B5 B6
C1.1 C1.2
C2.1 C2.2 C2.3 C2.4
C3.1 C3.2
C4.1 C4.2
C5.1 C5.2
C6.1 C6.2 C6.3 C6.4 C6.5
C7.1 C7.2 C7.3
C8
D1.1 D1.2 D1.3 D1.4
D2.1 D2.2 D2.3
D3.1 D3.2 D3.3
D4.1 D4.2
D5.1 D5.2 D5.3
D6.1 D6.2 D6.3
E1.1 E1.2
E2.1 E2.2
E3.1 E3.2 E3.3
E4.1 E4.2 E4.3
E5.1 E5.2
F1.1 F1.2 F1.3
F2.1
F2.2 F2.3 F2.4 F2.5 F2.6 F2.7
F3.1 F3.2 F3.3
F4.1
F4.2
F6.1 F6.2 F6.3 F6.4 F6.5
F7.1 F7.2 F7.3 F7.4
F8.1 F8.2 F8.3 F8.4 F8.5 F8.6
""")

NOT_YET_BUILT = _ids("""
F4.3 F4.4 F4.5
F5.1 F5.2 F5.3
F9.1 F9.2 F9.3 F9.4 F9.5
""")
