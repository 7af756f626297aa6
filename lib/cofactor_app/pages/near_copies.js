"use strict";
/*
 * Workers who answer nearly alike: copies with slips, who are named and not merged; step by step as in
 * crowd/near_copies.py, which has the rule and its symbols. The pair of u and v is at u M + v, and at v M + u.
 */

/** Return pairs of workers who are not counted as one, as [u, v, equal labels, common tasks]; none of a large crowd. */
function nearCopies(labels, owner, tell) {
  const { leastWorkers, mostWorkers, minCommon, left, falseAlarms } = CONSTANTS, M = labels.workers.length;
  if (M < leastWorkers || M > mostWorkers) return [];
  const { n, s } = commonTasks(labels, M), once = (pair) => Math.floor(pair / M) < pair % M;
  const several = range(M * M).filter((pair) => n[pair] >= minCommon && once(pair));
  const mayBe = suspects(M, n, s, several).filter((pair) => owner[Math.floor(pair / M)] !== owner[pair % M]);
  if (!mayBe.length) return [];
  const one = posteriorOfVoices(labels, mayBe.map((pair) => [Math.floor(pair / M), pair % M]), tell);
  const p = chanceOfEqual(labels, M, one, several);
  const misled = Math.max(median(several.map((pair) => s[pair] / n[pair] - p[pair])), 0);
  const found = mayBe.filter((pair) => {
    const chance = clip(p[pair] + misled, 0, 1 - 1e-9), least = left * (1 - chance) >= 1 - s[pair] / n[pair];
    return least && upperBinomial(s[pair], n[pair], chance) < falseAlarms / several.length;
  });
  return found.map((pair) => [Math.floor(pair / M), pair % M, s[pair], n[pair]]);
}

/** Call with two entries of each task, of a lower worker first. */
function eachPair({ task }, action) {
  for (let e = 0; e < task.length; e++) for (let x = e + 1; task[x] === task[e]; x++) action(e, x);
}

function commonTasks(labels, M) {
  const n = new Float64Array(M * M), s = new Float64Array(M * M), { worker, label } = labels;
  eachPair(labels, (e, x) => {
    for (const pair of [worker[e] * M + worker[x], worker[x] * M + worker[e]]) {
      n[pair]++;
      s[pair] += label[e] === label[x];
    }
  });
  return { n, s };
}

/** Return the pairs that agree more often than others agree with them. */
function suspects(M, n, s, several) {
  const [equal, all] = [s, n].map((x) => added(M, x, (pair) => pair % M));
  const agree = equal.map((y, w) => (y + 1) / (all[w] + 2));
  return several.filter((pair) => {
    const usual = Math.min(Math.max(agree[Math.floor(pair / M)], agree[pair % M]), 1 - 1e-9);
    const alike = s[pair] >= CONSTANTS.leastAgreement * n[pair];
    return alike && upperBinomial(s[pair], n[pair], usual) < CONSTANTS.suspects / several.length;
  });
}

/** Pr(X >= s), X of n tries with chance p; 1 where s is no more than is expected. */
function upperBinomial(s, n, p) {
  if (s <= n * p) return 1;
  const choices = logGamma(n + 1) - logGamma(s + 1) - logGamma(n - s + 1);
  let term = Math.exp(choices + s * Math.log(p) + (n - s) * Math.log(1 - p)), total = term;
  for (let j = s; j < n; j++) total += term *= ((n - j) / (j + 1)) * (p / (1 - p));
  return total;
}

/** Return the posterior of a fit in which workers of these pairs are one voice. */
function posteriorOfVoices(labels, pairs, tell) {
  const M = labels.workers.length, voice = Int32Array.from(range(M));
  for (const [u, v] of pairs) join(voice, u, v);
  const one = spoken(labels, voice), crowd = crowdOf(one);
  return workerTypes(crowdOf(withoutCopies(one, ownersOf(crowd, votesOf(crowd), one))), tell, false).z;
}

/** Return labels in which each voice says what most of its workers say; of tied labels that of the first of them. */
function spoken(labels, voice) {
  const { used: voices, places } = numbered(voice), worker = labels.worker.map((w) => places[w]), said = new Map();
  const K = labels.classes.length;
  const key = (e) => (labels.task[e] * voices.length + worker[e]) * K + labels.label[e];
  labels.task.forEach((_, e) => said.set(key(e), (said.get(key(e)) ?? 0) + 1));
  const one = oneEach({ ...labels, workers: voices, worker, share: labels.task.map((_, e) => said.get(key(e))) });
  const order = byTask(one.task, one.worker);
  const taken = (values) => order.map((e) => values[e]);
  return { ...one, task: taken(one.task), worker: taken(one.worker), label: taken(one.label) };
}

/** p: the chance of equal labels, were the two workers independent, of several pairs. */
function chanceOfEqual(labels, M, r, several) {
  const { task, worker, label, classes } = labels, K = classes.length, p = new Float64Array(M * M);
  const A = Float64Array.from({ length: M * K * K }, (_, c) => 0.5 / K + (c % K === Math.floor(c / K) % K));
  task.forEach((i, e) => {
    for (let k = 0; k < K; k++) A[(worker[e] * K + label[e]) * K + k] += r[i * K + k];
  });
  const column = (c) => Math.floor(c / (K * K)) * K + (c % K), totals = added(M * K, A, column);
  A.forEach((x, c) => (A[c] = x / totals[column(c)]));
  const n = new Float64Array(M * M);
  for (let k = 0; k < K; k++) {
    const common = new Float64Array(M * M);
    eachPair(labels, (e, x) => (common[worker[e] * M + worker[x]] += r[task[e] * K + k]));
    for (const pair of several) {
      let equal = 0;
      for (let l = 0; l < K; l++) equal += A[(Math.floor(pair / M) * K + l) * K + k] * A[((pair % M) * K + l) * K + k];
      p[pair] += common[pair] * equal;
      n[pair] += common[pair];
    }
  }
  return p.map((x, pair) => x / n[pair]);
}

function median(x) {
  const sorted = Float64Array.from(x).sort(), half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
