// The table of all targets: sorted, searched, more columns; a row opens into a panel with the models of its target.

const data = JSON.parse(document.getElementById("data").textContent);
const T = data.targets, N = T.target.length, DASH = "–", ZERO_WIDTH = "\u200b";
const names = new Intl.Collator(undefined, { numeric: true });
const $ = (selector, root = document) => [...root.querySelectorAll(selector)];
const SIGNS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = text => String(text).replace(/[&<>"]/g, sign => SIGNS[sign]);
const wrapped = text => escaped(text).replace(/([_+-])(?=[^_+-])/g, `$1<wbr>`);
const fixed = (value, digits = 2) => value == null ? DASH : value.toFixed(digits).replace("-", "−");
const percent = value => value == null ? DASH : `${Math.round(100 * value)} %`;

function make(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

const tone = verdict => { const place = data.verdicts.indexOf(verdict); return place < 0 ? "" : `v${place}`; };
const verdictCell = verdict => verdict ? `<span class="verdict ${tone(verdict)}">${verdict}</span>` : "not scored";

// DockQ as a point on 0 to 1 with its interval, one element, painted by the style; ticks are the CAPRI thresholds.
function axis(columns, i) {
  const value = columns.dockq?.[i], low = columns.dockq_low?.[i] ?? value, high = columns.dockq_high?.[i] ?? value;
  if (value == null) return "";
  return `<span class="axis ${tone(columns.verdict?.[i])}" style="--d:${value};--l:${low};--h:${high}" aria-hidden="true"></span>`;
}
function lane(columns, i) {
  const value = columns.dockq?.[i], low = columns.dockq_low?.[i];
  if (value == null) return DASH;
  const words = low == null ? "" : ` title="${fixed(low)} to ${fixed(columns.dockq_high[i])} in 80 % of cases"`;
  return `<span class="lane"${words}><b>${fixed(value)}</b>${axis(columns, i)}</span>`;
}

// Columns come from the tables' declarations (data.columns): key, head, hint, decimals or "percent" (shown), page, number.
// Only what is more than a text or a number is said here: cell, class (kind), order, whether a narrow window leaves it out.
const words = value => wrapped(value ?? "");
function shownAs({ number, shown }, value) {
  if (!number) return words(value);
  return shown === "percent" ? percent(value) : fixed(value, shown);
}
function columnsOf(declared, special) {
  const columns = declared.filter(({ page }) => page !== "sent").map(column =>
    ({ kind: column.number ? "n" : "", further: column.page === "more", ...column, ...special[column.key] }));
  return [...columns.filter(({ further }) => !further), ...columns.filter(({ further }) => further)];
}
const COLUMNS = columnsOf(data.columns.targets, {
  target: { cell: i => `<button type="button" class="open" aria-expanded="false">${wrapped(T.target[i])}</button>`, kind: "name" },
  verdict: { cell: i => verdictCell(T.verdict[i]), kind: "verdict", order: i => data.verdicts.indexOf(T.verdict[i]) },
  dockq: { cell: i => lane(T, i), kind: "lanes" },
  best: { kind: "name", narrow: true },
  n_models: { cell: i => T.n_scored[i] === T.n_models[i] ? T.n_models[i] : `${T.n_scored[i] ?? 0} of ${T.n_models[i]}`, narrow: true },
  predictor_rank: { narrow: true }, iptm: { narrow: true }, n_interface_residues: { narrow: true },
  caveats: { kind: "words" }, notes: { kind: "words" },
});

const table = document.getElementById("targets"), body = table.tBodies[0];
const find = document.getElementById("find"), only = document.getElementById("only");
const rows = [], state = { by: null, descending: false, open: -1 };  // rows: made when they first come near the window
let order = T.target.map((_, i) => i), matching = order, drawn = 0;
const classes = ({ kind, further, narrow }) => [kind, further && "further", narrow && "narrow"].filter(Boolean).join(" ");
const searched = Array.from({ length: N }, (_, i) =>
  [T.target[i], T.best?.[i], T.verdict?.[i], T.caveats?.[i], T.notes?.[i], T.partners?.[i], ...data.models[i].decoy].join("\n").toLowerCase());

const MANY = 200;  // rows from which columns have fixed widths, so that filtering stays quick
const BATCH = 60;  // rows that are drawn at once; the next ones follow when the reader comes near their end

function drawHead() {
  table.classList.toggle("many", N > MANY);
  const heads = COLUMNS.map(column => {
    const button = make("button", { type: "button" }, column.head);
    if (column.hint) button.title = column.hint;
    const head = make("th", { scope: "col", class: classes(column) }, button);
    button.addEventListener("click", () => sortBy(column));
    column.node = head;
    return head;
  });
  table.tHead.replaceChildren(make("tr", {}, ...heads));
}

const TAGS = COLUMNS.map(column => `<td class="${classes(column)}">`);
const rowText = i => `<tr class="row" data-i="${i}">${COLUMNS.map((column, k) => TAGS[k] + (column.cell?.(i) ?? shownAs(column, T[column.key][i]))).join("</td>")}</td></tr>`;

function rowsOf(targets) {
  const missing = targets.filter(i => !rows[i]), template = make("template");
  template.innerHTML = missing.map(rowText).join("");
  missing.forEach((i, k) => { rows[i] = template.content.children[k]; });
  return targets.map(i => rows[i]);
}

// Draw the matching rows up to a number; the open panel stays below its row.
function draw(most) {
  const start = most > drawn ? drawn : 0, panel = document.getElementById("panel");
  if (!start) body.replaceChildren();
  body.append(...rowsOf(matching.slice(start, most)));
  drawn = Math.min(most, matching.length);
  if (panel && rows[state.open].parentNode) rows[state.open].after(panel);
}

function drawFurther() {
  while (drawn < matching.length && table.getBoundingClientRect().bottom < 2 * innerHeight) draw(drawn + BATCH);
}

function sortBy(column) {
  const again = state.by === column;
  state.descending = again ? !state.descending : Boolean(column.number);
  state.by = column;
  for (const { node } of COLUMNS) node.removeAttribute("aria-sort");
  column.node.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
  const value = column.order ?? (i => T[column.key][i]), missing = v => v == null || v === "" ? 1 : 0;
  const sign = state.descending ? -1 : 1;
  const compare = column.number || column.order ? (a, b) => a - b : (a, b) => names.compare(a, b);
  order = T.target.map((_, i) => i).sort((x, y) => {
    const a = value(x), b = value(y);
    return missing(a) - missing(b) || (missing(a) ? 0 : sign * compare(a, b)) || x - y;
  });
  close();
  filter();
}

function filter() {
  const query = find.value.trim().toLowerCase();
  matching = order.filter(i => (!query || searched[i].includes(query)) && (!only.value || T.verdict[i] === only.value));
  if (!matching.includes(state.open)) close();
  drawn = 0;
  draw(Math.max(BATCH, matching.indexOf(state.open) + 1));
  const n = matching.length;
  document.getElementById("count").textContent = N > 1 ? `${n.toLocaleString("en")} of ${N.toLocaleString("en")} targets, the most promising first; open a row to see its models.` : "";
}

function close() {
  if (state.open < 0) return;
  const row = rows[state.open];
  row.classList.remove("opened");
  row.querySelector(".open").setAttribute("aria-expanded", "false");
  document.getElementById("panel")?.remove();
  state.open = -1;
}

const nVisible = () => COLUMNS.filter(({ further }) => !further || document.querySelector("main").classList.contains("all")).length;

// The panel is as wide as what is in sight, whatever the table is.
function fit() {
  const inside = document.querySelector("#panel .inside");
  if (inside) inside.style.width = `${table.parentNode.clientWidth}px`;
}

function open(i) {
  const again = state.open === i;
  close();
  if (again) return;
  if (matching.indexOf(i) >= drawn) draw(matching.indexOf(i) + 1);
  const [row] = rowsOf([i]);
  row.classList.add("opened");
  row.querySelector(".open").setAttribute("aria-expanded", "true");
  const cell = make("td", { colspan: nVisible() }, panelOf(i));
  row.after(make("tr", { class: "panel", id: "panel" }, cell));
  state.open = i;
  fit();
  showStructure(i);
}

function quotedCell(value) {
  let text = value == null ? "" : String(value);
  if (typeof value === "string" && new RegExp(`^(?:${data.formula})`).test(text)) text = `'${text}`;
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function saveCsv() {
  const keys = Object.keys(T), lines = [keys.join(",")];
  for (const i of matching) lines.push(keys.map(key => quotedCell(T[key][i])).join(","));
  download("targets.csv", `data:text/csv;charset=utf-8,${encodeURIComponent(lines.join("\n") + "\n")}`);
}

function download(name, address) {
  make("a", { href: address, download: name.replace(/[^\p{L}\p{N}.+-]+/gu, "_") }).click();
}

// The map of the appendix is drawn when it is opened.
function drawMap() {
  const box = document.getElementById("map"), { x, y, t, n, v } = data.map;
  if (box.childElementCount) return;
  const place = t.map((target, k) => data.models[target].decoy.indexOf(n[k]));
  const points = x.map((across, k) => {
    const columns = data.models[t[k]], i = place[k];
    return `<circle class="${tone(columns.verdict?.[i])}" cx="${20 + 0.7 * across}" cy="${20 + 0.7 * (1000 - y[k])}" r="${N > 50 ? 3 : 5}" fill="var(--tone, var(--bar))" fill-opacity=".7"><title>${escaped(T.target[t[k]])} ${escaped(n[k])}: DockQ ${fixed(columns.dockq?.[i])}</title></circle>`;
  });
  const top = 20 + 0.7 * (1000 - Math.max(...y));
  box.innerHTML = `<svg role="img" viewBox="0 ${top - 20} 740 ${760 - top}" aria-label="Map of ${x.length} models along two principal axes, ${v[0]} and ${v[1]} % of the variance">${points.join("")}</svg>`;
}

function start() {
  for (const node of $("[data-wrap]")) node.innerHTML = wrapped(node.textContent);
  drawHead();
  for (const verdict of data.verdicts) if (T.verdict?.includes(verdict)) only.append(make("option", { value: verdict }, verdict));
  document.getElementById("tools").hidden = false;
  if (N === 1) for (const node of [find.parentNode, only.parentNode]) node.hidden = true;
  find.addEventListener("input", filter);
  only.addEventListener("change", filter);
  document.getElementById("csv").addEventListener("click", saveCsv);
  const more = document.getElementById("more");
  more.hidden = !COLUMNS.some(({ further }) => further);
  more.addEventListener("click", () => {
    const all = document.querySelector("main").classList.toggle("all");
    more.setAttribute("aria-pressed", all);
    more.textContent = all ? "Fewer columns" : "More columns";
    document.querySelector("#panel > td")?.setAttribute("colspan", nVisible());
  });
  body.addEventListener("click", event => {
    const row = event.target.closest("tr.row");
    if (row) open(+row.dataset.i);
  });
  filter();
  addEventListener("resize", fit);
  addEventListener("scroll", drawFurther, { passive: true });
  addEventListener("resize", drawFurther);
  addEventListener("beforeprint", () => draw(N));
  if (N) open(data.open);
  const map = document.getElementById("map-of-models");
  if (data.map.x) map.addEventListener("toggle", () => map.open && drawMap());
  else map.remove();
}
