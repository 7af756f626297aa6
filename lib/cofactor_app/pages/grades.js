"use strict";
/*
 * Whether classes may be grades, which the command line reads as such where their order is declared; as crowd/order.py.
 * With more than six classes the orders that are drawn are others than there.
 */

/** Say that classes look like grades, and who reads them; as `suggestion` in cli/grades.py. */
function gradesLine(order) {
  return "classes may be grades: in this order workers agree better by squared steps than in nine of ten others; "
    + `this page takes them for names; if they are grades, use cofactor aggregate --order "${order.join(",")}"`;
}

/** Return the classes in the order that the labels suggest, or null; votes are (N, K). */
function suggestedOrder(classes, votes) {
  const { fewest, most, luck } = CONSTANTS, K = classes.length;
  const order = K >= fewest && K <= most ? namedOrder(classes) : null;
  if (!order) return null;
  const pairs = coincidences(votes, order), identity = order.map((_, k) => k), mine = alphaOf(pairs, identity);
  const others = ordersOf(identity).map((places) => alphaOf(pairs, places));
  const asGood = others.filter((alpha) => alpha >= mine).length / others.length;
  return mine > 0 && asGood <= luck ? order.map((k) => classes[k]) : null;
}

/** Return the codes of the classes by the numbers or words they are named by; null where these tell no order. */
function namedOrder(classes) {
  const by = (place) => {
    const known = place.every(Number.isFinite) && new Set(place).size === place.length;
    return known ? classes.map((_, k) => k).sort((a, b) => place[a] - place[b]) : null;
  };
  const numbers = classes.map((name) => (DECIMAL.test(folded(strip(name))) ? Number(strip(name)) : NaN));
  const words = classes.map((name) => folded(strip(name)).replace(/[_-]/g, " "));
  const scales = CONSTANTS.scales.map((scale) => scale.split(", "));
  const places = scales.map((scale) => words.map((word) => (scale.includes(word) ? scale.indexOf(word) : NaN)));
  return by(numbers) ?? places.map(by).find(Boolean) ?? null;
}

/** Return the K x K ordered pairs of labels on one task, in this order, each weighted by 1 / (labels of it - 1). */
function coincidences(votes, order) {
  const K = order.length, pairs = order.map(() => new Float64Array(K));
  for (let from = 0; from < votes.length; from += K) {
    const v = order.map((k) => votes[from + k]), others = sum(v) - 1;
    if (others <= 0) continue;
    for (let a = 0; a < K; a++) for (let b = 0; b < K; b++) pairs[a][b] += (v[a] * (v[b] - (a === b))) / others;
  }
  return pairs;
}

/** Return Krippendorff's alpha of squared steps, the classes at these places of a scale. */
function alphaOf(pairs, places) {
  const n = pairs.map(sum), square = (a, b) => (places[a] - places[b]) ** 2;
  const total = (of) => sum(pairs.map((row, a) => sum(row.map((_, b) => of(a, b) * square(a, b)))));
  const observed = total((a, b) => pairs[a][b]), expected = total((a, b) => n[a] * n[b]);
  return expected > 0 ? 1 - ((sum(n) - 1) * observed) / expected : NaN;
}

/** Return all orders up to turning them round; of many classes this one, and many drawn ones. */
function ordersOf(identity) {
  if (identity.length <= CONSTANTS.allOrders) return [...permutations(identity)];
  let seed = 1;
  const next = () => (seed = (seed * 16807) % 2147483647); // numbers that look random, the same in every run
  const shuffled = () => identity.map((k) => [next(), k]).sort(([x], [y]) => x - y).map(([, k]) => k);
  return [identity, ...Array.from({ length: CONSTANTS.drawn }, shuffled)];
}

function* permutations(left, begun = []) {
  if (!left.length && begun[0] < begun.at(-1)) yield begun;
  for (const place of left) yield* permutations(left.filter((other) => other !== place), [...begun, place]);
}
