"use strict";
/*
 * Workers who are one: copies are found before the fit, and count as one worker; step by step as in crowd/copies.py,
 * which has the rule. `crowdOf` of types.js makes the crowd.
 */

/** Return, of every worker, the first worker of the group of copies; of most, the worker. */
function ownersOf({ M, K, first }, votes, { task, worker, label }) {
  const owner = Int32Array.from(range(M)), mine = grouped(worker.keys(), (e) => worker[e]);
  for (let u = 0; u < M; u++) {
    const entries = mine.get(u) ?? [], met = new Map();
    for (const e of entries.length < CONSTANTS.minCommon ? [] : entries) {
      const i = task[e], end = first[i + 1], n = end - first[i];
      for (let x = e + 1; x < end; x++) { // entries of a task are in the order of workers
        const v = worker[x], pair = met.get(v) ?? { common: 0, unlike: 0, others: 0, differ: 0 };
        met.set(v, pair);
        pair.common++;
        pair.unlike += label[x] !== label[e];
        pair.others += n - 2;
        pair.differ += n - votes[i * K + label[e]];
      }
    }
    for (const [v, pair] of met) if (areCopies(M, pair)) join(owner, u, v);
  }
  return owner;
}

/** Whether two workers with so many common tasks and unlike labels are one, beside so many others, and other labels. */
function areCopies(M, { common, unlike, others, differ }) {
  const { minCommon, falseAlarms } = CONSTANTS, d = (differ + 0.5) / (others + 1);
  const alike = common >= minCommon && unlike === 0 && others > 0;
  return alike && -common * Math.log(1 - d) > Math.log((M * (M - 1)) / 2 / falseAlarms);
}

function join(owner, u, v) {
  const first = Math.min(owner[u], owner[v]), second = Math.max(owner[u], owner[v]);
  if (first < second) owner.forEach((x, w) => x === second && (owner[w] = first));
}

/** Keep, of several answers of one worker to one task, the most frequent; of tied ones the first class. */
function mostFrequent(labels) {
  return labels.share.every((part) => part === 1) ? labels : oneEach(labels);
}

/** Keep one label of each worker and task, that of the greatest share, of equal ones the first. */
function oneEach({ task, worker, label, share, ...names }) {
  const best = new Map(); // of the task at hand
  const kept = task.flatMap((i, e) => {
    if (e && i !== task[e - 1]) best.clear();
    if (!(share[e] <= share[best.get(worker[e])])) best.set(worker[e], e);
    return i === task[e + 1] ? [] : [...best.values()].sort((a, b) => a - b);
  });
  const taken = (values) => kept.map((e) => values[e]);
  return { ...names, task: taken(task), worker: taken(worker), label: taken(label), share: kept.map(() => 1) };
}

/** Give the labels of copies to their owner, one label a task; `of` numbers the owners anew. */
function withoutCopies(labels, owner) {
  const { used: owners, places: of } = numbered(owner), merged = { ...labels, worker: labels.worker.map((w) => of[w]) };
  return { of, ...(owners.length < owner.length ? oneEach(merged) : labels), workers: owners };
}
