"use strict";
/*
 * What the page shows and saves: labels, votes, workers, and what to be warned of; as crowd/tables.py, crowd/workers.py
 * and cli/facts.py. The last part runs the whole work in the background, for the page's messages.
 */

/** Fit, and return all that is shown, as arrays that cost little to hand over. */
function consensus(labels, tell) {
  const crowd = crowdOf(labels), { fit, alpha } = fitsOf(crowd, tell), chosen = chosenFit(crowd, fit);
  const z = posteriorOf(crowd, chosen.belief.expected()), effect = learnedEffect(crowd, chosen, alpha, z, tell);
  const posterior = tempered(crowd, z, effect), predicted = predictedClasses(crowd, posterior, chosen.belief.prior);
  return {
    tasks: labels.tasks, workers: labels.workers, classes: labels.classes, posterior, predicted,
    ...votesOf(crowd, predicted), ...workersOf(crowd, labels, posterior),
    structure: chosen.structure, z: chosen.z, effect, labels: crowd.E,
    rounds: chosen.rounds, converged: chosen.converged,
  };
}

/** The most probable class of each task; ties go to the larger prior, then to the lower code. */
function predictedClasses({ N, K }, posterior, prior) {
  const predicted = new Int32Array(N);
  for (let i = 0; i < N; i++) {
    const p = posterior.subarray(i * K, (i + 1) * K), least = p[largest(p, 0, K)] - CONSTANTS.tie;
    let best = -1;
    for (let k = 0; k < K; k++) if (p[k] >= least && (best < 0 || prior[k] > prior[best])) best = k;
    predicted[i] = best;
  }
  return predicted;
}

/** Of each task: the class that most workers chose (of tied ones the first), its votes, those of the label, and all. */
function votesOf({ N, K, first, row, label }, predicted) {
  const [vote, top, own, given] = Array.from({ length: 4 }, () => new Int32Array(N)), v = new Int32Array(K);
  for (let i = 0; i < N; i++) {
    v.fill(0);
    for (let e = first[i]; e < first[i + 1]; e++) v[label[row[e]]]++;
    vote[i] = largest(v, 0, K);
    [top[i], own[i], given[i]] = [v[vote[i]], v[predicted[i]], first[i + 1] - first[i]];
  }
  return { vote, top, own, given };
}

/** Of each worker: labels, estimated share of right ones, and agreement with others on the same tasks. */
function workersOf({ N, M, K, first }, { task, worker, label }, posterior) {
  const [labelsGiven, right, equal, pairs] = Array.from({ length: 4 }, () => new Float64Array(M));
  const v = new Int32Array(K);
  for (let i = 0; i < N; i++) {
    v.fill(0);
    for (let e = first[i]; e < first[i + 1]; e++) v[label[e]]++;
    for (let e = first[i]; e < first[i + 1]; e++) {
      labelsGiven[worker[e]]++;
      right[worker[e]] += posterior[task[e] * K + label[e]];
      equal[worker[e]] += v[label[e]] - 1;
      pairs[worker[e]] += first[i + 1] - first[i] - 1;
    }
  }
  const share = (x, all) => x.map((value, w) => value / all[w]);
  return { labelsGiven, accuracy: share(right, labelsGiven), agreement: share(equal, pairs) };
}

/** Return what must be read before the labels are used. */
function warningsOf({ predicted, top, own, given }) {
  const N = predicted.length, name = CONSTANTS.method, percent = (n) => `${((100 * n) / N).toFixed(1)}%`;
  let unanimous = 0, behind = 0;
  for (let i = 0; i < N; i++) {
    if (top[i] > own[i] && top[i] === given[i] && given[i] > 1) unanimous++;
    if (top[i] - own[i] >= CONSTANTS.behind) behind++;
  }
  const found = [], advice = "check some of them by hand (“overruled” below lists them) before these labels are used";
  if (unanimous / N > CONSTANTS.manyUnanimous) {
    found.push(`${name} overrules ${unanimous} tasks (${percent(unanimous)}) on which all workers agree: ${advice}`);
  }
  if (behind / N > CONSTANTS.manyBehind) {
    found.push(`on ${behind} tasks (${percent(behind)}) the label of ${name} is ${CONSTANTS.behind} votes or more `
      + `behind the majority's, which the few reliable workers must outweigh: ${advice}`);
  }
  return found;
}

// ---- the file that is saved ----

/** Return the CSV of the consensus, and how many of its cells got an apostrophe; as cli/output.py writes it. */
function savedTable({ tasks, classes, posterior, predicted, given }, raw) {
  let escapedCells = 0;
  const run = /^[=+\-@\t\r]/, number = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/, K = classes.length;
  const safe = (cell) => {
    const guarded = !raw && run.test(cell) && !number.test(cell);
    escapedCells += guarded;
    const shown = guarded ? `'${cell}` : cell;
    return /[",\n\r]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
  };
  const lines = tasks.map((task, i) => {
    const k = predicted[i];
    return `${safe(task)},${safe(classes[k])},${rounded(posterior[i * K + k])},${given[i]}\n`;
  });
  return { text: ["task,label,probability,n_labels\n", ...lines].join(""), escapedCells };
}

/** Write a number as Python does after rounding to six digits: half to even, and 1.0 instead of 1. */
function rounded(x) {
  const scaled = x * 1e6, below = Math.floor(scaled), rest = scaled - below;
  const whole = rest > 0.5 || (rest === 0.5 && below % 2) ? below + 1 : below, text = String(whole / 1e6);
  return text.includes(".") ? text : `${text}.0`;
}

// ---- in the background ----

/** Do the work for one file: return the result, or why there is none, and notes; all in words. */
function work({ bytes, ...options }, tell) {
  const notes = [];
  try {
    const result = consensus(readLabels(textOf(bytes, options.name), options, notes, tell), tell);
    if (!result.converged) {
      const { maxIter, tolWords } = CONSTANTS;
      notes.push(`variational Bayes: iteration limit ${maxIter} reached before the change fell to ${tolWords}`);
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
  addEventListener("message", ({ data }) => {
    postMessage(data.save ? savedTable(data.save, data.raw) : work(data, tell));
  });
}
