"""MAG1 and MAG2, which are not downloaded here: what their card says, and the networks drawn in their sizes."""

import re

import numpy as np
import pytest
from scipy import sparse

from cofactor.data import DATASETS_DIR, load_mag
from cofactor.data.published import published
from cofactor.separable.communities import energetic_rows
from cofactor.separable.graphs import leading_eigenvectors
from evaluation.separable.communities import AT, ENERGY, MAG
from tools import drawn_mag

CARD = (DATASETS_DIR / "cards" / "mag.md").read_text(encoding="utf8")
TOLD = {
    line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ")[1:] for line in re.findall(r"^\|.*", CARD, re.M)
}


def test_the_card_has_the_address_and_the_blob_ids_by_which_the_rows_check_the_files():
    assert dict(re.findall(r"^- `(MAG\w+\.txt)`, .*: git blob `(\w+)`", CARD, re.M)) == MAG
    assert f"\n{AT}\n" in CARD


@pytest.mark.parametrize("k", [1, 2])
def test_a_drawn_network_has_the_size_of_the_card(k):
    size = drawn_mag.SIZES[f"MAG{k}"]
    assert (str(size.nodes), str(size.mixed)) == (TOLD["nodes"][k - 1], TOLD["in more than one community"][k - 1])
    assert str(round(size.nodes * size.degree / 2)) == TOLD["edges drawn"][k - 1]
    assert sum(size.shares) == pytest.approx(1)


def test_a_drawn_network_is_written_and_read_in_the_format_of_the_files(tmp_path):
    size = drawn_mag.SMALL
    (low, high), theta = drawn_mag.draw(size, np.random.default_rng(3))
    drawn_mag.write(tmp_path, "small", (low, high), theta)
    graph = load_mag(tmp_path, "small")  # refuses what stands twice, and shares that do not sum to one
    assert graph.adjacency.shape == (size.nodes, size.nodes) and graph.adjacency.nnz == 2 * len(low)
    assert len(low) == round(size.nodes * size.degree / 2) and (graph.adjacency[low, high] == 1).all()
    assert np.allclose(graph.memberships, theta, atol=1e-6)
    assert np.count_nonzero((theta > 0).sum(axis=1) > 1) == size.mixed


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2])
def test_the_energy_rule_keeps_about_as_many_nodes_of_a_drawn_network_as_are_printed(k):
    size = drawn_mag.SIZES[f"MAG{k}"]
    (low, high), theta = drawn_mag.draw(size, np.random.default_rng(1))  # another draw than that of the card
    upper = sparse.coo_array((np.ones(len(low)), (low, high)), shape=(size.nodes, size.nodes))
    V = leading_eigenvectors(sparse.csr_array(upper + upper.T), theta.shape[1], "LM")[1]
    kept = energetic_rows(V, ENERGY).size
    (printed,) = published("separable_table3").query(f"method == 'mag{k}' and metric == 'nodes'")["value"]
    assert kept == pytest.approx(printed, rel=0.02)
