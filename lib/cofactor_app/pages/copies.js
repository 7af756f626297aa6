"use strict";
/*
 * Workers who are one: copies are found before the fit, and count as one worker; step by step as in crowd/copies.py,
 * which has the rule. `crowdOf` of types.js makes the crowd.
 */

/** Return, of every worker, the first worker of the group of copies; of most, the worker. */
function ownersOf({ M, K, first }, votes, { task, worker, label }) {
  const owner = Int32Array.from({ length: M }, (_, w) => w), mine = Array.from({ length: M }, () => []);
  const tally = ["common", "unlike", "others", "differ"].map(() => new Float64Array(M));
  worker.forEach((w, e) => mine[w].push(e));
  for (let u = 0; u < M; u++) {
    const met = new Set(), [common, unlike, others, differ] = tally;
    for (const e of mine[u].length < CONSTANTS.minCommon ? [] : mine[u]) {
      const i = task[e], end = first[i + 1], n = end - first[i];
      for (let x = e + 1; x < end; x++) { // entries of a task are in the order of workers
        const v = worker[x];
        met.add(v);
        common[v]++;
        unlike[v] += label[x] !== label[e];
        others[v] += n - 2;
        differ[v] += n - votes[i * K + label[e]];
      }
    }
    for (const v of met) {
      if (areCopies(M, ...tally.map((x) => x[v]))) join(owner, u, v);
      for (const x of tally) x[v] = 0;
    }
  }
  return owner;
}

/** Whether two workers with so many common tasks and unlike labels are one, beside so many others, and other labels. */
function areCopies(M, common, unlike, others, differ) {
  const { minCommon, falseAlarms } = CONSTANTS, d = (differ + 0.5) / (others + 1);
  const alike = common >= minCommon && unlike === 0 && others > 0;
  return alike && -common * Math.log(1 - d) > Math.log((M * (M - 1)) / 2 / falseAlarms);
}

function join(owner, u, v) {
  const first = Math.min(owner[u], owner[v]), second = Math.max(owner[u], owner[v]);
  if (first < second) owner.forEach((x, w) => x === second && (owner[w] = first));
}

/** Give the labels of copies to their owner, one label a task (that of the first); `of` numbers the owners anew. */
function withoutCopies({ tasks, classes, task, worker, label }, owner) {
  const owners = [...new Set(owner)].sort((u, v) => u - v), place = new Map(owners.map((u, m) => [u, m]));
  const of = owner.map((u) => place.get(u)), last = new Int32Array(owners.length).fill(-1), kept = [];
  task.forEach((i, e) => {
    if (last[of[worker[e]]] !== i) kept.push(e);
    last[of[worker[e]]] = i;
  });
  const taken = (values) => kept.map((e) => values[e]);
  const merged = { task: taken(task), worker: taken(worker).map((w) => of[w]), label: taken(label) };
  return { of, tasks, workers: owners, classes, ...merged };
}
