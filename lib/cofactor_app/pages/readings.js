"use strict";
/*
 * Other ways to read the same labels, and who is reliable where they agree; step by step as in crowd/readings.py and
 * crowd/groups.py, which have the rules, and in words as in cli/facts.py and crowd/workers.py.
 */

/** Return the share of tasks whose label hangs on the reading, with a line on it and a warning; null without a fit. */
function readingsOf(whole, owner, fit, tell) {
  const { found, crowd, merged } = fit, K = whole.classes.length;
  if (!found.types.length) return null;
  const votes = votesOf(crowdOf(whole)), group = closestGroup(withoutCopies(whole, owner));
  const others = [posteriorOfOneEach(whole, owner, found, crowd, merged)];
  if (group.length) others.push(posteriorOfVoices(whole, group.slice(1).map((w) => [group[0], w]), tell));
  const labels = others.map((z) => whole.tasks.map((_, i) => largest(z, i * K, K)));
  const differ = whole.tasks.map((_, i) => {
    const mine = ofTask(votes, i, K), top = Math.max(...mine), all = sum(mine);
    return labels.some((of) => of[i] !== labels[0][i] || (top - mine[of[i]]) / all > CONSTANTS.sameShare);
  });
  const n = differ.filter(Boolean).length, share = n / differ.length, together = group.map((w) => whole.workers[w]);
  const names = ["vote", "model", ...(group.length ? ["one voice"] : [])].join(", ");
  const voice = group.length ? `; one voice counts ${listing(together)} as one worker` : "";
  const matters = labels.at(-1).some((k, i) => k !== labels[0][i]);
  const doubt = matters ? `, and whether ${listing(together)} are one voice` : "";
  const line = `readings: ${percent(share)} of the tasks (${n}) hang on the reading: ${names}${voice}`;
  return { share, line, warning: share < CONSTANTS.manyDiffer ? "" : twoWays(share, doubt) };
}

/** Say what must be read before labels of several readings are used. */
function twoWays(share, doubt) {
  return `these labels allow more than one reading: on ${percent(share, 0)} of the tasks the label hangs on whether `
    + `most workers are right or those whom the model believes${doubt}; ten checked tasks would tell which: `
    + "`cofactor next --checks 10`, then --gold";
}

/** Return the (N, K) posterior of the fit, of several answers of one worker to a task the most frequent alone. */
function posteriorOfOneEach(whole, owner, { z, model }, crowd, merged) {
  if (merged.share.every((part) => part === 1)) return z;
  const one = crowdOf(withoutCopies(whole, owner)), pair = (of, r) => of.owner[r] * of.K + of.label[r];
  const rows = new Map(range(crowd.R).map((r) => [pair(crowd, r), r]));
  const row = one.row.map((r) => rows.get(pair(one, r)) ?? -1);
  return posteriorOf({ ...one, row, share: row.map((r) => Number(r >= 0)) }, model);
}

/** Return the workers of the group whose agreement inside is most above that with the others; as `whole` has them. */
function closestGroup(labels) {
  const { leastCrowd, mostCrowd } = CONSTANTS, M = labels.workers.length;
  if (M < leastCrowd || M > mostCrowd) return [];
  const a = agreementOf(labels, M);
  const found = linkedGroups(a, M).filter((group) => group.length <= M / 2).map((group) => [gapOf(a, M, group), group]);
  const best = Math.max(...found.map(([gap]) => gap)), [, group] = found.find(([gap]) => gap >= best - 1e-9) ?? [0, []];
  return group.map((w) => labels.workers[w]).sort((u, v) => u - v);
}

/** a: (M, M) shares of equal labels, drawn to the mean of all pairs. */
function agreementOf(labels, M) {
  const { n, s } = commonTasks(labels, M), { usualTasks: C } = CONSTANTS, m = sum(s) / Math.max(sum(n), 1);
  return n.map((common, pair) => (s[pair] + C * m) / (common + C));
}

/** Return every group that average linkage makes of (M, M) similarities, the closest first. */
function linkedGroups(a, M) {
  const left = a.map((x, pair) => (Math.floor(pair / M) === pair % M ? -Infinity : x)), made = [];
  const groups = range(M).map((w) => [w]);
  while (made.length < M - 1) {
    const pair = largest(left, 0, M * M), [u, v] = [Math.floor(pair / M), pair % M].sort((x, y) => x - y);
    const [nu, nv] = [groups[u].length, groups[v].length];
    for (let w = 0; w < M; w++) {
      left[u * M + w] = left[w * M + u] = (nu * left[u * M + w] + nv * left[v * M + w]) / (nu + nv);
    }
    left[u * M + u] = -Infinity;
    for (let w = 0; w < M; w++) left[v * M + w] = left[w * M + v] = -Infinity;
    made.push((groups[u] = [...groups[u], ...groups[v]]));
  }
  return made;
}

/** Mean agreement inside of a group, less that of its members with the others. */
function gapOf(a, M, group) {
  const inside = new Set(group);
  const mean = (own) => {
    const others = range(M).filter((w) => inside.has(w) === own);
    const found = group.flatMap((u) => others.filter((w) => w !== u).map((w) => a[u * M + w]));
    return sum(found) / found.length;
  };
  return mean(true) - mean(false);
}

/** Return why these labels cannot carry a verdict on anybody; empty where they can. */
function whyNotJudged({ workers, types, sure, readings, order }) {
  const { minJudgedCrowd, manyDiffer, allSure, mayBeGrades } = CONSTANTS, mean = sum(sure) / sure.length;
  if (workers.length < minJudgedCrowd) return "with two workers, nothing tells which of them is right";
  if (!types.length) return "no task has two labels";
  const hangs = `on ${percent(readings.share, 0)} of the tasks the label hangs on who is believed`;
  if (readings.share >= manyDiffer) return hangs;
  const shared = `the labels agree almost everywhere (mean probability ${percent(mean)}): shared errors cannot be seen`;
  return mean > allSure ? shared : order ? mayBeGrades : "";
}

/** Return lines on the most and least reliable workers, or why nobody is judged. */
function reliability(result) {
  const why = whyNotJudged(result), { workers, labelsGiven, accuracy } = result, { fewPerWorker, ranked } = CONSTANTS;
  if (why) return [`how reliable each worker is cannot be told from these labels: ${why}`];
  const judged = range(workers.length).filter((w) => labelsGiven[w] >= fewPerWorker);
  const ranking = judged.sort((u, v) => accuracy[v] - accuracy[u] || u - v);
  const shown = Math.min(ranked, (judged.length + 1) >> 1), none = `none gave ${fewPerWorker} labels`;
  const told = (w) => `${workers[w]} ${percent(accuracy[w], 0)} (${labelsGiven[w]} labels)`;
  return [["most", ranking.slice(0, shown)], ["least", ranking.slice(ranking.length - shown).reverse()]].map(
    ([title, chosen]) => `${title} reliable workers, estimated accuracy: ${chosen.map(told).join(", ") || none}`,
  );
}
