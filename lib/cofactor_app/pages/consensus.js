"use strict";
/*
 * What the page shows and saves: labels, votes, workers, and what to be warned of; as crowd/tables.py, crowd/workers.py
 * and cli/facts.py. The last part runs the whole work in the background, for the page's messages.
 */

/** Fit, and return all that is shown, as arrays that cost little to hand over. */
function consensus(labels, tell) {
  const all = crowdOf(labels), votes = votesOf(all);
  const whole = mostFrequent(labels), owner = ownersOf(all.whole, votesOf(all.whole), whole);
  const merged = withoutCopies(labels, owner), crowd = crowdOf(merged), found = workerTypes(crowd, tell);
  const { types, effect, rounds, converged } = found;
  const posterior = tempered(crowd, found.z, effect), predicted = predictedClasses(crowd, posterior, found.prior);
  const none = Array.from(merged.of, (w) => found.none[w] > CONSTANTS.minNone && crowd.M >= CONSTANTS.minJudgedCrowd);
  const result = {
    tasks: labels.tasks, workers: labels.workers, classes: labels.classes, labels: labels.task.length,
    posterior, predicted, owner, near: types.length ? nearCopies(whole, owner, tell) : [],
    ...comparedWithVotes(all, votes, predicted), ...workersOf(all, labels, posterior),
    types, effect, rounds, converged, none, disputed: disputedTasks(crowd, found.none, predicted),
    sure: Float64Array.from(predicted, (k, i) => posterior[i * all.K + k]),
    order: suggestedOrder(labels.classes, votes),
    readings: readingsOf(whole, owner, { found, crowd, merged }, tell), tied: tiedShare(all, votes),
  };
  return { ...result, found: factsOf(result), remarks: remarksOf(result) };
}

/** Tell of every task whether its label is another than most votes, each counted as far as its worker is informed. */
function disputedTasks(crowd, none, predicted) {
  const { K } = crowd, informed = votesOf(crowd, (w) => 1 - none[w]), plain = votesOf(crowd);
  return Uint8Array.from(predicted, (label, i) => {
    const few = sum(ofTask(informed, i, K)) <= CONSTANTS.fewVotes, votes = ofTask(few ? plain : informed, i, K);
    return (Math.max(...votes) - votes[label]) / sum(votes) > CONSTANTS.sameShare;
  });
}

/** Share of the tasks on which the vote is tied. */
function tiedShare({ N, K }, votes) {
  const most = (v) => v.filter((x) => x === Math.max(...v)).length;
  return range(N).filter((i) => most(ofTask(votes, i, K)) > 1).length / N;
}

/** The most probable class of each task; ties go to the larger prior, then to the lower code. */
function predictedClasses({ N, K }, posterior, prior) {
  return Int32Array.from({ length: N }, (_, i) => {
    const p = ofTask(posterior, i, K), least = Math.max(...p) - CONSTANTS.tie;
    return range(K).filter((k) => p[k] >= least).reduce((best, k) => (prior[k] > prior[best] ? k : best));
  });
}

/** Of each task: the class that most workers chose (of tied ones the first), its votes, those of the label, and all. */
function comparedWithVotes({ K, first }, votes, predicted) {
  const vote = predicted.map((_, i) => largest(votes, i * K, K));
  const of = (classes) => Float64Array.from(classes, (k, i) => votes[i * K + k]);
  const cast = added(predicted.length, votes, (c) => Math.floor(c / K));
  return { vote, top: of(vote), own: of(predicted), cast, given: predicted.map((_, i) => first[i + 1] - first[i]) };
}

/** Of each worker: labels, estimated share of right ones, and agreement with others on the same tasks. */
function workersOf({ M, K, whole }, labels, posterior) {
  const total = ({ task, worker, label, share }, of) =>
    added(M, task.map((i, e) => of(i * K + label[e], i, share[e])), (e) => worker[e]);
  const ratio = (x, all) => x.map((value, w) => value / all[w]), votes = votesOf(whole), { first } = whole;
  const one = mostFrequent(labels), others = total(one, (_, i) => first[i + 1] - first[i] - 1);
  const agreement = ratio(total(one, (cell) => votes[cell] - 1), others);
  const right = total(labels, (cell, _, share) => share * posterior[cell]), asked = total(labels, (_, i, part) => part);
  return { labelsGiven: total(labels, () => 1), accuracy: ratio(right, asked), agreement };
}

/** Return what was found, in lines. */
function factsOf(result) {
  const { workers, owner, near, none, labelsGiven, sure, top, own, disputed, types, tied, readings, order } = result;
  const share = (n) => `${percent(n / sure.length)} of the tasks (${n})`, { method, sure: least } = CONSTANTS;
  const silent = workers.filter((_, w) => none[w]), given = sum(labelsGiven.filter((_, w) => none[w])) / result.labels;
  const groups = grouped(workers.keys(), (w) => owner[w]).values();
  const several = [...groups].filter((group) => group.length > 1);
  const copies = several.map((group) => group.map((w) => workers[w]).join(" = "));
  const nearly = near.map(([u, v, s, n]) => `${workers[u]} and ${workers[v]} (${s} of ${n} labels)`);
  const lines = [
    order && gradesLine(order),
    types.length ? "" : CONSTANTS.nothingKnown,
    silent.length && `workers with ${CONSTANTS.noInformation}: ${silent.length} of ${none.length} `
      + `(${percent(given)} of the labels): ${listing(silent)}`,
    copies.length && `workers who count as one, since all labels they have in common are the same: ${listing(copies)}`,
    nearly.length && "workers who answer nearly alike, more than two of their skill would (not merged): "
      + listing(nearly),
    `labels that differ from the vote of the workers with information: ${share(sum(disputed))}, marked as disputed: `
      + "look at these first",
    `labels that differ from the majority vote: ${share(top.filter((votes, i) => own[i] < votes).length)}`,
    tied && `tied votes: ${percent(tied)} of the tasks; the label of any of the tied classes agrees with these`,
    readings?.line,
    ...reliability(result),
    `labels of a probability below ${least}: ${share(sure.filter((p) => p < least).length)}`,
    `${method}: ${result.converged ? "converged" : "NOT CONVERGED"} after ${result.rounds} rounds`,
  ];
  return lines.filter(Boolean);
}

/** Return a remark on each worker: who says nothing beside the others, who are one, and who answer nearly alike. */
function remarksOf({ workers, owner, near, none }) {
  const groups = grouped(workers.keys(), (w) => owner[w]);
  const nearly = (w) => near.filter(([u, v]) => u === w || v === w).map(([u, v, s, n]) => (
    `answers nearly as ${workers[u === w ? v : u]}: ${s} of ${n} labels are the same`
  ));
  return workers.map((_, w) => {
    const others = groups.get(owner[w]).filter((other) => other !== w).map((other) => workers[other]);
    const one = `counts as one with ${listing(others)}`;
    return [none[w] && CONSTANTS.noInformation, others.length && one, ...nearly(w)].filter(Boolean).join("; ");
  });
}

/** Return what must be read before the labels are used. */
function warningsOf({ top, own, cast, readings }) {
  const name = CONSTANTS.method, behind = top.map((votes, i) => votes - own[i]), share = (n) => n / behind.length;
  const unanimous = behind.filter((by, i) => by > 0 && top[i] === cast[i] && cast[i] > 1).length;
  const far = behind.filter((by) => by >= CONSTANTS.behind).length;
  const said = (n) => `${n} tasks (${percent(share(n))})`, { manyUnanimous, manyBehind, behind: votes } = CONSTANTS;
  const advice = "check some of them by hand (“overruled” below lists them) before these labels are used";
  return [
    readings?.warning,
    share(unanimous) > manyUnanimous && `${name} overrules ${said(unanimous)} on which all workers agree: ${advice}`,
    share(far) > manyBehind && `on ${said(far)} the label of ${name} is ${votes} votes or more behind the majority's, `
      + `which the few reliable workers must outweigh: ${advice}`,
  ].filter(Boolean);
}

// ---- in the background ----

/** Do the work for one file: return the result, or why there is none, and notes; all in words. */
function work({ bytes, ...options }, tell) {
  const notes = [];
  try {
    const result = consensus(readLabels(textOf(bytes, options.name, options.encoding), options, notes, tell), tell);
    if (!result.converged) {
      const { maxIter, tolWords } = CONSTANTS;
      notes.push(`worker types: iteration limit ${maxIter} reached before the change fell to ${tolWords}`);
    }
    return { result, notes, warnings: warningsOf(result) };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message, notes };
    if (!(error instanceof RangeError)) throw error;
    return { refused: `${options.name} is too large for a browser: use cofactor aggregate`, notes };
  }
}

if (typeof WorkerGlobalScope !== "undefined") {
  let told = 0;
  const tell = (progress) => {
    if (Date.now() - told < 100) return;
    told = Date.now();
    postMessage({ progress });
  };
  addEventListener("message", ({ data }) => postMessage(work(data, tell)));
}
