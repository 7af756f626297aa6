"use strict";
/*
 * WorkerTypes, the default of `cofactor aggregate`, step by step as in the library: crowd/types.py (the model),
 * crowd/fit.py (the fit) and crowd/dependence.py; copies.js comes before, difficulty.js after. The symbols are
 * explained there. tests/browser/test_aggregate_page.py holds labels and probabilities to Python's.
 *
 *   crowd    N tasks, M workers, K classes; entry e of task i, first[i] <= e < first[i + 1], has the row[e], and counts
 *            share[e]: 1, but for several answers of one worker; E is the sum; whole: the most frequent ones alone;
 *            row r is a pair (owner[r], label[r]) of a worker and a label that occurs
 *   counts   cells (R, S): expected labels of every row and state; classes (S,): expected tasks of every state
 *   model    logA (R, S) and logPrior (S,): logarithms of probabilities, or what is expected of these
 *   belief   rho (T,), q (M, T) and the model that follows from counts
 */

const LOG_FLOOR = Math.log(CONSTANTS.floor);

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

function logBeta(a, b) {
  return logGamma(a) + logGamma(b) - logGamma(a + b);
}

/** Return the part of (N, K) numbers that is of task i. */
function ofTask(x, i, K) {
  return x.subarray(i * K, (i + 1) * K);
}

/** Replace n logarithms by the shares of what they are the logarithms of; return the logarithm of the sum. */
function softmax(x, from, n) {
  const end = from + n;
  let top = -Infinity, total = 0;
  for (let c = from; c < end; c++) top = Math.max(top, x[c]);
  for (let c = from; c < end; c++) total += x[c] = Math.exp(x[c] - top);
  for (let c = from; c < end; c++) x[c] /= total;
  return top + Math.log(total);
}

// ---- sums over tasks ----

function crowdOf(given) {
  const { tasks, workers, classes, task, worker, label, share } = given;
  const N = tasks.length, M = workers.length, K = classes.length;
  const { used: pairs, places: row } = numbered(Int32Array.from(worker, (w, e) => w * K + label[e])), R = pairs.length;
  const first = new Int32Array(N + 1), E = Math.round(sum(share)), whole = mostFrequent(given);
  for (const i of task) first[i + 1]++;
  for (let i = 0; i < N; i++) first[i + 1] += first[i];
  const owner = pairs.map((pair) => Math.floor(pair / K)), labels = pairs.map((pair) => pair % K);
  const crowd = { N, M, K, E, R, first, row, share, owner, label: labels };
  return { ...crowd, whole: whole === given ? crowd : crowdOf(whole) };
}

function modelOf(A, prior) {
  return { logA: A.map((x) => Math.max(Math.log(x), LOG_FLOOR)), logPrior: prior.map(Math.log) };
}

/** Put the posterior of the states in task i into q; return the task's log-likelihood. */
function explain({ row, first, share }, { logA, logPrior }, i, q) {
  const S = q.length;
  q.set(logPrior);
  for (let e = first[i]; e < first[i + 1]; e++) {
    for (let s = 0, c = row[e] * S; s < S; s++, c++) q[s] += share[e] * logA[c];
  }
  return softmax(q, 0, S);
}

/** Return the expected counts of all tasks; `put` writes the posterior of S states in task i into q. */
function countsOf({ N, R, row, first, share }, S, put) {
  const q = new Float64Array(S), cells = new Float64Array(R * S), classes = new Float64Array(S);
  for (let i = 0; i < N; i++) {
    put(i, q);
    for (let s = 0; s < S; s++) classes[s] += q[s];
    for (let e = first[i]; e < first[i + 1]; e++) {
      for (let s = 0, c = row[e] * S; s < S; s++, c++) cells[c] += share[e] * q[s];
    }
  }
  return { cells, classes };
}

/** E-step: the expected counts of all tasks under a model, and its log-likelihood. */
function eStep(crowd, model) {
  let logLikelihood = 0;
  const put = (i, q) => (logLikelihood += explain(crowd, model, i, q));
  return { ...countsOf(crowd, model.logPrior.length, put), logLikelihood };
}

/** Return the (N, K) posterior of the classes, the states of each added up. */
function posteriorOf(crowd, model) {
  const { N, K } = crowd, S = model.logPrior.length, q = new Float64Array(S), z = new Float64Array(N * K);
  for (let i = 0; i < N; i++) {
    explain(crowd, model, i, q);
    for (let s = 0; s < S; s++) z[i * K + Math.floor((s * K) / S)] += q[s];
  }
  return z;
}

/** Return the (N, K) votes, each label counted by the weight of its worker. */
function votesOf({ N, K, first, row, share, owner, label }, weight) {
  const votes = new Float64Array(N * K), of = (e) => share[e] * (weight ? weight(owner[row[e]]) : 1);
  for (let i = 0; i < N; i++) for (let e = first[i]; e < first[i + 1]; e++) votes[i * K + label[row[e]]] += of(e);
  return weight ? votes : votes.map((x) => Math.round(x * 1e9) / 1e9); // thirds add up to one
}

/** Return the counts of the vote shares. */
function voteCounts(crowd) {
  const votes = votesOf(crowd);
  return countsOf(crowd, crowd.K, (i, q) => {
    const v = ofTask(votes, i, crowd.K), all = sum(v);
    v.forEach((count, k) => (q[k] = count / all));
  });
}

/** Add up (R, S) counts over the labels of each worker: (M, S). */
function sumByWorker({ M, owner }, cells, S) {
  return added(M * S, cells, (c) => owner[Math.floor(c / S)] * S + (c % S));
}

/** Return the (M, S) expected numbers of right labels, and of all, by state. */
function rightAndGiven(crowd, cells, S) {
  const { K, label } = crowd, isRight = (c) => label[Math.floor(c / S)] === Math.floor(((c % S) * K) / S);
  const right = sumByWorker(crowd, cells.map((x, c) => (isRight(c) ? x : 0)), S);
  return { right, given: sumByWorker(crowd, cells, S) };
}

/** e: (K, K) shares of each wrong label, from the expected labels of all workers and one more of each. */
function errorsOf({ K, label }, cells, S) {
  const ofCrowd = added(K * K, cells, (c) => label[Math.floor(c / S)] * K + Math.floor(((c % S) * K) / S));
  const errors = ofCrowd.map((x, c) => (c % (K + 1) ? x + 1 : 0)), total = added(K, errors, (c) => c % K);
  return errors.map((x, c) => x / total[c % K]);
}

// ---- types of workers: each returns E (R, K), expected logarithms of labels, and L (M,), the evidence ----

/** Right with probability c ~ Beta(a, b), one for all classes (G = 1) or one for each (G = K); errors of the crowd. */
function rightOrCommonError({ M, K, owner, label }, { right, given, C, logErrors }, G) {
  const { diagonal: a, off: b } = CONSTANTS, column = (w, k) => w * G + (G > 1 ? k : 0);
  const byColumn = (x) => added(M * G, x, (pair) => column(Math.floor(pair / K), pair % K));
  const R = byColumn(right), W = byColumn(given.map((x, pair) => Math.max(x - right[pair], 0)));
  const L = added(M, R.map((x, g) => logBeta(x + a, W[g] + b) - logBeta(a, b)), (g) => Math.floor(g / G));
  const total = R.map((x, g) => digamma(x + W[g] + a + b));
  const logRight = R.map((x, g) => digamma(x + a) - total[g]), logWrong = W.map((x, g) => digamma(x + b) - total[g]);
  const E = C.map((count, c) => {
    const r = Math.floor(c / K), k = c % K, g = column(owner[r], k), error = logErrors[label[r] * K + k];
    if (label[r] === k) return logRight[g];
    L[owner[r]] += count * error;
    return logWrong[g] + error;
  });
  return { E, L };
}

/** A confusion matrix of one's own, each column ~ Dirichlet(a on the diagonal, b elsewhere). */
function ownErrors({ M, K, owner, label }, { given, C }) {
  const { diagonal: a, off: b } = CONSTANTS, total = a + (K - 1) * b, level = given.map((x) => digamma(x + total));
  const L = added(M, given.map((x) => logGamma(total) - logGamma(x + total)), (pair) => Math.floor(pair / K));
  const E = C.map((count, c) => {
    const r = Math.floor(c / K), prior = label[r] === c % K ? a : b;
    L[owner[r]] += logGamma(count + prior) - logGamma(prior);
    return digamma(count + prior) - level[owner[r] * K + (c % K)];
  });
  return { E, L };
}

/** Labels drawn from s_w ~ Dirichlet(gamma, ..., gamma) whatever the class: they move no posterior, so E may be 0. */
function noInformation({ M, R, K, owner }, { C }) {
  const gamma = CONSTANTS.noInformationCount, n = added(R, C, (c) => Math.floor(c / K));
  const L = added(M, n, (r) => owner[r]).map((all) => logGamma(K * gamma) - logGamma(all + K * gamma));
  n.forEach((count, r) => (L[owner[r]] += logGamma(count + gamma) - logGamma(gamma)));
  return { E: new Float64Array(C.length), L };
}

const TYPES = {
  coin: (crowd, counts) => rightOrCommonError(crowd, counts, 1),
  class: (crowd, counts) => rightOrCommonError(crowd, counts, crowd.K),
  own: ownErrors,
  none: noInformation,
}, SHARE_ERRORS = ["coin", "class"];

// ---- rounds ----

/** Return the belief that follows from counts; the types found in one round, `before`, weigh the errors of the next. */
function believe({ alpha, types, crowd }, { cells: C, classes }, before, settle) {
  const { M, K, owner } = crowd, T = types.length, nu = alpha.map((votes, k) => votes + classes[k]);
  const shared = before.q.map((x, c) => (SHARE_ERRORS.includes(types[c % T]) ? x : 0));
  const sharing = added(M, shared, (c) => Math.floor(c / T));
  const errors = errorsOf(crowd, C.map((x, c) => x * sharing[owner[Math.floor(c / K)]]), K);
  const counts = { C, logErrors: errors.map(Math.log), ...rightAndGiven(crowd, C, K) };
  const found = types.map((type) => TYPES[type](crowd, counts));
  const rho = settle ? bestShares(before.rho, found) : sharesAfter(typeProbabilities(before.rho, found), M, T);
  const q = typeProbabilities(rho, found), level = digamma(sum(nu)), logA = C.map((_, c) => {
    const w = owner[Math.floor(c / K)];
    return Math.max(found.reduce((all, { E }, t) => all + q[w * T + t] * E[c], 0), LOG_FLOOR);
  });
  return { rho, q, model: { logA, logPrior: nu.map((tasks) => digamma(tasks) - level) }, ...counts };
}

/** q: (M, T), proportional to rho exp L. */
function typeProbabilities(rho, found) {
  const T = rho.length, M = found[0].L.length, q = new Float64Array(M * T);
  for (let w = 0; w < M; w++) {
    found.forEach(({ L }, t) => (q[w * T + t] = L[w] + Math.log(rho[t])));
    softmax(q, w * T, T);
  }
  return q;
}

function sharesAfter(q, M, T) {
  return added(T, q, (c) => c % T).map((workers) => (workers + 1) / (M + T));
}

/** Return the shares of the highest bound by Newton's damped steps; see crowd/shares.py. */
function bestShares(start, found) {
  const T = start.length, likelihood = typeProbabilities(new Float64Array(T).fill(1 / T), found);
  let rho = start, decrement = Infinity;
  for (let n = 0; n < CONSTANTS.shareSteps && decrement > CONSTANTS.sharesSettled; n++) {
    const { slope, curvature } = slopeOfShares(rho, likelihood);
    const step = solved(curvature.map((row, t) => [...row, slope[t]]));
    decrement = Math.sqrt(Math.max(sum(step.map((x, t) => x * slope[t])), 0));
    rho = rho.map((share, t) => share + step[t] / (1 + decrement));
  }
  const all = sum(rho);
  return rho.map((share) => share / all);
}

function slopeOfShares(rho, likelihood) {
  const T = rho.length, M = likelihood.length / T, slope = rho.map((share) => 1 / share - (M + T));
  const curvature = range(T).map((t) => range(T).map((u) => (t === u ? rho[t] ** -2 : 0)));
  for (let w = 0; w < M; w++) {
    const of = ofTask(likelihood, w, T), total = sum(of.map((x, t) => x * rho[t])), relative = of.map((x) => x / total);
    relative.forEach((x, t) => {
      slope[t] += x;
      relative.forEach((y, u) => (curvature[t][u] += x * y));
    });
  }
  return { slope, curvature };
}

/** Solve positive definite equations by Gauss and Jordan; of each, the row of the matrix and the right side. */
function solved(rows) {
  for (let t = 0; t < rows.length; t++) {
    rows[t] = rows[t].map((x) => x / rows[t][t]);
    rows = rows.map((row, u) => (u === t ? row : row.map((x, c) => x - row[t] * rows[t][c])));
  }
  return rows.map((row) => row.at(-1));
}

/** Run rounds until one moves the expected labels by at most `tol`, on average over the labels. */
function iterate(fit, said, tell) {
  const { crowd, types, votes } = fit, T = types.length, even = (n) => new Float64Array(n).fill(1 / T);
  let belief = { rho: even(T), q: even(crowd.M * T) }, counts = votes, rounds = 0, converged = false;
  while (rounds < CONSTANTS.maxIter && !converged) {
    belief = believe(fit, counts, belief, rounds >= CONSTANTS.roundsOfOneStep);
    const after = eStep(crowd, belief.model), moved = sum(after.cells.map((x, c) => Math.abs(x - counts.cells[c])));
    [counts, rounds, converged] = [after, rounds + 1, moved / crowd.E <= CONSTANTS.tol];
    tell(`${said}, round ${rounds}`);
  }
  return { belief, counts, rounds, converged };
}

function shares(classes, votes) {
  const tasks = classes.map((x, k) => x + votes[k]), all = sum(tasks);
  return tasks.map((x) => x / all);
}

/** Return the Dawid-Skene model of expected confusion matrices, with the prior counts. */
function expectedModel(crowd, { cells, classes }, votes) {
  const { K, owner, label } = crowd, { diagonal: a, off: b } = CONSTANTS, seen = sumByWorker(crowd, cells, K);
  const A = cells.map((count, c) => {
    const r = Math.floor(c / K), k = c % K;
    return (count + (label[r] === k ? a : b)) / (seen[owner[r] * K + k] + a + (K - 1) * b);
  });
  const prior = shares(classes, votes.classes);
  return { prior, ...modelOf(A, prior) };
}

// ---- the fit ----

/** Fit a crowd without copies: posteriors z (N, K), the effect that flattens them, and who says nothing (M,). */
function workerTypes(crowd, tell, flatten = true) {
  const { E, N, M, K } = crowd, votes = voteCounts(crowd), types = ["coin", "class", "none"];
  if (E <= N) return nothingKnown(crowd);
  const fit = { crowd, types, votes, alpha: votes.classes.map((tasks) => Math.max(tasks, CONSTANTS.minClassVotes)) };
  const own = K >= 3 && E >= M * K && iterate({ ...fit, types: ["own"] }, "looking for errors made together", tell);
  if (own && dependence(crowd, own.belief) <= CONSTANTS.maxIndependentZ) types.splice(2, 0, "own");
  const { belief, counts, ...how } = iterate(fit, "fitting", tell), z = posteriorOf(crowd, belief.model);
  const mean = expectedModel(crowd, counts, votes), learned = () => learnedEffect(crowd, mean, fit.alpha, z, tell);
  const none = belief.q.filter((_, c) => types[c % types.length] === "none");
  return { ...how, types, z, model: belief.model, effect: flatten ? learned() : 0, prior: mean.prior, none };
}

/** Return what is believed where no task has two labels: all is the prior's. */
function nothingKnown(crowd) {
  const { M, K, R, label } = crowd, right = CONSTANTS.oneLabelAccuracy, prior = new Float64Array(K).fill(1 / K);
  const probability = (r, k) => (label[r] === k ? right : (1 - right) / (K - 1));
  const A = Float64Array.from({ length: R * K }, (_, c) => probability(Math.floor(c / K), c % K));
  const z = posteriorOf(crowd, modelOf(A, prior)), none = new Float64Array(M);
  return { rounds: 0, converged: true, types: [], z, effect: 0, prior, none };
}

/** p: (M, K) probabilities of being right, drawn to the crowd's mean. */
function accuracies({ K }, { right, given }) {
  const { shrinkageCount, priorRight, priorTotal } = CONSTANTS, total = (x) => added(K, x, (pair) => pair % K);
  const all = total(given), crowd = total(right).map((x, k) => (x + priorRight) / (all[k] + priorTotal));
  return right.map((x, pair) => (x + shrinkageCount * crowd[pair % K]) / (given[pair] + shrinkageCount));
}

/** Return by how many standard errors workers err together on the same tasks. */
function dependence(crowd, belief) {
  const { N, K, first, row, owner, label } = crowd.whole;
  const z = posteriorOf(crowd, belief.model), p = accuracies(crowd, belief);
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
  return excess / Math.max(Math.sqrt(squares), CONSTANTS.tiny);
}
