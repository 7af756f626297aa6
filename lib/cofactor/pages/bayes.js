"use strict";
/*
 * BayesDS, the default of `cofactor aggregate`, step by step as in the library: crowd/bayes.py (choice of the
 * structure), crowd/variational.py (rounds) and crowd/dependence.py; difficulty.js makes the probabilities.
 * The symbols are explained there. tests/browser/test_aggregate_page.py holds labels and probabilities to Python's.
 *
 *   crowd    N tasks, M workers, K classes; entry e of task i, first[i] <= e < first[i + 1], has the row[e];
 *            row r is a pair (owner[r], label[r]) of a worker and a label that occurs; diagonal[w K + k] is a row or -1
 *   counts   cells (R, S): expected labels of every row and state; classes (S,): expected tasks of every state
 *   model    A (R, S) and prior (S,): probabilities, or exp of expected logarithms
 */

const { floor: FLOOR, tiny: TINY } = CONSTANTS;
const SHORT = 20, MANY = 1e-60; // products of so many factors cannot underflow; see core/em.py

// ---- special functions ----

/** psi(x), x > 0: shifted to x >= 10, then its asymptotic series. */
function digamma(x) {
  let shift = 0;
  for (; x < 10; x++) shift += 1 / x;
  const y = 1 / (x * x);
  const series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - (y * 691) / 32760)))));
  return Math.log(x) - 0.5 / x - series - shift;
}

/** log Gamma(x), x > 0: shifted to x >= 10, then Stirling's series. */
function logGamma(x) {
  let product = 1;
  for (; x < 10; x++) product *= x;
  const y = 1 / (x * x);
  const series = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - (y * 691) / 360360))))) / x;
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series - Math.log(product);
}

function density(x) {
  return Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
}

/** Pr(Z > x) of a standard normal Z, x >= 0: a power series below 3, a continued fraction above. */
function upperTail(x) {
  if (x >= 3) {
    let fraction = x;
    for (let n = 80; n; n--) fraction = x + n / fraction;
    return density(x) / fraction;
  }
  let term = x, sum = x;
  for (let n = 3; term > 1e-17 * sum; n += 2) sum += term *= (x * x) / n;
  return 0.5 - density(x) * sum;
}

function normalBelow(x) {
  return x > 0 ? 1 - upperTail(x) : upperTail(-x);
}

/** The x with Pr(Z < x) = p: Abramowitz and Stegun 26.2.23, then steps of Halley. */
function normalQuantile(p) {
  if (p > 0.5) return -normalQuantile(1 - p);
  const t = Math.sqrt(-2 * Math.log(p));
  let x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (let step = 0; step < 3; step++) {
    const error = (normalBelow(x) - p) / density(x);
    x -= error / (1 + (x * error) / 2);
  }
  return x;
}

/** KL(Dir(x) || Dir(a)), in nats. */
function divergence(x, a) {
  const all = sum(x), level = digamma(all);
  let found = logGamma(all) - logGamma(sum(a));
  for (let i = 0; i < x.length; i++) {
    found += logGamma(a[i]) - logGamma(x[i]) + (x[i] - a[i]) * (digamma(x[i]) - level);
  }
  return found;
}

function sum(x) {
  let total = 0;
  for (let i = 0; i < x.length; i++) total += x[i];
  return total;
}

function clip(x, low, high) {
  return Math.min(Math.max(x, low), high);
}

// ---- sums over tasks ----

function crowdOf({ tasks, workers, classes, task, worker, label }) {
  const N = tasks.length, M = workers.length, K = classes.length, E = task.length;
  const first = new Int32Array(N + 1), diagonal = new Int32Array(M * K).fill(-1), place = new Int32Array(M * K);
  for (let e = 0; e < E; e++) (first[task[e] + 1]++, (place[worker[e] * K + label[e]] = 1));
  for (let i = 0; i < N; i++) first[i + 1] += first[i];
  let R = 0;
  for (let pair = 0; pair < M * K; pair++) if (place[pair]) place[pair] = ++R;
  const owner = new Int32Array(R), labels = new Int32Array(R), row = new Int32Array(E);
  for (let e = 0; e < E; e++) {
    const pair = worker[e] * K + label[e], r = (row[e] = place[pair] - 1);
    [owner[r], labels[r], diagonal[pair]] = [worker[e], label[e], r];
  }
  return { N, M, K, E, R, first, row, owner, label: labels, diagonal };
}

function modelOf(A, prior) {
  for (let c = 0; c < A.length; c++) if (A[c] < FLOOR) A[c] = FLOOR;
  return { A, prior, logPrior: prior.map(Math.log), logA: null };
}

/** Put the probabilities of task i and every state into q, up to a factor; return the factor's logarithm. */
function weigh(crowd, model, i, q) {
  const { row, first } = crowd, S = q.length, A = model.A, end = first[i + 1];
  if (end - first[i] <= SHORT) {
    q.set(model.prior);
    for (let e = first[i]; e < end; e++) for (let s = 0, c = row[e] * S; s < S; s++, c++) q[s] *= A[c];
    return 0;
  }
  const logA = (model.logA ??= A.map(Math.log));
  q.set(model.logPrior);
  for (let e = first[i]; e < end; e++) for (let s = 0, c = row[e] * S; s < S; s++, c++) q[s] += logA[c];
  const top = q.reduce((a, b) => Math.max(a, b));
  for (let s = 0; s < S; s++) q[s] = Math.exp(q[s] - top);
  return top;
}

/** E-step: the expected counts of all tasks under a model, and its log-likelihood. */
function eStep(crowd, model) {
  const S = model.prior.length, { row, first } = crowd, q = new Float64Array(S);
  const cells = new Float64Array(crowd.R * S), classes = new Float64Array(S);
  let logLikelihood = 0, product = 1;
  for (let i = 0; i < crowd.N; i++) {
    logLikelihood += weigh(crowd, model, i, q);
    const total = sum(q);
    product *= total;
    if (!(MANY < product && product < 1 / MANY)) {
      logLikelihood += Math.log(product);
      product = 1;
    }
    for (let s = 0; s < S; s++) classes[s] += q[s] *= 1 / total;
    for (let e = first[i]; e < first[i + 1]; e++) for (let s = 0, c = row[e] * S; s < S; s++, c++) cells[c] += q[s];
  }
  return { cells, classes, logLikelihood: logLikelihood + Math.log(product) };
}

/** Return the (N, K) posterior of the classes, their kinds added up. */
function posteriorOf(crowd, model) {
  const { N, K } = crowd, S = model.prior.length, G = S / K, q = new Float64Array(S), z = new Float64Array(N * K);
  for (let i = 0; i < N; i++) {
    weigh(crowd, model, i, q);
    const total = sum(q);
    for (let s = 0; s < S; s++) z[i * K + Math.floor(s / G)] += q[s] / total;
  }
  return z;
}

/** Return the counts of the vote shares; of two kinds of each class, split by how much the votes of a task agree. */
function voteCounts(crowd, kinds) {
  const { N, K, first, row, label } = crowd, S = K * kinds, q = new Float64Array(S), v = new Float64Array(K);
  const cells = new Float64Array(crowd.R * S), classes = new Float64Array(S);
  for (let i = 0; i < N; i++) {
    v.fill(0);
    for (let e = first[i]; e < first[i + 1]; e++) v[label[row[e]]]++;
    for (let k = 0; k < K; k++) v[k] /= first[i + 1] - first[i];
    const agreement = v.reduce((total, share) => total + share * share, 0);
    const parts = kinds === 1 ? [1] : [agreement, 1 - agreement];
    for (let s = 0; s < S; s++) classes[s] += q[s] = v[Math.floor(s / kinds)] * parts[s % kinds];
    for (let e = first[i]; e < first[i + 1]; e++) for (let s = 0, c = row[e] * S; s < S; s++, c++) cells[c] += q[s];
  }
  return { cells, classes };
}

// ---- beliefs: `own` and `kinds` ----

/** Return the belief, with one or two kinds of tasks a class, that follows from counts. */
function ownBelief(crowd, alpha, kinds, { cells, classes }) {
  const { K, M, owner, label } = crowd, S = K * kinds, { diagonal, off, kindsCount } = CONSTANTS;
  const column = diagonal + (K - 1) * off, seen = sumByWorker(crowd, cells, S);
  const prior = (r, s) => (label[r] === Math.floor(s / kinds) ? diagonal : off);
  const ofClass = (states, k) => states.subarray(k * kinds, (k + 1) * kinds);
  const even = new Float64Array(kinds).fill(kindsCount / kinds);
  const eta = classes.map((tasks) => kindsCount / kinds + tasks);
  const nu = alpha.map((votes, k) => votes + sum(ofClass(classes, k)));
  const levels = seen.map((labels) => digamma(labels + column)), logs = new Float64Array(cells.length);
  let far = divergence(nu, alpha) + sum(seen.map((labels) => logGamma(labels + column))) - M * S * logGamma(column);
  for (let c = 0, r = 0; r < crowd.R; r++) {
    for (let s = 0; s < S; s++, c++) {
      const a = prior(r, s);
      logs[c] = digamma(cells[c] + a) - levels[owner[r] * S + s];
      far += logGamma(a) - logGamma(cells[c] + a) + cells[c] * logs[c];
    }
  }
  for (let k = 0; k < K; k++) far += divergence(ofClass(eta, k), even);
  return {
    kinds, divergence: far,
    expected: () => modelOf(logs.map(Math.exp), expectedPrior(nu, eta, kinds)),
    mean: () => ownMean(crowd, nu, cells, kinds),
    rightAndGiven: () => rightAndGiven(crowd, mergeKinds(cells, kinds)),
    prior: nu.map((tasks) => tasks / sum(nu)),
  };
}

function expectedPrior(nu, eta, kinds) {
  const level = digamma(sum(nu));
  return eta.map((tasks, s) => {
    const k = Math.floor(s / kinds), all = sum(eta.subarray(k * kinds, (k + 1) * kinds));
    return Math.exp(digamma(nu[k]) - level + digamma(tasks) - digamma(all));
  });
}

/** Return the Dawid-Skene model of the K classes: counts over all kinds, the prior's once. */
function ownMean(crowd, nu, cells, kinds) {
  const { K, owner, label } = crowd, { diagonal, off } = CONSTANTS;
  const C = mergeKinds(cells, kinds), seen = sumByWorker(crowd, C, K);
  const A = C.map((count, c) => {
    const r = Math.floor(c / K), k = c % K, a = label[r] === k ? diagonal : off;
    return (count + a) / (seen[owner[r] * K + k] + diagonal + (K - 1) * off);
  });
  return modelOf(A, nu.map((tasks) => tasks / sum(nu)));
}

function mergeKinds(cells, kinds) {
  const merged = new Float64Array(cells.length / kinds);
  for (let c = 0; c < cells.length; c++) merged[Math.floor(c / kinds)] += cells[c];
  return merged;
}

/** Add up (R, S) counts over the labels of each worker: (M, S). */
function sumByWorker({ M, R, owner }, cells, S) {
  const total = new Float64Array(M * S);
  for (let r = 0, c = 0; r < R; r++) for (let s = 0; s < S; s++, c++) total[owner[r] * S + s] += cells[c];
  return total;
}

/** Return the (M, K) expected numbers of right labels, and of all, by class. */
function rightAndGiven(crowd, cells) {
  const { K, diagonal } = crowd, given = sumByWorker(crowd, cells, K);
  const right = given.map((_, pair) => (diagonal[pair] < 0 ? 0 : cells[diagonal[pair] * K + (pair % K)]));
  return { right, given };
}

// ---- belief `shared`: workers differ in how often they are right, and share their errors ----

/** Return the belief that follows from counts; `strengths` are prior counts of right and wrong labels. */
function sharedBelief(crowd, alpha, strengths, { cells, classes }) {
  const { K } = crowd, [a, b] = strengths, { right, given } = rightAndGiven(crowd, cells);
  const able = right.map((labels) => labels + a);
  const wrong = given.map((labels, pair) => Math.max(labels - right[pair], 0) + b);
  const errors = sharedErrors(crowd, cells, K), nu = alpha.map((votes, k) => votes + classes[k]);
  const wrongOf = (k) => Float64Array.from({ length: K - 1 }, (_, l) => errors[(l + (l >= k)) * K + k]);
  const columns = Array.from(nu, (_, k) => wrongOf(k));
  let far = divergence(nu, alpha);
  for (const column of columns) far += divergence(column, new Float64Array(K - 1).fill(1));
  able.forEach((x, pair) => (far += divergence([x, wrong[pair]], strengths)));
  const totals = columns.map(sum), level = (x, all) => Math.exp(digamma(x) - digamma(all));
  return {
    kinds: 1, divergence: far,
    expected: () => sharedModel(crowd, nu.map((x) => level(x, sum(nu))), able.map((x, p) => level(x, x + wrong[p])),
      wrong.map((x, p) => level(x, x + able[p])), errors.map((x, c) => (x ? level(x, totals[c % K]) : 0))),
    mean: () => sharedModel(crowd, nu.map((x) => x / sum(nu)), able.map((x, p) => x / (x + wrong[p])),
      able.map((x, p) => 1 - x / (x + wrong[p])), errors.map((x, c) => x / totals[c % K])),
    rightAndGiven: () => ({ right: able.map((x) => x - a), given: able.map((x, p) => x - a + wrong[p] - b) }),
    prior: nu.map((tasks) => tasks / sum(nu)),
  };
}

/** Return the (K, K) labels of all workers, by label, then class, and one more of each; zero where they are right. */
function sharedErrors({ K, R, label }, cells, S) {
  const errors = new Float64Array(K * K), G = S / K;
  for (let l = 0; l < K; l++) for (let k = 0; k < K; k++) errors[l * K + k] = l === k ? 0 : 1;
  for (let r = 0, c = 0; r < R; r++) {
    for (let s = 0; s < S; s++, c++) {
      const k = Math.floor(s / G);
      if (label[r] !== k) errors[label[r] * K + k] += cells[c];
    }
  }
  return errors;
}

function sharedModel({ K, R, owner, label }, prior, right, wrong, errors) {
  const A = new Float64Array(R * K);
  for (let c = 0; c < A.length; c++) {
    const r = Math.floor(c / K), k = c % K, pair = owner[r] * K + k;
    A[c] = label[r] === k ? right[pair] : wrong[pair] * errors[label[r] * K + k];
  }
  return modelOf(A, prior);
}

/** Return strengths under which the expected counts are more probable: steps of Minka's fixed point. */
function learnedStrengths(crowd, strengths, counts) {
  const { right, given } = rightAndGiven(crowd, counts.cells), [low, high] = CONSTANTS.strengthRange;
  let [a, b] = strengths;
  for (let step = 0; step < CONSTANTS.strengthSteps; step++) {
    let both = 0, able = 0, unable = 0;
    for (let pair = 0; pair < right.length; pair++) {
      const wrong = Math.max(given[pair] - right[pair], 0);
      both += digamma(right[pair] + wrong + a + b) - digamma(a + b);
      able += digamma(right[pair] + a) - digamma(a);
      unable += digamma(wrong + b) - digamma(b);
    }
    if (both > 0) [a, b] = [clip((a * able) / both, low, high), clip((b * unable) / both, low, high)];
  }
  return [a, b];
}

// ---- rounds, and the choice of the structure ----

/** Raise the lower bound of the evidence until a round changes it by at most `tol`, relative to its size. */
function variational(crowd, start, believe, structure, tell) {
  let counts = start, belief, objective, before = null, rounds = 0, converged = false;
  while (rounds < CONSTANTS.maxIter && !converged) {
    belief = believe(counts);
    counts = eStep(crowd, belief.expected());
    objective = counts.logLikelihood - belief.divergence;
    const size = Math.max(Math.abs(before), Math.abs(objective));
    converged = before !== null && Math.abs(objective - before) <= CONSTANTS.tol * size;
    [before, rounds] = [objective, rounds + 1];
    tell(`fitting “${structure}”, round ${rounds}`);
  }
  return { belief, objective, rounds, converged, structure };
}

/** Return a function that fits a structure when it is first asked for. */
function fitsOf(crowd, tell) {
  const votes = voteCounts(crowd, 1), done = new Map();
  const alpha = votes.classes.map((tasks) => Math.max(tasks, CONSTANTS.minClassVotes));
  let strengths = [CONSTANTS.diagonal, CONSTANTS.off];
  const given = strengths, believe = {
    own: (counts) => ownBelief(crowd, alpha, 1, counts),
    kinds: (counts) => ownBelief(crowd, alpha, 2, counts),
    shared: (counts) => sharedBelief(crowd, alpha, (strengths = learnedStrengths(crowd, strengths, counts)), counts),
    "shared, given strengths": (counts) => sharedBelief(crowd, alpha, given, counts),
  };
  const fit = (structure) => {
    if (!done.has(structure)) {
      const start = structure === "kinds" ? voteCounts(crowd, 2) : votes;
      done.set(structure, variational(crowd, start, believe[structure], structure, tell));
    }
    return done.get(structure);
  };
  return { fit, alpha };
}

/** Fit the structure that the labels speak for; return its fit, and the z of `Dependence`. */
function chosenFit(crowd, fit) {
  const { E, M, K } = crowd, fewerThanCells = E < M * K * K, fewerThanClasses = E < M * K && K > 2;
  const z = dependence(crowd, fit(fewerThanClasses ? "shared" : "own").belief);
  const chosen = () => {
    if (fewerThanClasses) return "shared";
    if (!fewerThanCells && fit("kinds").objective > fit("own").objective) return "kinds";
    if (K === 2) return "own";
    if (z > CONSTANTS.maxIndependentZ) return "shared";
    return fewerThanCells && fit("shared, given strengths").objective > fit("own").objective ? "shared" : "own";
  };
  return { ...fit(chosen()), z };
}

/** p: (M, K) probabilities of being right, drawn to the crowd's mean. */
function accuracies({ K }, { right, given }) {
  const { shrinkageCount, priorRight, priorTotal } = CONSTANTS, total = (x) => {
    const all = new Float64Array(K);
    x.forEach((value, pair) => (all[pair % K] += value));
    return all;
  };
  const allGiven = total(given), crowd = total(right).map((x, k) => (x + priorRight) / (allGiven[k] + priorTotal));
  return right.map((x, pair) => (x + shrinkageCount * crowd[pair % K]) / (given[pair] + shrinkageCount));
}

/** Return by how many standard errors workers err together on the same tasks. */
function dependence(crowd, belief) {
  const { N, K, first, row, owner, label } = crowd;
  const z = posteriorOf(crowd, belief.expected()), p = accuracies(crowd, belief.rightAndGiven());
  let excess = 0, squares = 0;
  for (let i = 0; i < N; i++) {
    let T = 0;
    for (let k = 0; k < K; k++) {
      let errors = 0, alone = 0;
      for (let e = first[i]; e < first[i + 1]; e++) {
        const r = row[e], error = (label[r] === k ? 1 : 0) - p[owner[r] * K + k];
        errors += error;
        alone += error * error;
      }
      T += z[i * K + k] * (errors * errors - alone);
    }
    excess += T;
    squares += T * T;
  }
  return excess / Math.max(Math.sqrt(squares), TINY);
}
