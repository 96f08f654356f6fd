// The rankings: strips at once, the table of a target when it is opened. sortable.js stands before this.

const data = JSON.parse(document.getElementById("decoys").textContent);
const structures = JSON.parse(document.getElementById("structures")?.textContent ?? "{}");
const fixed = value => value == null ? DASH : value.toFixed(3);
const percent = value => `${(100 * Math.min(1, Math.max(0, value))).toFixed(2)}%`;

function draw(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function chip(digit) {
  return digit && digit !== "-" ? make("span", { class: `chip c${digit}` }, data.classes[digit]) : DASH;
}

// Copies of other models and intermediate states have rows, but do not count as models.

const isModel = (t, i) => !t.x?.[i] && data.fates[t.f?.[i]] !== "intermediate";
const models = (t, rows) => rows.filter(i => isModel(t, i)).length;
const allModels = t => models(t, t.d.map((_, i) => i));

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
  if (p != null) svg.append(draw("circle", { cx: percent(target.e?.[i] ?? p), cy: 7.5, r: 4, fill: tone }));
  return svg;
}

// `key` is its name in the CSV, `value` what it sorts by and what goes into the CSV, `cell` what is shown.

const COLUMNS = [
  { key: "rank", head: "rank", number: true, value: (t, i) => t.r?.[i] },
  { key: "decoy", head: "model", name: true, value: (t, i) => t.d[i], cell: decoyCell },
  { key: "pred_dockq", head: "predicted DockQ", number: true, value: (t, i) => t.p?.[i], cell: (t, i) => fixed(t.p?.[i]) },
  { key: "expected_dockq", head: "expected DockQ", number: true, needs: "e", value: (t, i) => t.e[i], cell: (t, i) => fixed(t.e[i]) },
  { key: "pred_structure", head: "by structure", number: true, needs: "a", value: (t, i) => t.a[i], cell: (t, i) => fixed(t.a[i]) },
  { key: "pred_confidence", head: "by the predictor's confidence", number: true, needs: "b", value: (t, i) => t.b[i], cell: (t, i) => fixed(t.b[i]) },
  { key: "pred_low", head: "interval", number: true, needs: "l", value: (t, i) => t.l[i], cell: (t, i) => t.l[i] == null ? DASH : `[${t.l[i].toFixed(2)}, ${t.h[i].toFixed(2)}]` },
  { key: "pred_high", needs: "h", value: (t, i) => t.h[i] },
  { key: "pred_capri", head: "class", value: (t, i) => data.classes[t.P?.[i]], order: (t, i) => t.P && Number(t.P[i]), cell: (t, i) => chip(t.P?.[i]) },
  { head: "0 – 1", lane: true, cell: lane },
  { key: "dockq", head: "true DockQ", number: true, needs: "y", value: (t, i) => t.y[i], cell: (t, i) => fixed(t.y[i]) },
  { key: "capri", head: "true class", needs: "Y", value: (t, i) => data.classes[t.Y[i]], order: (t, i) => Number(t.Y[i]), cell: (t, i) => chip(t.Y[i]) },
  { key: "n_interface_residues", head: "interface residues", number: true, value: (t, i) => t.n?.[i] },
  { key: "n_chains", head: "chains", number: true, value: (t, i) => t.c?.[i] },
  { key: "cluster", head: "cluster (rank)", number: true, needs: "k", value: (t, i) => t.k[i], cell: (t, i) => t.k[i] == null ? DASH : `${t.k[i]} (${t.K?.[i] ?? DASH})` },
  { key: "cluster_rank", needs: "K", value: (t, i) => t.K[i] },
  { key: "consensus", head: "consensus", number: true, needs: "o", value: (t, i) => t.o[i], cell: (t, i) => fixed(t.o[i]) },
  { key: "twin_of", head: "twin of", name: true, needs: "t", value: (t, i) => t.t[i] },
  { key: "duplicate_of", head: "copy of", name: true, needs: "x", value: (t, i) => t.x[i] },
  { key: "pred_sd", head: "disagreement of the ensemble", number: true, needs: "s", value: (t, i) => t.s[i], cell: (t, i) => fixed(t.s[i]) },
  { key: "domain", head: "out of domain", name: true, needs: "m", value: (t, i) => t.m[i] },
];
const [RANK, NAME] = COLUMNS;
const LAST = { key: "status", head: "status", status: true, value: (t, i) => data.fates[t.f[i]], cell: (t, i) => status(data.fates[t.f[i]]) };

// A name is a link to the file, and has a button where the page holds the structure.

function decoyCell(t, i) {
  const name = t.d[i], pattern = t.u?.[t.U[i]];
  const link = pattern ? make("a", { href: pattern.replace("*", () => encodeURIComponent(name)) }, name) : document.createTextNode(name);
  const cell = make("span", {}, link), target = data.targets.indexOf(t);
  if (structures[target]?.some(shown => shown.i === i)) {
    const button = make("button", { type: "button", class: "see", "aria-label": `show ${name} in 3-D` }, "3-D");
    button.addEventListener("click", () => document.dispatchEvent(new CustomEvent("view", { detail: { target, decoy: i } })));
    cell.append(button);
  }
  return cell;
}

// What is wrong with an interface, or with a decoy, is written out, in red.

const WRONG = ["partner apart", "chain missing", "no interface", "unreadable", "failed"];
const wrong = text => make("span", { class: "wrong" }, text);
const status = text => WRONG.includes(text) ? wrong(text) : text;
const interfaces = target => (target.i || []).map((head, k) => ({
  key: `pred_dockq ${head}`, head, number: true, value: (t, i) => t.I[k][i],
  cell: (t, i) => { const v = t.I[k][i]; return typeof v === "string" ? wrong(v) : fixed(v); },
}));

// Measures of the predictor's own confidence, those that are known.

const measures = target => (target.q || []).map(([head, digits], k) => ({
  key: `confidence ${head}`, head, number: true, value: (t, i) => t.Q[k][i], cell: (t, i) => t.Q[k][i]?.toFixed(digits) ?? DASH,
}));
const ownColumns = target => [...COLUMNS.filter(column => !column.needs || target[column.needs]), ...measures(target), LAST];
const columnsOf = target => [...ownColumns(target), ...interfaces(target)];

// The order of decoys in a table: as ranked, until a heading is clicked. What is missing comes last.

function inOrder(target, column, descending) {
  const rows = target.content.d.map((_, i) => i);
  if (!column) return rows;
  const key = column.order ?? column.value;
  const missing = v => v == null || v === "" || Number.isNaN(v);
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : names.compare(a, b);
  const values = rows.map(i => key(target.content, i));
  return rows.sort((a, b) => missing(values[a]) - missing(values[b]) ||
    (missing(values[a]) ? 0 : compare(values[a], values[b]) * (descending ? -1 : 1)) || a - b);
}

const wantedRows = target => inOrder(target, target.by, target.descending).filter(i => target.wanted[i]);

function decoyTable(target, columns, what) {
  const { content } = target;
  const style = column => column.number ? "n" : column.lane ? "lane" : column.name ? "name" : column.status ? "status" : "";
  const heads = columns.map(column => {
    const head = make("th", { scope: "col", class: style(column) });
    if (column.lane) { head.append(column.head); return head; }
    const button = make("button", { type: "button" }, column.head);
    if (target.by?.key === column.key) head.setAttribute("aria-sort", target.descending ? "descending" : "ascending");
    button.addEventListener("click", () => {
      const place = $("thead button", target.box).indexOf(button);
      target.descending = target.by?.key === column.key && !target.descending;
      target.by = column;
      fill(target, true);
      $("thead button", target.box)[place].focus();
    });
    head.append(button);
    return head;
  });
  const wanted = wantedRows(target), rows = target.all ? wanted : wanted.slice(0, ROWS);
  const body = make("tbody");
  for (const i of rows)
    body.append(make("tr", {}, ...columns.map(column => make("td", { class: style(column) }, column.cell ? column.cell(content, i) : column.value(content, i) ?? (column.name ? "" : DASH)))));
  const all = allModels(content), left = models(content, wanted), order = target.by ? `by ${target.by.head}` : data.order;
  const caption = `${what}${left < all ? `${left} of ${all}` : all} models of ${target.name}, ${order}`;
  const table = make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...heads)), body);
  return make("div", { class: "part" }, table);
}

// The decoys, then their interfaces, in one order; and a button where there are more.

function decoyTables(target) {
  const { content } = target, n = wantedRows(target).length, met = interfaces(content);
  const tables = [decoyTable(target, ownColumns(content).filter(column => column.head), "")];
  const some = content.N ? ` (${met.length} of ${content.N}, those predicted worst; all in interfaces.csv)` : "";
  if (met.length) tables.push(decoyTable(target, [RANK, { ...NAME, cell: null }, ...met], `Predicted DockQ of each interface by itself${some}: `));
  if (target.all || n <= ROWS) return tables;
  const rest = make("button", { type: "button", class: "more" }, `Show all ${models(content, wantedRows(target))} models`);
  rest.addEventListener("click", () => { target.all = true; fill(target, true); });
  return [...tables, rest];
}

// Filter, choice of a target, order, and the rest of a long list.

const FIRST = 25, ROWS = 200;
const targets = $(".target").map((node, i) => ({
  node, i, content: data.targets[i], name: node.dataset.name, box: node.querySelector(".decoys"),
  drawn: "", wanted: [], by: null, descending: false, all: false,
}));
const list = document.getElementById("targets");
const [filter, choice, order, least, likes, more, empty, count] =
  ["filter", "choice", "order", "least", "likes", "more", "empty", "count"].map(id => document.getElementById(id));
let everything = false;

function fill(target, again = false) {
  const state = target.wanted.join("");
  if (!target.node.open || target.drawn === state && !again) return;
  target.box.replaceChildren(...decoyTables(target));
  target.drawn = state;
}

// Which decoys of a target the filters leave: 1 or 0 each.

function wanted(target) {
  const query = filter.value.trim().toLowerCase(), t = target.content;
  const whole = !query || target.name.toLowerCase().includes(query);
  const fits = i => (whole || t.d[i].toLowerCase().includes(query)) &&
    (least.value === "0" || Number(t.P?.[i]) >= Number(least.value)) &&
    !(likes.value && t.x?.[i]) && !(likes.value === "t" && t.t?.[i]);
  return t.d.map((_, i) => Number((choice.value === "" || target.i === Number(choice.value)) && fits(i)));
}

function show() {
  for (const target of targets) target.wanted = wanted(target);
  const found = targets.filter(target => target.wanted.includes(1));
  const shown = new Set(everything ? found : found.slice(0, FIRST));
  for (const target of targets) {
    target.node.hidden = !shown.has(target);
    if (!shown.has(target)) continue;
    const see = target.node.querySelector(".see");
    if (!see.firstChild) see.append(strip(target.content));
    fill(target);
  }
  more.hidden = shown.size === found.length;
  more.textContent = `Show all ${found.length} targets`;
  empty.hidden = found.length > 0;
  const left = found.reduce((sum, target) => sum + models(target.content, wantedRows(target)), 0);
  count.textContent = `${left} of ${targets.reduce((sum, target) => sum + allModels(target.content), 0)} models, ${found.length} of ${targets.length} targets`;
}

// The CSV: the decoys that the filters leave, in the order of the page. A name that a spreadsheet would take for a
// formula has an apostrophe before it.

function csvText() {
  const found = targets.filter(target => target.wanted.includes(1));
  const keys = ["dataset", "target", ...new Set(found.flatMap(target => columnsOf(target.content)).map(column => column.key).filter(Boolean))];
  const formula = new RegExp(`^${data.formula}`);
  const quoted = value => {
    const text = value == null ? "" : typeof value === "string" && formula.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = found.flatMap(target => {
    const of = new Map(columnsOf(target.content).filter(column => column.key).map(column => [column.key, column]));
    return wantedRows(target).map(i => keys.map(key =>
      quoted(key === "dataset" ? target.content.set : key === "target" ? target.content.name : of.get(key)?.value(target.content, i))).join(","));
  });
  return [keys.map(quoted).join(","), ...lines, ""].join("\n");
}

function download() {
  const address = URL.createObjectURL(new Blob([csvText()], { type: "text/csv" }));
  make("a", { href: address, download: "decoys.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
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
  least.addEventListener("change", show);
  likes.addEventListener("change", show);
  document.getElementById("csv").addEventListener("click", download);
  more.addEventListener("click", () => { everything = true; show(); });
  document.getElementById("finder").hidden = false;
  for (const label of $(".of-many")) label.hidden = targets.length < 2;
  if (targets.length === 1) targets[0].node.open = true;
  show();
}
