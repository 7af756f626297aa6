"""What notebook 09 computes and draws: a library, a graph, corners in their plane, stand-ins, pictures, exercises."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.stats import spearmanr

from cofactor.core.errors import CofactorError, DatasetUnavailableError
from cofactor.data import GraphDataset, TopicsDataset
from cofactor.separable import merit, spa, topic_model
from course import public
from course.library import OWN, SHARED, library, topic_error, word_points
from course.nb09 import panels, pictures
from course.nb09.exercises import EXERCISES
from tests.course import moved

# ---- the library ----


def test_own_words_are_of_one_topic_and_shared_ones_of_several():
    drawn = library()
    times = dict(zip(drawn.words.tolist(), (drawn.topics > 0).sum(axis=1), strict=True))
    assert {times[word] for some in OWN for word in some} == {1}
    assert all(times[word] == np.count_nonzero(SHARED[word]) > 1 for word in SHARED)
    assert np.allclose(drawn.topics.sum(axis=0), 1) and np.allclose(drawn.weights.sum(axis=1), 1)


def test_words_are_counted_as_often_as_the_topics_say():
    drawn = library(3000, seed=1)
    sizes = np.asarray(drawn.counts.sum(axis=1)).ravel()
    expected = (sizes[:, None] * drawn.weights).sum(axis=0) @ drawn.topics.T
    assert np.all(np.abs(drawn.counts.sum(axis=0) - expected) < 5 * np.sqrt(expected))


def test_a_leak_leaves_no_word_of_one_topic():
    leaking = library(leak=0.3)
    assert leaking.topics.min() >= 0.3 / 31 - 1e-12 and np.allclose(leaking.topics.sum(axis=0), 1)


def test_words_that_are_never_drawn_are_left_out():
    few = library(3, length=5)
    assert len(few.words) == few.counts.shape[1] == len(few.topics) < 31
    assert np.all(few.counts.sum(axis=0) > 0) and np.all(few.counts.sum(axis=1) > 0)


@pytest.mark.parametrize("wrong", [{"mixing": 0.0}, {"leak": 1.0}, {"leak": -0.1}])
def test_a_library_that_cannot_be_is_refused(wrong):
    with pytest.raises(CofactorError, match="must be positive"):
        library(**wrong)


def test_word_points_are_those_of_the_library_call():
    drawn, seen = library(100), []

    def look(X, n_anchors):
        seen.append(X)
        return merit(X, n_anchors)

    topic_model(drawn.counts, 3, method=look)
    assert np.array_equal(word_points(drawn.counts, 3), seen[0])


def test_topic_error_does_not_mind_the_order_and_is_one_for_disjoint_topics():
    truth = library().topics
    assert topic_error(truth, truth[:, [2, 0, 1]]) == 0
    assert topic_error(np.eye(4)[:, :2], np.eye(4)[:, 2:]) == 1


# ---- the graph ----


def test_friends_make_a_graph_of_the_chances_given():
    graph = panels.draw_friends(900, mixing=0.05, seed=2)
    A, main = graph.adjacency.toarray(), graph.memberships.argmax(axis=1)
    assert np.array_equal(A, A.T) and not A.diagonal().any() and np.all(np.diff(main) >= 0)
    expected = graph.memberships @ (6 + 84 * np.eye(3)) @ graph.memberships.T / 900
    upper = np.triu_indices(900, k=1)
    within = main[upper[0]] == main[upper[1]]
    for some in (within, ~within):
        edges, chance = A[upper][some].sum(), expected[upper][some].sum()
        assert abs(edges - chance) < 5 * np.sqrt(chance)


def test_activity_spreads_degrees_and_a_graph_that_cannot_be_is_refused():
    spread = [panels.draw_friends(400, activity=a).adjacency.sum(axis=0).std() for a in (0.0, 1.0)]
    assert spread[1] > 2 * spread[0]
    for wrong in ({"mixing": 0.0}, {"activity": -1.0}):
        with pytest.raises(CofactorError, match="must be above zero"):
            panels.draw_friends(**wrong)


# ---- the plane ----


def test_the_plane_keeps_distances_and_has_the_corners_where_they_belong():
    rng = np.random.default_rng(0)
    W = rng.random((6, 3))
    X = W @ np.hstack([rng.dirichlet(np.ones(3), 20).T, np.eye(3)])
    places = panels.in_plane(X, [20, 21, 22])
    away = np.linalg.norm(X[:, :, None] - X[:, None, :], axis=0)
    assert np.allclose(np.linalg.norm(places[:, :, None] - places[:, None, :], axis=0), away)
    assert np.allclose(places[:, 20], 0) and places[0, 21] > 0 and places[1, 22] > 0
    assert set(ConvexHull(places.T).vertices) == {20, 21, 22}


def test_corner_weights_are_those_of_the_mixture_and_count_who_is_inside():
    rng = np.random.default_rng(1)
    H = np.hstack([np.eye(3), rng.dirichlet(np.ones(3), 5).T, [[1.2], [-0.1], [-0.1]]])
    X = rng.random((5, 3)) @ H
    assert np.allclose(panels.corner_weights(X, [0, 1, 2]), H.T)
    assert panels.count_inside(X, [0, 1, 2]) == 8
    with pytest.raises(CofactorError, match="three anchors, not 2"):
        panels.in_plane(X, [0, 1])


# ---- public data ----


def test_what_cannot_be_had_is_replaced_and_told(monkeypatch, capsys):
    def refuse(name):
        raise DatasetUnavailableError(name)

    monkeypatch.setattr(public, "load", refuse)
    found = pictures.public_evidence(["tdt2", "dblp2"])
    assert isinstance(found["tdt2"], TopicsDataset) and isinstance(found["dblp2"], GraphDataset)
    told = capsys.readouterr().out
    assert "available: none" in told and "COFACTOR_MIRROR: tdt2, dblp2" in told and "simulated data" in told
    assert found["tdt2"].trial(3, 0).counts.nnz and found["dblp2"].memberships.shape[1] == 3


@pytest.mark.needs_mirror
def test_what_is_here_is_loaded(capsys):
    graph = pictures.public_evidence(["dblp3"])["dblp3"]
    assert graph.memberships.shape == (13315, 3)
    assert capsys.readouterr().out == "available: dblp3\n"


# ---- exercises ----


def test_the_corners_asked_for_are_those_of_the_library():
    exercise = EXERCISES["projection"]
    for case in [exercise.given(), *exercise.cases()]:
        assert exercise.solve(**case)[0].answer == list(spa(case["X"], case["n_anchors"]))


# ---- pictures ----

DRAWN = library(200)
X = word_points(DRAWN.counts, 3)


@pytest.mark.slow
@pytest.mark.parametrize("leak", [0.0, 0.4, 0.6])
def test_names_of_words_do_not_touch(leak):
    drawn = library(400, leak=leak)
    X = word_points(drawn.counts, 3)
    fig = panels.draw_words(X, drawn.words, {"SPA": spa(X, 3)})
    fig.draw_without_rendering()
    texts = fig.axes[0].texts
    spaces = [text.get_window_extent() for text in texts]
    assert not any(one.overlaps(other) for i, one in enumerate(spaces) for other in spaces[:i])
    assert set(drawn.words[spa(X, 3)]) <= {text.get_text() for text in texts} and len(texts) >= 14
    assert leak == 0 or len(texts) < len(drawn.words)  # a name without room is left out


# ---- live figures, and what the notebook says of them ----


@pytest.mark.slow
def test_without_a_leak_corners_are_words_of_the_three_topics_and_with_one_they_are_inside():
    theta, taken, _, error = panels.topic_corners(400, 0.0)
    assert sorted(theta[taken].argmax(axis=1)) == [0, 1, 2] and theta[taken].max(axis=1).min() > 0.9 and error < 0.2
    inside = panels.topic_corners(400, 0.6)
    assert inside[0].max() < theta.max() and np.allclose(inside[0].sum(axis=1), 1)
    assert "corners flour, galaxy, tempo; 14 %" in moved(panels.topic_live(), shown=True)


@pytest.mark.slow
def test_mixing_leaves_nobody_pure():
    src = {mixing: panels.community_corners(mixing)[3] for mixing in (0.2, 0.5, 1.0)}
    assert [round(each, 2) for each in src.values()] == [0.89, 0.84, 0.21]
    truth, _, pure, _ = panels.community_corners(1.0)
    assert round(truth[pure].max(), 2) == 0.81 and len(set(truth[pure].argmax(axis=1))) == 2
    assert "rank correlation 0.21, you guessed 0.9" in moved(panels.community_live(), mixing=1.0, shown=True)


# ---- exercises that judge ----


def test_the_largest_difference_of_the_contests_is_the_one_that_may_be_chance():
    mean, s_e, ahead = (np.asarray(part.answer) for part in EXERCISES["contests"].parts)
    assert sorted(ahead) == [-1, 0, 1] and ahead[np.abs(mean).argmax()] == 0
    first, second = EXERCISES["contests"].given().values()
    unpaired = np.sqrt((first.var(axis=1) + second.var(axis=1)) / 30)
    assert np.all(np.abs(mean) < 2 * unpaired) and np.all(s_e < unpaired)


def test_ranks_are_those_of_scipy_and_differ_by_what_replaces_a_negative_weight():
    truth, raw = EXERCISES["ranks"].given().values()
    zero, floor, main = np.asarray(EXERCISES["ranks"].parts[0].answer)
    for low, expected in ((0, zero), (2.2e-16, floor)):
        cut = np.maximum(raw, low)
        shares = (cut / cut.sum(axis=1, keepdims=True))[:, 0]
        assert spearmanr(truth, shares).statistic == pytest.approx(expected)
    assert zero - floor > 0.05 and zero - main > 0.05


def test_lonely_corners_are_twins_or_alone_by_construction():
    clouds = EXERCISES["lonely"].given()["clouds"]
    near, trouble = (np.asarray(part.answer) for part in EXERCISES["lonely"].parts)
    assert {0, 1, 2} == set(trouble)
    for X, row, kind in zip(clouds, near, trouble, strict=True):
        assert (len(np.unique(X.T, axis=0)) == 59) == (kind == 1) == (row.min() == 0)
        assert np.sum(row > 0.1) == (kind == 2) and np.sort(row)[1] < 0.05


def test_products_save_memory_everywhere_and_multiplications_only_where_documents_are_long():
    D, N, z, K = EXERCISES["products"].given().values()
    table, held, fewer = (np.asarray(part.answer) for part in EXERCISES["products"].parts)
    assert np.allclose(table, 8 * N**2 / 1e9) and np.all(table > 10 * held) and 0 < fewer.sum() < 4
    for documents, entries, topics, less in zip(D, z, K, fewer, strict=True):
        of_table = documents * (entries / documents) ** 2
        assert (2 * 2 * topics * entries < of_table) == less
