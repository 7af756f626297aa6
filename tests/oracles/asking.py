"""What more labels of a task are worth: every sequence of answers listed."""

from itertools import product


def right_after(p_a, p_b, b_of_a, b_of_b, n_labels):
    """Probability that the label of a task is right, chosen after so many answers, each b or not b."""
    total = 0.0
    for answers in product((True, False), repeat=n_labels):
        if_a, if_b = p_a, p_b
        for is_b in answers:
            if_a *= b_of_a if is_b else 1 - b_of_a
            if_b *= b_of_b if is_b else 1 - b_of_b
        total += max(if_a, if_b)
    return total


def concave_above(values):
    """Values of the smallest concave function above the points (0, values[0]), (1, values[1]), ...: best chords."""
    best = []
    for m in range(len(values)):
        chords = [values[m]]
        for s in range(m + 1):
            for e in range(m, len(values)):
                if s < e:
                    chords.append(values[s] + (values[e] - values[s]) * (m - s) / (e - s))
        best.append(max(chords))
    return best
