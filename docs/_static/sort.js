/* Tables that a reader can sort (docs/real_data.md): a button in each heading sorts by the number that begins a cell,
   or by its text; a second click turns the order round. Cells without a number stand last. */
(() => {
  "use strict";

  /* The number that begins a cell; none for a dash. */
  const number = text => (/^[+-]?\d/.test(text) ? parseFloat(text) : NaN);

  /* Compare two cells, those without a number last, whichever way round. */
  function compare(one, other, way) {
    const [a, b] = [number(one), number(other)];
    if (Number.isNaN(a) && Number.isNaN(b)) {
      return way * one.localeCompare(other);
    }
    return Number.isNaN(a) ? 1 : Number.isNaN(b) ? -1 : way * (a - b);
  }

  /* Sort the rows of a table by a column: numbers from the largest, texts from A. */
  function sort(table, place, heading) {
    const body = table.tBodies[0];
    const cell = row => row.cells[place].textContent.trim();
    const numbers = [...body.rows].some(row => !Number.isNaN(number(cell(row))));
    const before = heading.getAttribute("aria-sort");
    const way = before ? (before === "descending" ? 1 : -1) : numbers ? -1 : 1;
    table.querySelectorAll("th").forEach(one => one.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", way === 1 ? "ascending" : "descending");
    body.append(...[...body.rows].sort((one, other) => compare(cell(one), cell(other), way)));
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".sortable table").forEach(table => {
      [...table.tHead.rows[0].cells].forEach((heading, place) => {
        const button = document.createElement("button");
        button.append(...heading.childNodes);
        button.addEventListener("click", () => sort(table, place, heading));
        heading.append(button);
      });
    });
  });
})();
