"use strict";
// What every page has: helpers, and tables that a click on a header sorts.

const $ = (selector, root = document) => [...root.querySelectorAll(selector)];
const DASH = "–";

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// Tables with class "sortable": a click on a header sorts by the cells' data-v, or by their text.

for (const table of $("table.sortable")) {
  for (const head of $("thead th[data-c]", table)) {
    const button = make("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(table, head));
  }
}

// A column with class "n" is one of numbers; others sort as people sort names. What is missing comes last.

const names = new Intl.Collator("en", { numeric: true });
const isMissing = text => ["", DASH, "nan", "None"].includes(text);

function sort(table, head) {
  const descending = head.getAttribute("aria-sort") === "ascending";
  for (const other of $("th[aria-sort]", table)) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const key = row => { const cell = row.cells[head.dataset.c]; return (cell.dataset.v ?? cell.textContent).trim(); };
  const compare = head.classList.contains("n") ? (a, b) => Number(a) - Number(b) : names.compare;
  const body = table.tBodies[0];
  const rows = [...body.rows].map(row => [key(row), row]);
  rows.sort(([a], [b]) => isMissing(a) - isMissing(b) || (isMissing(a) ? 0 : compare(a, b) * (descending ? -1 : 1)));
  body.append(...rows.map(([, row]) => row));
}
