"use strict";
/*
 * How sure labels can be, where tasks of one class differ in difficulty: the design effect of BayesDS, step by step as
 * in crowd/difficulty.py, which explains the symbols. States s = (class k, point q), Q points.
 */

const { nodes: NODES, weights: WEIGHTS, minProbability: LOW } = CONSTANTS, Q = NODES.length;

/** Return the design effect under which posteriors z are as sure as the model of difficulty. */
function learnedEffect(crowd, chosen, alpha, z, tell) {
  if (crowd.K > CONSTANTS.maxClasses) return CONSTANTS.usualDesignEffect;
  const p = posteriorOf(crowd, difficultyModel(crowd, fitDifficulty(crowd, chosen.belief.mean(), alpha, tell)));
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
  const p = accuracies(crowd, rightAndGiven(crowd, counts.cells)), spread = CONSTANTS.initialSpread;
  const ability = p.map((x) => normalQuantile(clip(x, LOW, 1 - LOW)) * Math.sqrt(1 + spread * spread));
  return { prior: shares(counts.classes, alpha), errors: errorShares(crowd, counts.cells, crowd.K), ability, spread };
}

function shares(classes, alpha) {
  const all = alpha.map((votes, k) => votes + classes[k]), total = sum(all);
  return all.map((x) => x / total);
}

function errorShares(crowd, cells, S) {
  const { K } = crowd, errors = sharedErrors(crowd, cells, S), total = new Float64Array(K);
  errors.forEach((x, c) => (total[c % K] += x));
  return errors.map((x, c) => x / total[c % K]);
}

/** Pr(right), kept away from 0 and 1, of a worker at a point. */
function rightAt(x) {
  return clip(normalBelow(x), LOW, 1 - LOW);
}

function difficultyModel({ K, R, owner, label }, { prior, errors, ability, spread }) {
  const [right, A, weighted] = [ability.length, R * K, K].map((size) => new Float64Array(size * Q));
  ability.forEach((x, pair) => NODES.forEach((node, q) => (right[pair * Q + q] = rightAt(x + spread * node))));
  prior.forEach((share, k) => WEIGHTS.forEach((weight, q) => (weighted[k * Q + q] = share * weight)));
  for (let r = 0, c = 0; r < R; r++) {
    for (let k = 0; k < K; k++) {
      const error = errors[label[r] * K + k], from = (owner[r] * K + k) * Q;
      for (let q = 0; q < Q; q++, c++) A[c] = label[r] === k ? right[from + q] : error * (1 - right[from + q]);
    }
  }
  return modelOf(A, weighted);
}

/** M-step: the crowd that makes the expected labels more probable. */
function difficultyAfter(crowd, { ability, spread }, { cells, classes }, alpha) {
  const { M, K, diagonal } = crowd, S = K * Q, given = sumByWorker(crowd, cells, S), right = new Float64Array(M * S);
  diagonal.forEach((r, pair) => {
    const k = pair % K;
    if (r >= 0) for (let q = 0; q < Q; q++) right[pair * Q + q] = cells[r * S + k * Q + q];
  });
  const abler = ablerWorkers(ability, spread, withCrowd(right, given, K), withCrowd(given, given, K));
  const tasks = new Float64Array(K);
  classes.forEach((x, s) => (tasks[Math.floor(s / Q)] += x));
  return {
    prior: shares(tasks, alpha), errors: errorShares(crowd, cells, S), ability: abler,
    spread: spreadAnew(abler, spread, right, given),
  };
}

/** Add to every worker some labels a class that are as the crowd's; x is (M, K, Q), right or given. */
function withCrowd(x, given, K) {
  const S = K * Q, total = new Float64Array(S), labels = new Float64Array(K).fill(TINY);
  x.forEach((value, c) => (total[c % S] += value));
  given.forEach((value, c) => (labels[Math.floor((c % S) / Q)] += value));
  return x.map((value, c) => value + (CONSTANTS.shrinkageCount * total[c % S]) / labels[Math.floor((c % S) / Q)]);
}

/** Return slope and expected curvature of the binomial log-likelihood by ability + spread b. */
function scoreAt(x, right, given) {
  const p = rightAt(x), slope = density(x), weight = slope / (p * (1 - p));
  return [(right - given * p) * weight, given * slope * weight];
}

function ablerWorkers(ability, spread, right, given) {
  return ability.map((x, pair) => {
    let score = 0, information = 0;
    for (let q = 0; q < Q; q++) {
      const [slope, curvature] = scoreAt(x + spread * NODES[q], right[pair * Q + q], given[pair * Q + q]);
      score += slope;
      information += curvature;
    }
    return clip(x + score / Math.max(information, TINY), -CONSTANTS.maxAbility, CONSTANTS.maxAbility);
  });
}

function spreadAnew(ability, spread, right, given) {
  let score = 0, information = 0;
  for (let c = 0; c < right.length; c++) {
    const node = NODES[c % Q], x = ability[Math.floor(c / Q)] + spread * node;
    const [slope, curvature] = scoreAt(x, right[c], given[c]);
    score += slope * node;
    information += curvature * node * node;
  }
  return clip(spread + score / Math.max(information, TINY), 0, CONSTANTS.maxSpread);
}

// ---- probabilities ----

/** beta: the power that flattens a posterior of n labels. */
function power(n, effect) {
  return 1 / Math.sqrt(1 + effect * Math.max(n - 1, 0));
}

/** Flatten posteriors of tasks whose labels repeat one another: p ~ z^beta. */
function tempered({ N, K, first }, z, effect) {
  const p = z.map(Math.log);
  for (let i = 0, from = 0; i < N; i++, from += K) {
    const beta = power(first[i + 1] - first[i], effect), top = p[from + largest(p, from, K)];
    let total = 0;
    for (let c = from; c < from + K; c++) total += p[c] = Math.exp((p[c] - top) * beta);
    for (let c = from; c < from + K; c++) p[c] /= total;
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
