"use strict";
/*
 * What is seen of the page: files in, tables out. The work itself is done in the background (consensus.js), so that the
 * page stays alive. Data is shown as text only, never as HTML.
 */

const ROWS = 20; // of a table, before more are asked for
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
    .replace("merge_look_alikes (--merge-look-alikes) makes", "the command line with --merge-look-alikes makes")
    .replace("declare their order", "use the command line with --order")
    .replace(/say sep='(.*?)'/, "which is none of , tab ; |: take the quotes around the first row away")
    .replace("name its encoding, for example encoding='latin-1'", "use the command line with --encoding")
    .replace(/: call it \.\w+, or unpack it/, ": unpack it first");
}

/** Make an element with a text, and nothing else in it. */
function element(name, text, classes = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = classes;
  return made;
}

/** Control characters of ids as escapes, which can be seen. */
function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`);
}

function percent(x) {
  return Number.isNaN(x) ? "–" : `${(100 * x).toFixed(1)}%`;
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
  const columns = ["task", "worker", "label"].map((column) => at(column).value.trim() || column);
  mine.onmessage = ({ data }) => heard(data);
  mine.onerror = (event) => heard({ refused: `the page failed, please report it: ${event.message}` });
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const ignore = listed(at("ignore").value), conflicts = at("conflicts").value;
    mine.postMessage({ bytes, name, columns, conflicts, ignore }, [bytes.buffer]);
  } catch (error) {
    if (worker === mine) heard({ refused: `${name} cannot be read: ${error.message}` });
  }
}

/** Words between commas; as `--ignore` reads them. */
function listed(text) {
  return text.split(",").map((word) => word.trim()).filter(Boolean);
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
  at("counts").replaceChildren(...counts().map(([value, words]) => {
    const item = element("li", "");
    item.append(element("b", value), ` ${words}`);
    return item;
  }));
  at("facts").replaceChildren(...result.found.map((fact) => element("li", fact)));
  fill("classes", classRows());
  at("which").value = "doubtful";
  list("tasks", chosenTasks(), taskCells, "shown", "more");
  const busiest = order(result.workers.length, (w) => -result.labelsGiven[w]);
  list("workers", busiest, workerCells, "shown-workers", "more-workers");
  at("result").hidden = false;
  at("found").focus();
}

function counts() {
  const amounts = ["tasks", "workers", "classes"].map((words) => [number(result[words].length), words]);
  return [...amounts, [number(result.labels), "labels"]];
}

/** Return 0 ... n - 1, those of the least key first. */
function order(n, key) {
  return Array.from({ length: n }, (_, i) => i).sort((a, b) => key(a) - key(b) || a - b);
}

function chosenTasks() {
  const { sure, own, top, disputed } = result, which = at("which").value;
  const sorted = order(sure.length, (i) => (which === "doubtful" ? sure[i] : -sure[i]));
  if (which === "doubtful") return sorted.filter((i) => sure[i] < CONSTANTS.sure);
  if (which === "overruled") return sorted.filter((i) => own[i] < top[i]);
  return which === "disputed" ? sorted.filter((i) => disputed[i]) : [...sure.keys()];
}

/** Cells of a row: a text, and whether it is a number. */
function taskCells(i) {
  const { tasks, classes, predicted, vote, top, given: labels, disputed, sure } = result;
  const found = [[tasks[i]], [classes[predicted[i]]], [sure[i].toFixed(3), 1]], mark = disputed[i] ? "disputed" : "";
  return [...found, [classes[vote[i]]], [number(top[i]), 1], [number(labels[i]), 1], [mark]];
}

function workerCells(w) {
  const { workers, labelsGiven, accuracy, agreement, types, remarks } = result;
  const right = types.length ? percent(accuracy[w]) : "not known";
  return [[workers[w]], [number(labelsGiven[w]), 1], [right, 1], [percent(agreement[w]), 1], [remarks[w]]];
}

function classRows() {
  const { classes, vote, predicted } = result, byVote = new Array(classes.length).fill(0), byLabel = [...byVote];
  vote.forEach((k) => byVote[k]++);
  predicted.forEach((k) => byLabel[k]++);
  return classes.map((name, k) => [[name], [number(byVote[k]), 1], [number(byLabel[k]), 1]]);
}

// ---- tables ----

/** Put rows into a table, or below those it has. */
function fill(table, rows, below = false) {
  const made = rows.map((cells) => {
    const row = element("tr", "");
    row.append(...cells.map(([text, isNumber]) => element("td", visible(text), isNumber ? "" : "text")));
    return row;
  });
  const body = at(table).tBodies[0];
  if (!below) body.replaceChildren();
  body.append(...made);
}

/** Show the first rows of many, and a button for more. */
function list(table, rows, cells, said, button) {
  let end = 0;
  const more = () => {
    const next = rows.slice(end, end + ROWS);
    fill(table, next.map(cells), end > 0);
    end += next.length;
    at(said).textContent = rows.length ? `${number(end)} of ${number(rows.length)}` : "none";
    at(button).hidden = end === rows.length;
  };
  at(button).onclick = more;
  more();
}

// ---- saving: the table is written in the background, where its rules are ----

function save() {
  const writer = new Worker(source);
  writer.onmessage = ({ data: { text, escapedCells } }) => {
    writer.terminate();
    const link = element("a", ""), url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
    [link.href, link.download] = [url, "consensus.csv"];
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
    const changed = "cells that a spreadsheet would run as formulas begin with an apostrophe now";
    if (escapedCells) at("said").append(element("p", `note: ${escapedCells} ${changed}`, "note"));
  };
  const { tasks, classes, posterior, predicted, given, disputed } = result;
  const save = { tasks, classes, posterior, predicted, given, disputed };
  writer.postMessage({ save, raw: at("raw").checked });
}

// ---- what the reader does ----

at("file").onclick = ({ target }) => (target.value = ""); // so that a file that was mended can be chosen again
at("file").onchange = ({ target }) => target.files.length && aggregate(target.files[0], target.files[0].name);
at("use").onclick = () => aggregate(new Blob([at("text").value]), "the pasted text");
at("example").onclick = () => {
  at("text").value = JSON.parse(at("bluebird").textContent);
  aggregate(new Blob([at("text").value]), "the example");
};
at("again").onclick = () => given && aggregate(given.file, given.name);
at("stop").onclick = stop;
at("which").onchange = () => list("tasks", chosenTasks(), taskCells, "shown", "more");
at("save").onclick = save;
for (const kind of ["dragover", "dragleave", "drop"]) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    at("drop").classList.toggle("over", kind === "dragover");
    const [file] = kind === "drop" ? event.dataTransfer.files : [];
    if (file) aggregate(file, file.name);
  });
}
