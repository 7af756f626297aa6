"use strict";
/*
 * What is seen of the page: files in, tables out. The work itself is done in the background (consensus.js), so that the
 * page stays alive. Data is shown as text only, never as HTML.
 */

const ROWS = 20; // of a table, before more are asked for
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/; // begins what a spreadsheet would run
const SETTINGS = "(under “Settings”)";
const at = (id) => document.getElementById(id);
const source = URL.createObjectURL(new Blob([at("background").textContent], { type: "text/javascript" }));
let worker = null, given = null, result = null; // what is at work, what it was given, what it found

// ---- words ----

/** Say in words of this page what a message of the library says in arguments; as `in_options` of the command line. */
function inFields(message) {
  return message
    .replace(/\b(task|worker|label)='(.*?)'/, (_, column, name) => `“${name}” as the ${column} column ${SETTINGS}`)
    .replace("keep one with conflicts='first' or 'last'", `keep the first or the last ${SETTINGS}`)
    .replace("; 'all' counts each of m answers of a worker 1/m", ", or count each of m answers of a worker 1/m")
    .replace("name them all with classes=[...] (--classes)", "use the command line with --classes")
    .replace(/leave them out with ignore \(--ignore .*\)$/, `name them as no answers ${SETTINGS}`)
    .replace("merge_look_alikes (--merge-look-alikes) makes them one", `they can be made one ${SETTINGS}`)
    .replace("declare their order", "use the command line with --order")
    .replace("task=, worker= and label= choose other columns", `other ones can be named ${SETTINGS}`)
    .replace(/say sep='(.*?)'/, "which is none of , tab ; |: take the quotes around the first row away")
    .replace(/name its encoding, for example encoding='.*?'/, `choose its encoding ${SETTINGS}`)
    .replace(/: call it \.\w+, or unpack it/, ": unpack it first");
}

/** Make an element with a text, and nothing else in it; names are cut as in reports, with the whole in the title. */
function element(name, text, classes = "") {
  const made = document.createElement(name), cut = name === "td" && classes === "text" && text.length > 60;
  made.textContent = cut ? `${text.slice(0, 40)}... (${text.length} characters)` : text;
  [made.className, made.title] = [classes, cut ? text : ""];
  return made;
}

/** Control characters of ids as escapes, which can be seen. */
function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`);
}

function number(n) {
  return n.toLocaleString("en");
}

// ---- work ----

function stop() {
  worker?.terminate();
  worker = null;
  at("working").hidden = true;
}

/** Aggregate a file or a text; whatever was at work before is stopped. */
async function aggregate(file, name) {
  stop();
  [given, result] = [{ file, name }, null];
  at("said").replaceChildren();
  [at("result").hidden, at("again").hidden, at("working").hidden] = [true, false, false];
  at("progress").textContent = `reading ${visible(name)}`;
  const mine = (worker = new Worker(source));
  mine.onmessage = ({ data }) => heard(data);
  mine.onerror = (event) => heard({ refused: `the page failed, please report it: ${event.message}` });
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const options = { ...settings(), ...(file instanceof File ? {} : { encoding: "utf-8" }) }; // a text is in this one
    mine.postMessage({ bytes, name, ...options }, [bytes.buffer]);
  } catch (error) {
    if (worker === mine) heard({ refused: `${name} cannot be read: ${error.message}` });
  }
}

/** Return what was set: columns by their names, words between commas as `--ignore` reads them, and choices. */
function settings() {
  const { ignore, ...said } = Object.fromEntries(new FormData(at("options")));
  const columns = ["task", "worker", "label"].map((column) => said[column].trim() || column);
  return { ...said, columns, ignore: ignore.split(",").map((word) => word.trim()).filter(Boolean) };
}

function heard({ progress, refused, notes = [], warnings = [], result: found }) {
  if (progress) {
    at("progress").textContent = progress;
    return;
  }
  stop();
  const lines = notes.map((note) => [`note: ${inFields(note)}`, "note"]);
  lines.push(...warnings.map((warning) => [`WARNING: ${warning}`, "alarm"]));
  if (refused !== undefined) lines.push([`error: ${inFields(refused)}`, "alarm"]);
  at("settings").open ||= refused !== undefined && inFields(refused).includes(SETTINGS);
  at("said").replaceChildren(...lines.map(([line, kind]) => element("p", visible(line), kind)));
  if (found) show(found);
}

// ---- result ----

function show(found) {
  result = found;
  const { classes, workers, labels, labelsGiven } = result;
  const counts = [...["tasks", "workers", "classes"].map((what) => [result[what].length, what]), [labels, "labels"]];
  at("counts").replaceChildren(...counts.map(([count, what]) => {
    const item = element("li", "");
    item.append(element("b", number(count)), ` ${what}`);
    return item;
  }));
  at("facts").replaceChildren(...result.found.map((fact) => element("li", visible(fact))));
  at("which").value = result.sure.some((p) => p < CONSTANTS.sure) ? "doubtful" : "all";
  list("classes", range(classes.length), classCells);
  list("tasks", chosenTasks(), taskCells);
  list("workers", order(workers.length, (w) => -labelsGiven[w]), workerCells);
  at("result").hidden = false;
  at("found").focus();
}

/** Return 0 ... n - 1, those of the least key first. */
function order(n, key) {
  return range(n).sort((a, b) => key(a) - key(b));
}

function chosenTasks() {
  const { sure, own, top, disputed } = result, which = at("which").value;
  const sorted = order(sure.length, (i) => (which === "doubtful" ? sure[i] : -sure[i]));
  if (which === "doubtful") return sorted.filter((i) => sure[i] < CONSTANTS.sure);
  if (which === "overruled") return sorted.filter((i) => own[i] < top[i]);
  return which === "disputed" ? sorted.filter((i) => disputed[i]) : [...sure.keys()];
}

// ---- tables ----

function classCells(k) {
  const { classes, vote, predicted } = result, count = (codes) => number(codes.filter((code) => code === k).length);
  return [classes[k], count(vote), count(predicted)];
}

function taskCells(i) {
  const { tasks, classes, predicted, vote, top, given: labels, disputed, sure } = result;
  const found = [tasks[i], classes[predicted[i]], sure[i].toFixed(3), classes[vote[i]]];
  return [...found, number(top[i]), number(labels[i]), disputed[i] ? "disputed" : ""];
}

function workerCells(w) {
  const { workers, labelsGiven, accuracy, agreement, types, remarks } = result;
  const right = types.length ? percent(accuracy[w]) : "not known";
  return [workers[w], number(labelsGiven[w]), right, percent(agreement[w]), remarks[w]];
}

/** Show the first rows of a table, in cells of the classes that its header has, and a button for more. */
function list(table, rows, cellsOf) {
  const { tHead, tBodies: [body] } = at(table), heads = [...tHead.rows[0].cells], button = at(`more-${table}`);
  const rowOf = (row) => {
    const made = element("tr", "");
    made.append(...cellsOf(row).map((text, i) => element("td", visible(text), heads[i].className)));
    return made;
  };
  button.onclick = () => {
    const end = Math.min(body.rows.length + ROWS, rows.length);
    body.append(...rows.slice(body.rows.length, end).map(rowOf));
    const some = rows.length > ROWS ? `${number(end)} of ${number(rows.length)}` : "";
    at(`shown-${table}`).textContent = rows.length ? some : "none";
    button.hidden = end === rows.length;
  };
  body.replaceChildren();
  button.onclick();
}

// ---- the file that is saved, as cli/output.py writes it ----

/** Return the CSV of the consensus, and how many of its cells got an apostrophe. */
function savedTable({ tasks, classes, sure, predicted, given, disputed }, raw) {
  let escapedCells = 0;
  const safe = (cell) => {
    const guarded = !raw && FORMULA.test(cell) && !DECIMAL.test(cell), shown = guarded ? `'${cell}` : cell;
    escapedCells += guarded;
    return /[",\n\r]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
  };
  const lines = tasks.map((task, i) => {
    const probability = fixed(sure[i], 6).replace(/(\.\d+?)0*$/, "$1"), mark = disputed[i] ? "True" : "False";
    return `${safe(task)},${safe(classes[predicted[i]])},${probability},${given[i]},${mark}\n`;
  });
  return { text: ["task,label,probability,n_labels,disputed\n", ...lines].join(""), escapedCells };
}

function save() {
  const { text, escapedCells } = savedTable(result, at("raw").checked);
  const link = element("a", ""), url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  [link.href, link.download] = [url, "consensus.csv"];
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
  const changed = "cells that a spreadsheet would run as formulas begin with an apostrophe now";
  if (escapedCells) at("said").append(element("p", `note: ${escapedCells} ${changed}`, "note"));
}

// ---- what the reader does ----

at("file").onclick = ({ target }) => (target.value = ""); // so that a file that was mended can be chosen again
at("file").onchange = ({ target }) => target.files.length && aggregate(target.files[0], target.files[0].name);
at("use").onclick = () => aggregate(new Blob([at("text").value]), "the pasted text");
at("example").onclick = () => {
  at("text").value = JSON.parse(at("bluebird").textContent);
  aggregate(new Blob([at("text").value]), "the example");
};
at("options").onsubmit = (event) => {
  event.preventDefault();
  if (given) aggregate(given.file, given.name);
};
at("stop").onclick = stop;
at("which").onchange = () => list("tasks", chosenTasks(), taskCells);
at("save").onclick = save;
for (const kind of ["dragover", "dragleave", "drop"]) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    at("drop").classList.toggle("over", kind === "dragover");
    const [file] = kind === "drop" ? event.dataTransfer.files : [];
    if (file) aggregate(file, file.name);
  });
}
