"""Answers to the exercises of notebook 04: exercise, what the reply says, and the answer made from what is given."""

from itertools import permutations

import numpy as np
import pandas as pd
from scipy.linalg import orthogonal_procrustes, polar, sqrtm
from scipy.optimize import linear_sum_assignment
from scipy.stats import linregress


def rotation(g):
    W, _, Vt = np.linalg.svd(g["H"].T @ g["U"])
    return Vt.T @ W.T


def speed(g):
    slope = np.polyfit(range(10, 61), np.log10(g["errors"][10:]), 1)[0]
    return 10**slope, -1 / slope


def slope_of(g, first=10):
    return np.polyfit(range(first, 61), np.log(g["errors"][first:]), 1)[0]


def speed_in_words(g):
    line = linregress(np.arange(51), np.log(g["errors"][10:]))
    return {"rho": np.exp(line.slope), "digit": np.log(10) / abs(line.slope)}


def by_hand(g):
    zeroed, clamped = g["Z"].tolist(), g["Z"].tolist()
    for j, row in enumerate(g["Z"]):
        for k, z in enumerate(row):
            if z < g["alpha"]:
                zeroed[j][k], clamped[j][k] = 0, g["alpha"]
    return [zeroed, clamped]


def both(zeroed, clamped):
    return lambda g: (zeroed(g["Z"], g["alpha"]), clamped(g["Z"], g["alpha"]))


def zero(Z, a):
    return np.where(a > Z, 0, Z)


def turn(U, H):
    W, _, Vt = np.linalg.svd(H.T @ U)
    return (W @ Vt).T


def step(U, Q, alpha):
    H = zero(U @ Q, alpha)
    return H, turn(U, H)


def step_by_loops(U, Q, alpha):
    H = [[0.0] * len(Q) for _ in U]
    for j, row in enumerate(U):
        for k in range(len(Q)):
            z = sum(row[i] * Q[i][k] for i in range(len(Q)))
            if z >= alpha:
                H[j][k] = z
    return H, polar(U.T @ np.array(H))[0]


def step_by_masks(U, Q, alpha):
    H = np.einsum("ji,ik->jk", U, Q)
    H[alpha > H] = 0
    left, _, right = np.linalg.svd(U.T @ H, full_matrices=False)
    return {"H": H, "Q_next": left @ right}


def step_of_what_is_missing(U, Q, alpha):
    H = zero(U @ Q, alpha)
    return [H, Q @ orthogonal_procrustes(U @ Q, H)[0]]


def step_by_a_root(U, Q, alpha):
    H = (U @ Q) * (alpha <= U @ Q)
    C = U.T @ H
    return H, C @ np.linalg.inv(np.real(sqrtm(C.T @ C)))


def step_in_place(U, Q, alpha):
    U @= Q
    U[alpha > U] = 0
    return U, Q


def refused(U, Q, alpha):
    raise ValueError("no idea")


def as_function(function):
    return lambda g: function


def cut(rule):
    return as_function(lambda U, Q, a: (rule(U @ Q, a), turn(U, rule(U @ Q, a))))


def turned(rule):
    return as_function(lambda U, Q, a: (zero(U @ Q, a), rule(U, Q, zero(U @ Q, a))))


def left_side(g, power=0.5, orders=None, noise=True, sigma=np.linalg.norm):
    """Half of the left side of (15)."""
    tried = orders or list(permutations(range(3)))
    q = min(np.sum((g["Q_0"] - g["Q"][:, list(order)]) ** 2) for order in tried)
    return sigma(g["H"]) * q**power + noise * g["nu"]


def of_start(left=1.0, lowest=1.0, highest=-1.0, **how):
    """Left side and both shifts, each by so many times half of the left side; the way concerns the left side alone."""
    return lambda g: (
        2 * left * left_side(g, **how), lowest * left_side(g), np.min(g["H"][g["H"] > 0]) + highest * left_side(g)
    )  # fmt: skip


def start_with(place, value):
    """The right answer with another number at a place."""

    def answer(g):
        numbers = list(of_start()(g))
        numbers[place] = value(g, numbers)
        return numbers

    return answer


def by_assignment(g):
    near = linear_sum_assignment(-(g["Q_0"].T @ g["Q"]))[1]
    r = np.sqrt((g["H"] ** 2).sum() * ((g["Q_0"] - g["Q"][:, near]) ** 2).sum()) + g["nu"]
    return {"highest shift": g["H"][np.nonzero(g["H"])].min() - r, "lowest shift": r, "left side": 2 * r}


def noisy(end=lambda factor: factor, times=lambda rate: 1.0):
    def answer(g):
        digits = round(np.log10(g["loose"] / g["tight"]))
        iterations = 2 * digits / -np.log10(g["rho"])
        return g["end"] * end(10 ** (3 - g["snr"] / 10)), iterations * times(digits)

    return answer


def read_off(g):
    """What a learner sees: who fits, who still moves."""
    kinds = []
    for curves, apart in zip(g["misfits"], g["far"], strict=True):
        fits = curves[:, -1] < 1e-6
        moving = curves[:, -1] < 0.9 * curves[:, -30]
        kinds.append(1 if 0 < (~moving & ~fits).sum() < 10 else 2 if fits.all() else 3 if moving.any() else 4)
        assert (apart.max() < 0.01) == (kinds[-1] == 4)
    return kinds


def seen(right, told):
    """The right reading, but for the first problem of a kind."""

    def answer(g):
        kinds = read_off(g)
        return [*(told if k == kinds.index(right) else kind for k, kind in enumerate(kinds)), kinds.count(1)]

    return answer


def mended(count):
    return lambda g: [*read_off(g), count(read_off(g))]


ANSWERS = [
    ("rotation", "correct", rotation),
    ("rotation", "correct", lambda g: orthogonal_procrustes(g["U"], g["H"])[0]),
    ("rotation", "correct", lambda g: polar(g["U"].T @ g["H"])[0].tolist()),
    ("rotation", "correct", lambda g: pd.DataFrame(rotation(g)).round(3)),
    ("rotation", "not orthogonal, it stretches", lambda g: np.linalg.pinv(g["U"]) @ g["H"]),
    ("rotation", "from H to U", lambda g: np.linalg.pinv(g["H"]) @ g["U"]),
    (
        "rotation",
        "transpose its third result",
        lambda g: (lambda W, s, Vt: Vt @ W.T)(*np.linalg.svd(g["H"].T @ g["U"])),
    ),
    ("rotation", "W has to be transposed", lambda g: (lambda W, s, Vt: Vt.T @ W)(*np.linalg.svd(g["H"].T @ g["U"]))),
    ("rotation", "leave the singular values out", lambda g: g["U"].T @ g["H"]),
    ("rotation", "QR gives some", lambda g: np.linalg.qr(g["U"].T @ g["H"])[0]),
    ("rotation", "transposed", lambda g: polar(g["H"].T @ g["U"])[0]),
    ("rotation", "the sign is wrong", lambda g: -rotation(g)),
    ("rotation", "not orthogonal", lambda g: rotation(g) + 0.1),
    ("rotation", "this turns nothing", lambda g: np.eye(3)),
    ("rotation", "expected an array of shape (3, 3)", lambda g: g["U"] @ rotation(g)),
    ("speed", "correct", speed),
    ("speed", "correct", speed_in_words),
    ("speed", "correct", lambda g: [round(float(speed(g)[0]), 3), round(float(speed(g)[1]), 2)]),
    ("speed", "correct", lambda g: np.array([np.exp(slope_of(g)), 1 / np.log10(np.exp(-slope_of(g)))])),
    ("speed", "fit from `first` on", lambda g: (np.exp(slope_of(g, 0)), speed(g)[1])),
    ("speed", "digit: not yet: this is with the rate of all", lambda g: (speed(g)[0], np.log(0.1) / slope_of(g, 0))),
    ("speed", "needs 10 to its power", lambda g: (np.exp(np.log10(speed(g)[0])), speed(g)[1])),
    ("speed", "needs exp, not 10", lambda g: (10 ** slope_of(g), speed(g)[1])),
    ("speed", "two errors only", lambda g: ((g["errors"][60] / g["errors"][10]) ** 0.02, speed(g)[1])),
    ("speed", "mean of ratios", lambda g: (np.mean(np.exp(np.diff(np.log(g["errors"][10:])))), speed(g)[1])),
    ("speed", "an iteration removes", lambda g: (1 - speed(g)[0], speed(g)[1])),
    ("speed", "the slope of the line", lambda g: (slope_of(g), speed(g)[1])),
    ("speed", "rate of the root", lambda g: (speed(g)[0] ** 0.5, speed(g)[1])),
    ("speed", "per cent", lambda g: (100 * speed(g)[0], speed(g)[1])),
    ("speed", "factor e", lambda g: (speed(g)[0], -1 / slope_of(g))),
    ("speed", "halve", lambda g: (speed(g)[0], np.log(2) / -slope_of(g))),
    ("speed", "upside down", lambda g: (speed(g)[0], 1 / speed(g)[1])),
    ("speed", "the sign is wrong", lambda g: (speed(g)[0], np.log(10) / slope_of(g))),
    ("speed", "rounded up", lambda g: (speed(g)[0], 7)),
    ("speed", "digit: not yet: 17.1 is too large", lambda g: (speed(g)[0], 2.5 * speed(g)[1])),
    ("speed", "give 2 arrays or numbers", lambda g: speed(g)[0]),
    ("shift", "correct", lambda g: (g["Z"] * (g["Z"] >= g["alpha"]), np.maximum(g["Z"], g["alpha"]))),
    ("shift", "correct", by_hand),
    ("shift", "correct", lambda g: np.stack([zero(g["Z"], 0.2), np.clip(g["Z"], 0.2, None)])),
    ("shift", "correct", lambda g: {"clamped": g["Z"].clip(0.2), "zeroed": zero(g["Z"], 0.2)}),
    ("shift", "soft thresholding", both(lambda Z, a: np.maximum(Z - a, 0), np.maximum)),
    ("shift", "clamped: not yet: alpha was added", both(zero, lambda Z, a: np.maximum(Z, 0) + a)),
    ("shift", "zeroed: not yet: these are clamped", both(np.maximum, zero)),
    ("shift", "clamped: not yet: small entries became zero", both(zero, zero)),
    ("shift", "plain ReLU", both(lambda Z, a: np.maximum(Z, 0), np.maximum)),
    ("shift", "not its size", both(lambda Z, a: Z * (abs(Z) >= a), np.maximum)),
    ("shift", "cut down to alpha", both(zero, np.minimum)),
    ("shift", "they, too, become alpha", both(zero, lambda Z, a: np.where(Z < 0, 0, np.maximum(Z, a)))),
    ("shift", "there are entries below alpha", both(zero, lambda Z, a: np.maximum(Z, a / 2))),
    ("shift", "there are negative entries", both(lambda Z, a: Z, np.maximum)),
    ("shift", "entry [0, 0]", both(lambda Z, a: np.where(a > Z, 0, 1.0) * np.minimum(Z, 0.45), np.maximum)),
    ("symnmf_step", "correct", as_function(step)),
    ("symnmf_step", "correct", as_function(step_by_loops)),
    ("symnmf_step", "correct", as_function(step_by_masks)),
    ("symnmf_step", "correct", as_function(step_of_what_is_missing)),
    ("symnmf_step", "correct", as_function(step_by_a_root)),
    ("symnmf_step", "plain ReLU", cut(lambda Z, a: Z.clip(0))),
    ("symnmf_step", "raised to alpha", cut(np.maximum)),
    ("symnmf_step", "the shift was subtracted", cut(lambda Z, a: np.maximum(Z - a, 0))),
    ("symnmf_step", "not its size", cut(lambda Z, a: Z * (abs(Z) >= a))),
    ("symnmf_step", "an entry equal to alpha stays", cut(lambda Z, a: Z * (a < Z))),
    ("symnmf_step", "it stretches", turned(lambda U, Q, H: np.linalg.pinv(U) @ H)),
    ("symnmf_step", "the rotation is transposed", turned(lambda U, Q, H: turn(U, H).T)),
    ("symnmf_step", "leave the singular values out", turned(lambda U, Q, H: U.T @ H)),
    ("symnmf_step", "Q has not moved", turned(lambda U, Q, H: turn(U, U @ Q))),
    ("symnmf_step", "only the turn from U Q to H", turned(lambda U, Q, H: turn(U @ Q, H))),
    ("symnmf_step", "Q_next: this is not orthogonal", turned(lambda U, Q, H: 0.2 + turn(U, H))),
    ("symnmf_step", "further away from H", turned(lambda U, Q, H: np.fliplr(turn(U, H)))),
    ("symnmf_step", "H comes from U @ Q", as_function(lambda U, Q, a: (zero(U, a), turn(U, zero(U, a))))),
    ("symnmf_step", "H was cut again", as_function(lambda U, Q, a: (zero(U @ step(U, Q, a)[1], a), step(U, Q, a)[1]))),
    ("symnmf_step", "there are negative entries", as_function(lambda U, Q, a: (U @ Q, Q))),
    ("symnmf_step", "H: expected an array of shape (8, 3), got", as_function(lambda U, Q, a: step(U, Q, a)[::-1])),
    ("symnmf_step", "give 2 arrays or numbers", as_function(lambda U, Q, a: step(U, Q, a)[0])),
    ("symnmf_step", "changes what it is given, U", as_function(step_in_place)),
    ("symnmf_step", "stops with ValueError: no idea", as_function(refused)),
    ("symnmf_step", "hand in the function itself", lambda g: step(**g)),
    ("symnmf_step", "returns nothing", as_function(lambda U, Q, alpha: None)),
    ("near_start", "correct", of_start()),
    ("near_start", "correct", by_assignment),
    ("near_start", "correct", lambda g: pd.Series(of_start()(g)).round(4)),
    ("near_start", "left side: not yet: classes have no order", of_start(orders=[(0, 1, 2)])),
    ("near_start", "needs the root of q_0", of_start(power=1)),
    ("near_start", "left side: not yet: the noise is missing", of_start(noise=False)),
    ("near_start", "this is half of it", of_start(left=0.5)),
    ("near_start", "the norm of H, not its square", of_start(sigma=lambda H: np.sum(H**2))),
    ("near_start", "not the largest singular value", of_start(sigma=lambda H: np.linalg.svd(H)[1][0])),
    ("near_start", "lowest shift: not yet: this is the left side", of_start(lowest=2)),
    ("near_start", "lowest shift: not yet: the noise is missing", start_with(1, lambda g, r: r[1] - g["nu"])),
    ("near_start", "above what they are", of_start(lowest=0)),
    ("near_start", "by half of the left side", of_start(highest=-2)),
    ("near_start", "the smallest nonzero itself", of_start(highest=0)),
    ("near_start", "take the least of the nonzeros", start_with(2, lambda g, r: g["H"].min() - r[1])),
    ("near_start", "the shift must be lower", of_start(highest=1)),
    ("near_start", "give 3 arrays or numbers", left_side),
    ("noise_and_tol", "correct", noisy()),
    ("noise_and_tol", "correct", lambda g: dict(zip(("iterations", "end"), noisy()(g)[::-1], strict=True))),
    ("noise_and_tol", "correct", lambda g: [float(f"{x:.4g}") for x in noisy()(g)]),
    ("noise_and_tol", "fewer decibels are more noise", noisy(lambda factor: 1 / factor)),
    ("noise_and_tol", "the error is its square", noisy(np.sqrt)),
    ("noise_and_tol", "not a hundred", noisy(np.square)),
    ("noise_and_tol", "decibels are logarithms", lambda g: (g["end"] * 30 / g["snr"], noisy()(g)[1])),
    ("noise_and_tol", "the end rises with the noise", noisy(lambda factor: 1)),
    ("noise_and_tol", "a digit of Q takes two", noisy(times=lambda digits: 0.5)),
    ("noise_and_tol", "not its square", noisy(times=lambda digits: 0.25)),
    ("noise_and_tol", "take natural logarithms", noisy(times=lambda digits: np.log10(np.e))),
    ("noise_and_tol", "what a single digit takes", noisy(times=lambda digits: 1 / digits)),
    ("noise_and_tol", "asked are those after", noisy(times=lambda digits: 10 / digits)),
    ("noise_and_tol", "iterations: not yet: the sign is wrong", noisy(times=lambda digits: -1)),
    ("noise_and_tol", "give 2 arrays or numbers", lambda g: noisy()(g)[0]),
    ("ends", "correct", mended(lambda kinds: kinds.count(1))),
    ("ends", "correct", lambda g: np.array([*read_off(g), float(read_off(g).count(1))])),
    ("ends", "some stand still above", seen(1, 2)),
    ("ends", "more steps do not move them", seen(1, 3)),
    ("ends", "would not let them", seen(1, 4)),
    ("ends", "none is stuck", seen(2, 1)),
    ("ends", "have arrived below", seen(2, 3)),
    ("ends", "nothing is cut off", seen(2, 4)),
    ("ends", "nothing stands still here", seen(3, 1)),
    ("ends", "since none has arrived", seen(3, 2)),
    ("ends", "here they still fall", seen(3, 4)),
    ("ends", "stuck in different places", seen(4, 1)),
    ("ends", "but it does not fit", seen(4, 2)),
    ("ends", "more of them change nothing", seen(4, 3)),
    ("ends", "keep the start with the least misfit", mended(lambda kinds: 0)),
    ("ends", "more steps, not more starts", mended(lambda kinds: kinds.count(1) + kinds.count(3))),
    ("ends", "another start tells nothing new", mended(len)),
    ("ends", "give 6 arrays or numbers", read_off),
]
