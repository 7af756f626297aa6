"use strict";
/*
 * How sure labels can be, where tasks of one class differ in difficulty: the design effect of WorkerTypes, step by step
 * as in crowd/difficulty.py, which explains the symbols. States s = (class k, point q), Q points.
 */

const { nodes: NODES, weights: WEIGHTS, minProbability: LOW, tiny: TINY } = CONSTANTS, Q = NODES.length;

// ---- the normal distribution ----

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

/** The x with Pr(Z < x) = p, 0 < p < 1: steps of Newton, which come to it from the side of zero. */
function normalQuantile(p) {
  if (p > 0.5) return -normalQuantile(1 - p);
  let x = 0;
  for (let step = 0; step < 40; step++) x -= (normalBelow(x) - p) / density(x);
  return x;
}

function clip(x, low, high) {
  return Math.min(Math.max(x, low), high);
}

// ---- the model of difficulty ----

/** Return the design effect under which posteriors z are as sure as the model of difficulty. */
function learnedEffect(crowd, mean, alpha, z, tell) {
  if (crowd.K > CONSTANTS.maxClasses) return CONSTANTS.usualDesignEffect;
  const p = posteriorOf(crowd, difficultyModel(crowd, fitDifficulty(crowd, mean, alpha, tell)));
  const sure = (posterior, effect) => sureOf(crowd, z, tempered(crowd, posterior, effect));
  return equalEffect(sure(p, CONSTANTS.residualDesignEffect), (effect) => sure(z, effect));
}

/** Estimate the prior, the shared errors, the abilities (M, K) and the spread by expectation-maximisation. */
function fitDifficulty(crowd, mean, alpha, tell) {
  let able = difficultyStart(crowd, eStep(crowd, mean), alpha), before = null;
  for (let round = 0; round < CONSTANTS.difficultyRounds; round++) {
    const counts = eStep(crowd, difficultyModel(crowd, able)), found = counts.logLikelihood;
    if (before !== null && Math.abs(found - before) <= CONSTANTS.difficultyTol * Math.abs(before)) break;
    [able, before] = [difficultyAfter(crowd, able, counts, alpha), found];
    tell(`how sure labels can be, round ${round + 1}`);
  }
  return able;
}

function difficultyStart(crowd, counts, alpha) {
  const p = accuracies(crowd, rightAndGiven(crowd, counts.cells, crowd.K)), spread = CONSTANTS.initialSpread;
  const ability = p.map((x) => normalQuantile(clip(x, LOW, 1 - LOW)) * Math.sqrt(1 + spread * spread));
  return { prior: shares(counts.classes, alpha), errors: errorsOf(crowd, counts.cells, crowd.K), ability, spread };
}

/** Ability + spread b, and Pr(right), kept away from 0 and 1, of every worker and class at all points: (M, K, Q). */
function atPoints(ability, spread) {
  const x = new Float64Array(ability.length * Q).map((_, c) => ability[Math.floor(c / Q)] + spread * NODES[c % Q]);
  return { x, p: x.map((point) => clip(normalBelow(point), LOW, 1 - LOW)) };
}

function difficultyModel({ K, R, owner, label }, { prior, errors, ability, spread }) {
  const { p } = atPoints(ability, spread), S = K * Q;
  const A = new Float64Array(R * S).map((_, c) => {
    const r = Math.floor(c / S), k = Math.floor((c % S) / Q), right = p[owner[r] * S + (c % S)];
    return label[r] === k ? right : errors[label[r] * K + k] * (1 - right);
  });
  return modelOf(A, new Float64Array(S).map((_, s) => prior[Math.floor(s / Q)] * WEIGHTS[s % Q]));
}

/** M-step: the crowd that makes the expected labels more probable. */
function difficultyAfter(crowd, { ability, spread }, { cells, classes }, alpha) {
  const { K } = crowd, { right, given } = rightAndGiven(crowd, cells, K * Q);
  const abler = ablerWorkers(ability, spread, withCrowd(right, given, K), withCrowd(given, given, K));
  return {
    prior: shares(added(K, classes, (s) => Math.floor(s / Q)), alpha), errors: errorsOf(crowd, cells, K * Q),
    ability: abler, spread: spreadAnew(abler, spread, right, given),
  };
}

/** Add to every worker some labels a class that are as the crowd's; x is (M, K, Q), right or given. */
function withCrowd(x, given, K) {
  const S = K * Q, total = added(S, x, (c) => c % S), labels = added(K, given, (c) => Math.floor((c % S) / Q));
  const count = (s) => (CONSTANTS.shrinkageCount * total[s]) / (labels[Math.floor(s / Q)] + TINY);
  return x.map((value, c) => value + count(c % S));
}

/** Return slopes and expected curvatures of the binomial log-likelihood by ability + spread b: (M, K, Q). */
function scoresOf(ability, spread, right, given) {
  const { x, p } = atPoints(ability, spread), slope = x.map(density), weight = (c) => slope[c] / (p[c] * (1 - p[c]));
  const score = right.map((labels, c) => (labels - given[c] * p[c]) * weight(c));
  return { score, information: given.map((labels, c) => labels * slope[c] * weight(c)) };
}

function ablerWorkers(ability, spread, right, given) {
  const { score, information } = scoresOf(ability, spread, right, given), { maxAbility } = CONSTANTS;
  const [slope, curvature] = [score, information].map((x) => added(ability.length, x, (c) => Math.floor(c / Q)));
  return ability.map((x, i) => clip(x + slope[i] / Math.max(curvature[i], TINY), -maxAbility, maxAbility));
}

function spreadAnew(ability, spread, right, given) {
  const { score, information } = scoresOf(ability, spread, right, given);
  const slope = sum(score.map((x, c) => x * NODES[c % Q]));
  const curvature = sum(information.map((x, c) => x * NODES[c % Q] ** 2));
  return clip(spread + slope / Math.max(curvature, TINY), 0, CONSTANTS.maxSpread);
}

// ---- probabilities ----

/** Flatten posteriors of tasks whose labels repeat one another: p ~ z^beta. */
function tempered({ N, K, first }, z, effect) {
  const p = new Float64Array(N * K);
  for (let i = 0, from = 0; i < N; i++, from += K) {
    const beta = 1 / Math.sqrt(1 + effect * (first[i + 1] - first[i] - 1));
    for (let c = from; c < from + K; c++) p[c] = beta * Math.log(z[c]);
    softmax(p, from, K);
  }
  return p;
}

/** Sum over tasks of the probability p of the class that z makes largest. */
function sureOf({ N, K }, z, p) {
  let total = 0;
  for (let i = 0, from = 0; i < N; i++, from += K) total += p[from + largest(z, from, K)];
  return total;
}

/** Return which of K numbers is the largest, the first of equal ones. */
function largest(x, from, K) {
  let best = 0;
  for (let k = 1; k < K; k++) if (x[from + k] > x[from + best]) best = k;
  return best;
}

/** Return the effect of the same sum, between two that are tried: sums fall as effects grow. */
function equalEffect(wanted, sureAt) {
  const effects = CONSTANTS.designEffects;
  let low = 0, high = effects.length - 1, above = sureAt(effects[low]), below = sureAt(effects[high]);
  if (wanted >= above) return effects[low];
  if (wanted < below) return effects[high];
  while (high - low > 1) {
    const middle = (low + high) >> 1, found = sureAt(effects[middle]);
    if (found > wanted) [low, above] = [middle, found];
    else [high, below] = [middle, found];
  }
  return effects[high] + ((effects[low] - effects[high]) / (above - below)) * (wanted - below);
}
