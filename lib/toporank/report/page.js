"use strict";
// Sortable tables, and the rankings: strips at once, the table of a target when it is opened.

const $ = (selector, root = document) => [...root.querySelectorAll(selector)];
const data = JSON.parse(document.getElementById("decoys").textContent);
const DASH = "–";
const fixed = value => value == null ? DASH : value.toFixed(3);
const percent = value => `${(100 * Math.min(1, Math.max(0, value))).toFixed(2)}%`;

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function draw(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function chip(digit) {
  return digit && digit !== "-" ? make("span", { class: `chip c${digit}` }, data.classes[digit]) : DASH;
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

// The strip of a target: every decoy a tick, coloured by CAPRI class; predicted DockQ above, true below.

function ticks(values, classes, top, height) {
  const paths = data.classes.map(() => "");
  values.forEach((value, i) => { if (value != null) paths[classes[i]] += `M${(1000 * Math.min(1, value)).toFixed(0)} ${top}v${height}`; });
  return paths.map((d, i) => d && draw("path", { d, stroke: `var(--c${i})`, "stroke-width": 1.6, "stroke-opacity": 0.8 })).filter(Boolean);
}

function strip(target) {
  const first = (target.p || []).findIndex(value => value != null);
  const height = target.y ? 38 : 20;
  const lanes = draw("svg", { viewBox: `0 0 1000 ${height}`, preserveAspectRatio: "none", width: "100%", height });
  const guides = [0, ...data.thresholds, 1].map(x => `M${1000 * x} 2v${height - 4}`).join("");
  lanes.append(draw("path", { d: guides, stroke: "var(--line)", "stroke-width": 1 }));
  if (target.p) lanes.append(...ticks(target.p, target.P, 4, 12));
  if (target.y) lanes.append(...ticks(target.y, target.Y, 23, 12));
  const all = draw("svg", { class: "strip", height, "aria-hidden": "true" }, lanes);
  const ring = (value, y, digit) =>
    all.append(draw("circle", { cx: percent(value), cy: y, r: 4.2, fill: "var(--card)", stroke: `var(--c${digit})`, "stroke-width": 2.4 }));
  if (first >= 0) {
    const truth = target.y && target.y[first];
    if (truth != null) {
      all.append(draw("line", { x1: percent(target.p[first]), y1: 10, x2: percent(truth), y2: 29, stroke: "var(--ink)", "stroke-width": 1 }));
      ring(truth, 29, target.Y[first]);
    }
    ring(target.p[first], 10, target.P[first]);
  }
  return all;
}

// The table of a target.

function lane(target, i) {
  const svg = draw("svg", { "aria-hidden": "true" });
  svg.append(draw("line", { x1: 0, x2: "100%", y1: 7.5, y2: 7.5, stroke: "var(--line)" }));
  for (const x of data.thresholds) svg.append(draw("line", { x1: percent(x), x2: percent(x), y1: 1, y2: 14, stroke: "var(--line)" }));
  const p = target.p?.[i], low = target.l?.[i], high = target.h?.[i], y = target.y?.[i];
  const tone = target.P ? `var(--c${target.P[i]})` : "var(--muted)";
  if (low != null)
    svg.append(draw("line", { x1: percent(low), x2: percent(high), y1: 7.5, y2: 7.5, stroke: tone, "stroke-width": 5, "stroke-opacity": 0.35 }));
  if (y != null) svg.append(draw("line", { x1: percent(y), x2: percent(y), y1: 1, y2: 14, stroke: "var(--ink)", "stroke-width": 2 }));
  if (p != null) svg.append(draw("circle", { cx: percent(p), cy: 7.5, r: 4, fill: tone }));
  return svg;
}

const COLUMNS = [
  { head: "rank", number: true, cell: (t, i) => t.r?.[i] ?? DASH },
  { head: "decoy", name: true, cell: (t, i) => t.d[i] },
  { head: "predicted DockQ", number: true, cell: (t, i) => fixed(t.p?.[i]) },
  { head: "interval", number: true, needs: "l", cell: (t, i) => t.l[i] == null ? DASH : `[${t.l[i].toFixed(2)}, ${t.h[i].toFixed(2)}]` },
  { head: "class", cell: (t, i) => chip(t.P?.[i]) },
  { head: "0 – 1", lane: true, cell: lane },
  { head: "true DockQ", number: true, needs: "y", cell: (t, i) => fixed(t.y?.[i]) },
  { head: "true class", needs: "Y", cell: (t, i) => chip(t.Y?.[i]) },
  { head: "interface residues", number: true, cell: (t, i) => t.n?.[i] ?? DASH },
  { head: "chains", number: true, cell: (t, i) => t.c?.[i] ?? DASH },
  { head: "cluster (rank)", number: true, needs: "k", cell: (t, i) => t.k[i] == null ? DASH : `${t.k[i]} (${t.K?.[i] ?? DASH})` },
  { head: "consensus", number: true, needs: "o", cell: (t, i) => fixed(t.o[i]) },
  { head: "twin of", name: true, needs: "t", cell: (t, i) => t.t[i] || "" },
  { head: "disagreement of the ensemble", number: true, needs: "s", cell: (t, i) => fixed(t.s[i]) },
  { head: "out of domain", name: true, needs: "m", cell: (t, i) => t.m[i] || "" },
  { head: "status", status: true, cell: (t, i) => status(data.fates[t.f[i]]) },
];

// What is wrong with an interface, or with a decoy, is written out, in red.

const WRONG = ["partner apart", "chain missing", "no interface", "unreadable", "failed"];
const wrong = text => make("span", { class: "wrong" }, text);
const status = text => WRONG.includes(text) ? wrong(text) : text;
const interfaces = target => (target.i || []).map((head, k) => ({
  head, number: true, cell: (t, i) => { const v = t.I[k][i]; return typeof v === "string" ? wrong(v) : fixed(v); },
}));

// Measures of the predictor's own confidence, those that are known.

const measures = target => (target.q || []).map(([head, digits], k) => ({
  head, number: true, cell: (t, i) => t.Q[k][i]?.toFixed(digits) ?? DASH,
}));

function decoyTable(target, name, wanted) {
  const columns = COLUMNS.filter(column => !column.needs || target[column.needs]);
  columns.splice(-1, 0, ...interfaces(target), ...measures(target));
  const style = column => column.number ? "n" : column.lane ? "lane" : column.name ? "name" : column.status ? "status" : "";
  const head = make("tr", {}, ...columns.map(column => make("th", { scope: "col", class: style(column) }, column.head)));
  const body = make("tbody");
  target.d.forEach((decoy, i) => {
    if (wanted && !wanted(decoy)) return;
    body.append(make("tr", {}, ...columns.map(column => make("td", { class: style(column) }, column.cell(target, i)))));
  });
  const shown = body.rows.length, all = target.d.length;
  const caption = `${shown < all ? `${shown} of ${all}` : all} decoys of ${name}, ${data.order}`;
  return make("table", {}, make("caption", {}, caption), make("thead", {}, head), body);
}

// Filter, choice of a target, order, and the rest of a long list.

const FIRST = 25;
const targets = $(".target").map((node, i) => ({
  node, i, content: data.targets[i], name: node.dataset.name, box: node.querySelector(".decoys"), drawn: null,
}));
const list = document.getElementById("targets");
const filter = document.getElementById("filter"), choice = document.getElementById("choice"), order = document.getElementById("order");
const more = document.getElementById("more"), empty = document.getElementById("empty");
let everything = false;

function fill(target) {
  const query = filter.value.trim().toLowerCase();
  const whole = !query || target.name.toLowerCase().includes(query);
  const state = whole ? "" : query;
  if (!target.node.open || target.drawn === state) return;
  target.box.replaceChildren(decoyTable(target.content, target.name, whole ? null : decoy => decoy.toLowerCase().includes(query)));
  target.drawn = state;
}

function show() {
  const query = filter.value.trim().toLowerCase();
  const fits = target => (choice.value === "" || target.i === Number(choice.value)) &&
    (!query || target.name.toLowerCase().includes(query) || target.content.d.some(decoy => decoy.toLowerCase().includes(query)));
  const found = targets.filter(fits);
  const shown = new Set(everything ? found : found.slice(0, FIRST));
  for (const target of targets) {
    target.node.hidden = !shown.has(target);
    if (shown.has(target)) fill(target);
  }
  more.hidden = shown.size === found.length;
  more.textContent = `Show all ${found.length} targets`;
  empty.hidden = found.length > 0;
}

function arrange() {
  const [key, direction] = order.value.split(" ");
  const value = target => { const v = target.node.dataset[key]; return v === undefined || v === "" ? NaN : Number(v); };
  targets.sort((a, b) => {
    const x = value(a), y = value(b);
    if (!key || isNaN(x) || isNaN(y)) return key && isNaN(x) - isNaN(y) || a.i - b.i;
    return (direction === "down" ? y - x : x - y) || a.i - b.i;
  });
  list.append(...targets.map(target => target.node), empty);
  show();
}

if (list) {
  for (const target of targets) {
    target.node.querySelector(".see").append(strip(target.content));
    target.node.addEventListener("toggle", () => fill(target));
  }
  let waiting;
  filter.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(show, 120); });
  choice.addEventListener("change", () => {
    const chosen = targets.find(target => target.i === Number(choice.value));
    if (choice.value !== "" && chosen) chosen.node.open = true;
    show();
  });
  order.addEventListener("change", arrange);
  more.addEventListener("click", () => { everything = true; show(); });
  document.querySelector(".tools").hidden = targets.length < 2;
  if (targets.length === 1) targets[0].node.open = true;
  show();
}
