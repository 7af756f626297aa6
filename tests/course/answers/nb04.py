"""Answers to the exercises of notebook 04: exercise, what the reply says, and the answer made from what is given."""

import numpy as np
import pandas as pd
from scipy.linalg import orthogonal_procrustes, polar, sqrtm
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
]
