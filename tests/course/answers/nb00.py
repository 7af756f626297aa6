"""Answers to the exercises of notebook 00: exercise, what the reply says, and the answer made from what is given."""

ANSWERS = [
    ("accuracy", "correct", lambda g: sum(g["prior"][c] * g["A"][c, c] for c in range(3))),
    ("expected_wrong", "correct", lambda g: sum(1 - max(row) for row in g["posterior"])),
]
