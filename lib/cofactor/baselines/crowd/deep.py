"""CrowdLayer and DL-MV: a neural network that sees the tasks themselves, trained on what the crowd says of them.

Network: f(x) = softmax(V2 dropout(relu(V1 x + b1)) + b2), class probabilities of a task with features x. DL-MV trains
it on majority votes. CrowdLayer lets annotator m answer softmax(W_m f(x)), trains all of it on the labels, and keeps f.

    symbol   meaning                                           shape
    x, f(x)  features of a task, its class probabilities       (P,), (K,)
    W_m      crowd layer of annotator m, from I                (K, K)
    N, M, E  tasks, annotators, labels

Needs PyTorch, imported only when a network is trained: ``pip install cofactor[deep]``.

Source: Rodrigues and Pereira, "Deep learning from crowds", AAAI 2018; as used by Ibrahim and Fu, ICML 2021, supplement
C.3, Table 9 (50 epochs).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.checks import check_between, check_whole, numbers, rng_of
from cofactor.core.errors import CofactorError, listing
from cofactor.core.result import Result
from cofactor.core.types import Floats
from cofactor.crowd.base import TaskScorer, require_labels
from cofactor.crowd.labels import CrowdLabels

LARGEST_TASK_FEATURE = 1e100  # feature; the squares of larger ones overflow
Loss = Callable[[Any, Any], Any]  # of the scores that the network gives a batch, and of the tasks in it


@dataclass(eq=False, repr=False)
class DeepAggregator(TaskScorer):
    """Base class of methods that learn from features of the tasks; see `CrowdLayer` and `DLMV`.

    A method implements `_training`, which returns the tasks to learn from, the loss of a batch, and further weights.
    """

    hidden: int = 128
    dropout: float = 0.5
    max_iter: int = 50
    batch_size: int = 64
    learning_rate: float = 1e-3
    standardize: bool = True
    random_state: int | None = None
    verbose: bool = False

    def fit(self, labels: CrowdLabels, features: ArrayLike | None = None) -> Self:  # type: ignore[override]
        """Train on labels and on the (n_tasks, P) features of their tasks; returns self."""
        require_labels(labels)
        if features is None:
            raise CofactorError(
                f"{type(self).__name__} learns from features of the tasks: fit(labels, features), one row per task; "
                "a method that needs labels only is MV-EM, or RobSymNMF-EM"
            )
        self._check_settings()
        X = _finite(features)
        if len(X) != labels.n_tasks:
            raise CofactorError(f"features of {len(X)} tasks for labels of {labels.n_tasks}: give one row per task")
        if not labels.n_labels:
            raise CofactorError("no task has a label")
        from sklearn.preprocessing import StandardScaler  # here: slow to import

        self.scaler_ = StandardScaler(with_mean=self.standardize, with_std=self.standardize).fit(X)
        self._X = X
        try:
            return super().fit(labels)
        finally:
            del self._X

    def _check_settings(self) -> None:
        check_whole(1, hidden=self.hidden, max_iter=self.max_iter, batch_size=self.batch_size)
        check_between(0, 1, dropout=self.dropout, learning_rate=self.learning_rate)

    def predict_features(self, features: ArrayLike) -> Floats:
        """Return the (S, n_classes) class probabilities of any items, labelled or not, from their (S, P) features."""
        self._check_fitted()
        X = _finite(features)
        if X.shape[1] != self.scaler_.n_features_in_:
            raise CofactorError(f"{X.shape[1]} features, fitted on {self.scaler_.n_features_in_}: give the same ones")
        return self._answers(X)

    def _answers(self, X: Floats) -> Floats:
        torch = _torch()
        self.network_.eval()
        with _reproducible(torch, 0), torch.no_grad():
            found = torch.softmax(self.network_(self._tensor(torch, X)), dim=1).numpy().astype(np.float64)
        far = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if far.size:
            raise CofactorError(
                f"features of tasks {listing(far.tolist())} are too large beside the others: check units"
            )
        return found

    def _tensor(self, torch: Any, X: Floats) -> Any:
        return torch.tensor(self.scaler_.transform(X), dtype=torch.float32)

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        torch = _torch()
        seed = int(rng_of(self.random_state).integers(2**31))
        with _reproducible(torch, seed):
            self.network_ = _network(torch, self._X.shape[1], labels.n_classes, self.hidden, self.dropout)
            tasks, loss, weights = self._training(torch, labels)
            result = self._train(torch, torch.as_tensor(tasks), loss, weights)
        return self._answers(self._X), result

    def _training(self, torch: Any, labels: CrowdLabels) -> tuple[Any, Loss, list[Any]]:
        raise NotImplementedError

    def _train(self, torch: Any, tasks: Any, loss: Loss, weights: list[Any]) -> Result:
        """Run Adam over random batches of tasks for the epochs asked; their number is part of the method."""
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
        if not np.isfinite(objective).all():
            raise CofactorError("training diverged: standardize the features, or lower learning_rate")
        return Result(np.array(objective), self.max_iter, True, f"trained for the {self.max_iter} epochs asked")


class DLMV(DeepAggregator):
    """DL-MV: the network trained on majority votes.

    Minimise - sum_n log f_{v_n}(x_n) over the tasks with labels, v_n the most frequent label of task n, the lowest
    code in a tie.

    Parameters
    ----------
    hidden, dropout, max_iter, batch_size, learning_rate
        Of the network (one hidden layer) and of Adam; `max_iter` epochs are run, no fewer.
    standardize : bool
        Give every feature mean zero and variance one over the tasks fitted on.
    random_state : int, optional
        Starting weights, batches and dropout.
    verbose : bool
        Has no effect.

    Attributes after `fit`
    ----------------------
    network_ : torch.nn.Module
        Features (standardised where asked) to scores before the softmax.
    posterior_, model_, result_ : see `TaskScorer`
        `result_.objective` is the mean loss of each epoch, in nats.

    Raises `CofactorError` in `fit`: PyTorch is missing; no features, features of other tasks or not finite; settings
    out of range (`dropout` and `learning_rate` lie between 0 and 1); the loss overflows.

    Cost: O(max_iter N P hidden) time, one thread. Source: Rodrigues and Pereira, AAAI 2018 (there the layers on top of
    VGG-16). Deviation: features averaged over the image (512 numbers) where the original flattens them, since those
    can be had. On the tasks it is trained on, the network ends up repeating its training labels: its error is that of
    the majority vote.
    """

    def _training(self, torch: Any, labels: CrowdLabels) -> tuple[Any, Loss, list[Any]]:
        vote = torch.as_tensor(labels.votes.argmax(axis=1))
        entropy = torch.nn.functional.cross_entropy
        tasks = np.flatnonzero(labels.table.entries_per_row)
        return tasks, lambda scores, batch: entropy(scores, vote[batch]), []


class CrowdLayer(DeepAggregator):
    """Train the network through a layer of one matrix per annotator on top of it.

    Minimise - sum_{n, m: label k} log softmax_k(W_m f(x_n)) over the observed labels, f the network and W_m starting at
    the identity, without bias. The classes are those of f; no constraint ties W_m to a confusion matrix.

    Parameters
    ----------
    hidden, dropout, max_iter, batch_size, learning_rate, standardize, random_state, verbose
        As for `DLMV`.

    Attributes after `fit`
    ----------------------
    crowd_layer_ : (M, K, K) array
        W_m.
    network_, posterior_, model_, result_ : see `DLMV`

    Raises as `DLMV`. Cost: O(max_iter (N P hidden + E K^2)) time, one thread. Source: Rodrigues and
    Pereira, AAAI 2018, the variant "MW". Deviations: features averaged over the image where the original flattens them,
    and standardised, where the original takes them as they are: single starts then end further apart.
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
        scores, result = super()._score(labels)
        self.crowd_layer_ = self._W.detach().numpy().astype(np.float64)
        del self._W
        return scores, result


def _network(torch: Any, n_features: int, n_classes: int, hidden: int, dropout: float) -> Any:
    """One hidden layer; weights drawn as in the original (Glorot), biases zero."""
    nn = torch.nn
    layers = nn.Linear(n_features, hidden), nn.Linear(hidden, n_classes)
    for layer in layers:
        nn.init.xavier_uniform_(layer.weight)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.ReLU(), nn.Dropout(dropout), layers[1])


def _torch() -> Any:
    try:
        return import_module("torch")
    except ImportError as error:
        raise CofactorError(f"this method needs PyTorch ({error}): pip install cofactor[deep]") from None


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


def _finite(features: ArrayLike) -> Floats:
    X = numbers(features, "features")
    if X.ndim != 2 or not X.shape[1]:
        raise CofactorError(f"features must be a matrix, one row per task; got an array of shape {X.shape}")
    bad = np.flatnonzero(~(np.abs(X) < LARGEST_TASK_FEATURE).all(axis=1))
    if bad.size:
        message = (
            f"NaN or infinity in the features of tasks {listing(bad.tolist())}, or more than {LARGEST_TASK_FEATURE:g}"
        )
        raise CofactorError(f"{message}: fill them first")
    return X
