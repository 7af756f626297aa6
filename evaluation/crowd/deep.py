"""CrowdLayer and DL-MV (Table 9): a neural network that sees the tasks themselves, trained on what the crowd says.

Network: f(x) = softmax(V2 dropout(relu(V1 x + b1)) + b2), class probabilities of a task with features x. DL-MV trains
it on majority votes. CrowdLayer lets annotator m answer softmax(W_m f(x)), trains all of it on the labels, and keeps f.

    symbol   meaning                                           shape
    x, f(x)  features of a task, its class probabilities       (P,), (K,)
    W_m      crowd layer of annotator m, from I                (K, K)
    N, M, E  tasks, annotators, labels

Source: Rodrigues and Pereira, "Deep learning from crowds", AAAI 2018 (there the layers on top of VGG-16), the variant
"MW"; as used by Ibrahim and Fu, ICML 2021, supplement C.3, Table 9 (50 epochs). Deviations: features averaged over the
image (512 numbers) where the original flattens them, and standardised, where the original takes them as they are:
single starts then end further apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.preprocessing import StandardScaler

from cofactor.core.checks import numbers, rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.estimator import Result
from cofactor.core.types import Floats
from cofactor.crowd.base import TaskScorer
from cofactor.crowd.labels import CrowdLabels

Loss = Callable[[Any, Any], Any]  # of the scores that the network gives a batch, and of the tasks in it


@dataclass(eq=False, repr=False)
class DLMV(TaskScorer):
    """Train the network on majority votes: minimise - sum_n log f_{v_n}(x_n), v_n the lowest code of the most votes.

    `max_iter` epochs of Adam over random batches are run, no fewer. After `fit`, `network_` gives scores before the
    softmax. On the tasks it is trained on, it ends up repeating its training labels. Needs PyTorch.
    Cost: O(max_iter N P hidden) time, one thread.
    """

    hidden: int = 128
    dropout: float = 0.5
    max_iter: int = 50
    batch_size: int = 64
    learning_rate: float = 1e-3
    standardize: bool = True
    random_state: int | None = None

    def fit(self, labels: CrowdLabels, features: ArrayLike | None = None) -> Self:  # type: ignore[override]
        """Train on labels and on the (n_tasks, P) features of their tasks; returns self."""
        X = numbers(features, "features", 2)
        self.scaler_ = StandardScaler(with_mean=self.standardize, with_std=self.standardize).fit(X)
        self._X = X
        return super().fit(labels)

    def _tensor(self, torch: Any, X: Floats) -> Any:
        return torch.tensor(self.scaler_.transform(X), dtype=torch.float32)

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        try:
            torch: Any = import_module("torch")
        except ImportError as error:
            raise CofactorError(f"this method needs PyTorch ({error}): pip install cofactor[deep]") from None
        with _reproducible(torch, int(rng_of(self.random_state).integers(2**31))):
            self.network_ = _network(torch, self._X.shape[1], labels.n_classes, self.hidden, self.dropout)
            tasks, loss, weights = self._training(torch, labels)
            result = self._train(torch, torch.as_tensor(tasks), loss, weights)
        self.network_.eval()
        with _reproducible(torch, 0), torch.no_grad():
            found = torch.softmax(self.network_(self._tensor(torch, self._X)), dim=1)
        return found.numpy().astype(np.float64), result

    def _train(self, torch: Any, tasks: Any, loss: Loss, weights: list[Any]) -> Result:
        X, objective = self._tensor(torch, self._X), []
        step = torch.optim.Adam([*self.network_.parameters(), *weights], lr=self.learning_rate)
        self.network_.train()
        for _ in range(self.max_iter):
            total = 0.0
            for batch in tasks[torch.randperm(len(tasks))].split(self.batch_size):
                value = loss(self.network_(X[batch]), batch)
                step.zero_grad()
                value.backward()
                step.step()
                total += value.item() * len(batch)
            objective.append(total / len(tasks))
        return Result(np.array(objective), self.max_iter, True, f"trained for the {self.max_iter} epochs asked")

    def _training(self, torch: Any, labels: CrowdLabels) -> tuple[Any, Loss, list[Any]]:
        """Return the tasks to learn from, the loss of a batch, and further weights."""
        vote = torch.as_tensor(labels.votes.argmax(axis=1))
        entropy = torch.nn.functional.cross_entropy
        tasks = np.flatnonzero(labels.table.entries_per_row)
        return tasks, lambda scores, batch: entropy(scores, vote[batch]), []


class CrowdLayer(DLMV):
    """Train the network through a layer of one matrix per annotator on top of it.

    Minimise - sum_{n, m: label k} log softmax_k(W_m f(x_n)) over the observed labels; no constraint ties W_m to a
    confusion matrix. After `fit`, `crowd_layer_` is W (M, K, K). Cost: O(max_iter (N P hidden + E K^2)) time.
    """

    def _training(self, torch: Any, labels: CrowdLabels) -> tuple[Any, Loss, list[Any]]:
        table = labels.table
        W = torch.eye(labels.n_classes).repeat(labels.n_workers, 1, 1).requires_grad_()
        worker, label = torch.as_tensor(table.variables), torch.as_tensor(table.values)
        count = torch.as_tensor(table.entries_per_row)
        start = torch.cumsum(count, 0) - count

        def loss(scores: Any, batch: Any) -> Any:
            given = count[batch]
            owner = torch.repeat_interleave(torch.arange(len(batch)), given)  # place in the batch of each label
            rank = torch.arange(len(owner)) - (torch.cumsum(given, 0) - given)[owner]
            entry = start[batch][owner] + rank
            f = torch.softmax(scores, dim=1)
            answers = (W[worker[entry]] @ f[owner].unsqueeze(2)).squeeze(2)
            return torch.nn.functional.cross_entropy(answers, label[entry])

        self._W = W
        return np.flatnonzero(table.entries_per_row), loss, [W]

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        found = super()._score(labels)
        self.crowd_layer_ = self._W.detach().numpy().astype(np.float64)
        return found


def _network(torch: Any, n_features: int, n_classes: int, hidden: int, dropout: float) -> Any:
    """One hidden layer; weights drawn as in the original (Glorot), biases zero."""
    nn = torch.nn
    layers = nn.Linear(n_features, hidden), nn.Linear(hidden, n_classes)
    for layer in layers:
        nn.init.xavier_uniform_(layer.weight)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.ReLU(), nn.Dropout(dropout), layers[1])


@contextmanager
def _reproducible(torch: Any, seed: int) -> Iterator[None]:
    """Seed PyTorch and use one thread, for the time being; both are as before afterwards."""
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
