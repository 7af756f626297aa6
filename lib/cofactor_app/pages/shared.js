"use strict";
/*
 * What the page and its background share: numbers in words, and small helpers for arrays.
 */

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Write a number with so many digits, half to even as Python does: toFixed rounds halves up. */
function fixed(x, digits) {
  const half = (x * 2 ** (digits + 1)) % 2 === 1, text = x.toFixed(digits);
  return half && text.at(-1) % 2 ? (x * (1 - 1e-9)).toFixed(digits) : text;
}

function percent(x, digits = 1) {
  return Number.isNaN(x) ? "–" : `${fixed(100 * x, digits)}%`;
}

/** 0 ... n - 1. */
function range(n) {
  return Array.from({ length: n }, (_, i) => i);
}

/** Return the numbers of rows by task, then by worker, else as they are. */
function byTask(task, worker) {
  return Array.from(sortedBy(task, sortedBy(worker, range(task.length))));
}

/** Return rows sorted by a code, ties as they are. */
function sortedBy(codes, rows) {
  const size = codes.reduce((most, code) => Math.max(most, code + 1), 0);
  const next = new Int32Array(size + 1), order = new Int32Array(rows.length);
  for (const code of codes) next[code + 1]++;
  for (let k = 0; k < size; k++) next[k + 1] += next[k];
  for (const e of rows) order[next[codes[e]]++] = e;
  return order;
}

function sum(x) {
  return x.reduce((total, value) => total + value, 0);
}

/** Add up values into n places. */
function added(n, values, placeOf) {
  const total = new Float64Array(n);
  for (let c = 0; c < values.length; c++) total[placeOf(c)] += values[c];
  return total;
}

/** Return a Map from keys to the values that have them, in order. */
function grouped(values, keyOf) {
  const groups = new Map();
  for (const value of values) {
    const key = keyOf(value), group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

/** Number the different codes anew, from 0 on: `used` has them in order, `places` where each code stands there. */
function numbered(codes) {
  const used = [...new Set(codes)].sort((a, b) => a - b), place = new Map(used.map((code, i) => [code, i]));
  return { used, places: codes.map((code) => place.get(code)) };
}
