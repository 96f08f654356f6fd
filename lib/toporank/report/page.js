// The table of all targets: sorted, searched, filtered; a row opens into a panel with the models of its target.

const data = JSON.parse(document.getElementById("data").textContent);
const T = data.targets.values, M = data.models.values, N = T.target.length, DASH = "–";
const names = new Intl.Collator(undefined, { numeric: true });
const $ = (selector, root = document) => [...root.querySelectorAll(selector)];
const SIGNS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = text => String(text).replace(/[&<>"]/g, sign => SIGNS[sign]);
const wrapped = text => escaped(text).replace(/(--\w+)|([_+-])(?=[^_+-])/g, (_, option, sign) => option ? `<span class="option">${option}</span>` : `${sign}<wbr>`);
// Numbers as the terminal has them: a tie goes to the even digit.
const isTie = (value, digits) => Math.abs(value * 2 ** (digits + 1)) % 2 === 1;
function rounded(value, digits = 2) {
  const text = value.toFixed(digits);
  return isTie(value, digits) && text.at(-1) % 2 ? (value - 1e-9 * Math.sign(value)).toFixed(digits) : text;
}
const fixed = (value, digits) => value == null ? DASH : rounded(value, digits).replace("-", "−");
const percent = value => value == null ? DASH : `${rounded(100 * value, 0)} %`;
const counted = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
const listed = items => items.length > 1 ? `${items.slice(0, -1).join(", ")} and ${items.at(-1)}` : items.join("");

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

// Columns as they were declared: key, head, hint, shown (decimals or “percent”), page (“shown” or behind “more”), number.
// What a cell shows beyond its value, by key; its class; and columns that a narrow window leaves out.
const KINDS = { target: "name", decoy: "name", best: "name", verdict: "verdict", dockq: "lanes", caveats: "words", notes: "words", reason: "words" };
const NARROW = new Set(["p_acceptable", "best", "n_models", "iptm", "n_interface_residues", "interface_plddt", "predictor_rank", "predictor_score"]);
const shownValue = ({ shown, number }, value) => !number ? wrapped(value ?? "") : shown === "percent" ? percent(value) : fixed(value, shown);

function columnsOf(declared, cells, further = []) {
  const columns = [...declared, ...further], at = place => columns.filter(({ page }) => page === place);
  return [...at("shown"), ...at("more")].map(column => ({
    ...column,
    cell: cells[column.key] ?? ((values, i) => shownValue(column, values[column.key]?.[i])),
    classes: [KINDS[column.key] ?? (column.number && "n"), column.page === "more" && "further", NARROW.has(column.key) && "narrow"].filter(Boolean).join(" "),
  }));
}

// The first lines of a cell; the row opens into all of it.
const clamped = cell => { const text = (cell ?? "").replaceAll(data.between, ". "); return `<span class="clamp" title="${escaped(text)}">${wrapped(text)}</span>`; };

// Whether the best model binds as that which its predictor ranks first, where this is another one.
function otherFirst(i) {
  const between = T.dockq_between?.[i];
  if (between == null) return "";
  const whose = T.predictor_order?.[i] === data.derived ? `By ${M[i].predictor_measure[0]} the` : "The predictor's";
  const title = `${whose} first is ${T.predictor_first[i]}: DockQ between the two ${fixed(between)}`;
  return ` <span class="note" title="${escaped(title)}">${between < data.thresholds[1] ? "differs" : "alike"}</span>`;
}

const COLUMNS = columnsOf(data.targets.columns, {
  target: (_, i) => `<button type="button" class="open" aria-expanded="false">${wrapped(T.target[i])}</button>`,
  verdict: (_, i) => verdictCell(T.verdict[i]),
  dockq: (_, i) => lane(T, i),
  predictor_rank: (_, i) => T.predictor_rank[i] == null ? DASH : `${T.predictor_rank[i]}${otherFirst(i)}`,
  n_models: (_, i) => T.n_scored?.[i] === T.n_models[i] ? T.n_models[i] : `${T.n_scored?.[i] ?? 0} of ${T.n_models[i]}`,
  best: (_, i) => clamped(T.best?.[i]),
  caveats: (_, i) => clamped(T.caveats?.[i] || data.advice[T.verdict?.[i]]),
  notes: (_, i) => clamped(T.notes?.[i]),
  p_interact: (_, i) => T.p_interact[i] == null ? `<span class="note">not measured</span>` : percent(T.p_interact[i]),
});
const ORDERS = { verdict: i => data.verdicts.indexOf(T.verdict[i]) };

const table = document.getElementById("targets"), body = table.tBodies[0];
const find = document.getElementById("find"), only = document.getElementById("only"), protein = document.getElementById("protein");
const rows = [], state = { by: null, descending: false, open: -1, model: 0, pair: "" };  // rows: made when they first come near the window
let order = T.target.map((_, i) => i), matching = order, drawn = 0;
const searched = Array.from({ length: N }, (_, i) =>
  [T.target[i], T.best?.[i], T.verdict?.[i], T.caveats?.[i], T.notes?.[i], T.partners?.[i], ...M[i].decoy].join("\n").toLowerCase());

const MANY = 200;  // rows from which columns have fixed widths, so that filtering stays quick
const BATCH = 60;  // rows that are drawn at once; the next ones follow when the reader comes near their end

function drawHead() {
  table.classList.toggle("many", N > MANY);
  const heads = COLUMNS.map(column => {
    const button = make("button", { type: "button" }, column.head);
    if (column.hint) button.title = column.hint;
    const head = make("th", { scope: "col", class: column.classes }, button);
    button.addEventListener("click", () => sortBy(column));
    column.node = head;
    return head;
  });
  table.tHead.replaceChildren(make("tr", {}, ...heads));
}

const TAGS = COLUMNS.map(({ classes }) => `<td class="${classes}">`);
const rowText = i => `<tr class="row" data-i="${i}">${COLUMNS.map((column, k) => TAGS[k] + column.cell(T, i)).join("</td>")}</td></tr>`;

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
  if (panel && rows[state.open]?.parentNode) rows[state.open].after(panel);
}

function drawFurther() {
  while (drawn < matching.length && table.getBoundingClientRect().bottom < 2 * innerHeight) draw(drawn + BATCH);
}

function sortBy(column) {
  const again = state.by === column;
  state.descending = again ? !state.descending : column.number;
  state.by = column;
  for (const { node } of COLUMNS) node.removeAttribute("aria-sort");
  column.node.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
  const value = ORDERS[column.key] ?? (i => T[column.key][i]), missing = v => v == null || v === "" ? 1 : 0;
  const sign = state.descending ? -1 : 1;
  const compare = column.number || ORDERS[column.key] ? (a, b) => a - b : (a, b) => names.compare(a, b);
  order = T.target.map((_, i) => i).sort((x, y) => {
    const a = value(x), b = value(y);
    return missing(a) - missing(b) || (missing(a) ? 0 : sign * compare(a, b)) || x - y;
  });
  filter();
}

// Complexes at the end of the calibration share an interval; a sentence says what separates them.
function sharing() {
  const shared = matching.filter(i => T.verdict[i] === data.verdicts[0] && T.dockq_high?.[i] === T.dockq_high?.[matching[0]] && T.dockq_low?.[i] === T.dockq_low?.[matching[0]]);
  return !state.by && shared.length > 2 ? ` The first ${shared.length} share the best interval that TopoRank gives; ${T.iptm?.[matching[0]] == null ? "DockQ tells" : "DockQ and ipTM tell"} them apart.` : "";
}

function sortedInWords() {
  if (!state.by) return "the most promising first";
  const { head, number } = state.by, from = number ? ["lowest", "highest"] : ["first", "last"];
  return `sorted by ${head}, the ${from[+state.descending]} first`;
}

function filter() {
  const query = find.value.trim().toLowerCase(), having = protein.value && Number(protein.value);
  matching = order.filter(i => (!query || searched[i].includes(query)) && (!only.value || T.verdict[i] === only.value) && (having === "" || data.proteins.of[i].includes(having)));
  if (N > 1 && !matching.includes(state.open)) close();
  drawn = 0;
  draw(Math.max(BATCH, matching.indexOf(state.open) + 1));
  const with_ = having === "" ? "" : ` with ${data.proteins.names[having]}`;
  document.getElementById("count").textContent = N > 1 ? `${matching.length.toLocaleString("en")} of ${N.toLocaleString("en")} complexes${with_}, ${sortedInWords()}. A row opens into its models.${sharing()}` : "";
}

function close() {
  if (state.open < 0) return;
  const row = rows[state.open];
  row?.classList.remove("opened");
  row?.querySelector(".open").setAttribute("aria-expanded", "false");
  document.getElementById("panel")?.remove();
  state.open = -1;
}

const nVisible = () => COLUMNS.filter(({ page }) => page !== "more" || document.querySelector("main").classList.contains("all")).length;

// The panel is as wide as what is in sight, whatever the table is.
function fit() {
  const inside = document.querySelector("tr#panel .inside");
  if (inside) inside.style.width = `${table.parentNode.clientWidth}px`;
}

function open(i, model = 0, pair = "") {
  const again = state.open === i;
  close();
  if (again) return;
  if (N === 1) document.getElementById("single").replaceChildren(make("div", { id: "panel" }, panelOf(i)));
  else {
    if (matching.indexOf(i) >= drawn) draw(matching.indexOf(i) + 1);
    const [row] = rowsOf([i]);
    row.classList.add("opened");
    row.querySelector(".open").setAttribute("aria-expanded", "true");
    row.after(make("tr", { class: "panel", id: "panel" }, make("td", { colspan: nVisible() }, panelOf(i))));
  }
  state.open = i;
  fit();
  select(model, false, pair);
}

// The address of a model is #target/model, that of one of its interfaces #target/model/pair.
function addressed() {
  const [target, decoy, pair] = location.hash.slice(1).split("/").map(decodeURIComponent), i = T.target.indexOf(target);
  return i < 0 ? null : { i, k: Math.max(0, M[i].decoy.indexOf(decoy)), pair };
}

// Each selection is a step of the history, so that Back shows the one before.
function setAddress(step = "pushState") {
  const parts = state.open < 0 ? [] : [T.target[state.open], M[state.open].decoy[state.model], state.pair].filter(Boolean);
  const address = `#${parts.map(part => encodeURIComponent(part).replaceAll("%3A", ":")).join("/")}`;
  if (address === (location.hash || "#")) return;
  try { history[step](null, "", address); } catch { /* a notebook has no address */ }
}

// The page without an address shows what it showed at first; with an empty one, no row is open.
function followAddress() {
  const place = addressed(), { i, k, pair } = place ?? (location.href.endsWith("#") ? { i: -1 } : { i: data.open, k: data.model });
  if (i < 0) return close();
  goTo(i, k, pair);
  if (place || location.hash) setAddress("replaceState");  // a copy is its original; for a name that nothing has, what is shown
}

// Open a row wherever it is, and select a model.
function goTo(i, k, pair) {
  if (state.open === i) return select(k, false, pair);
  if (!matching.includes(i)) {
    find.value = only.value = protein.value = "";
    filter();
  }
  open(i, k, pair);
  rows[i]?.scrollIntoView();
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

// Into the clipboard, or, where a browser does not allow that, into a field from which it can be taken.
async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    const field = make("textarea", { readonly: "", rows: 5, "aria-label": button.textContent });
    field.value = text;
    button.after(field);
    field.select();
  }
}

// The map of the appendix is drawn when it is opened.
function drawMap() {
  const box = document.getElementById("map"), { x, y, t, n, v } = data.map;
  if (box.childElementCount) return;
  const place = t.map((target, k) => M[target].decoy.indexOf(n[k]));
  const points = x.map((across, k) => {
    const columns = M[t[k]], i = place[k];
    return `<circle class="${tone(columns.verdict?.[i])}" cx="${20 + 0.7 * across}" cy="${20 + 0.7 * (1000 - y[k])}" r="${N > 50 ? 3 : 5}" fill="var(--tone, var(--bar))" fill-opacity=".7"><title>${escaped(T.target[t[k]])} ${escaped(n[k])}: DockQ ${fixed(columns.dockq?.[i])}</title></circle>`;
  });
  const top = 20 + 0.7 * (1000 - Math.max(...y));
  box.innerHTML = `<svg role="img" viewBox="0 ${top - 20} 740 ${760 - top}" aria-label="Map of ${x.length} models along two principal axes, ${v[0]} and ${v[1]} % of the variance">${points.join("")}</svg>`;
}

// Baits, each with its pairs, so few that every pair of a protein with several of them has its place: of a protein and its partner.
function pairsOfProteins() {
  let pairs = data.proteins.of.map((of, i) => ({ i, of: of.length === 1 ? [of[0], of[0]] : of })).filter(({ of }) => of.length === 2);
  const baits = [];
  for (;;) {
    const counts = new Map();
    for (const { of } of pairs) for (const place of new Set(of)) counts.set(place, (counts.get(place) ?? 0) + 1);
    const [bait, n] = [...counts].reduce((most, one) => one[1] > most[1] ? one : most, [-1, 1]);
    if (n < 2) return baits;
    const with_ = new Map();
    for (const { i, of } of pairs) if (of.includes(bait)) with_.set(of[0] === bait ? of[1] : of[0], with_.get(of[0] === bait ? of[1] : of[0]) ?? i);
    baits.push({ bait, with_ });
    pairs = pairs.filter(({ of }) => !of.includes(bait));
  }
}

function drawPairs(baits) {
  const box = document.querySelector("#pairs .scroll"), name = place => wrapped(data.proteins.names[place]);
  const byName = (a, b) => names.compare(data.proteins.names[a], data.proteins.names[b]);
  const columns = [...new Set(baits.flatMap(({ with_ }) => [...with_.keys()]))].sort(byName);
  baits.sort((a, b) => byName(a.bait, b.bait));
  const cell = i => i == null ? "<td></td>" : `<td class="n"><button type="button" class="link" data-i="${i}" title="${escaped(T.target[i])}: ${T.verdict?.[i] || "not scored"}${T.p_interact?.[i] == null ? "" : `, interact ${percent(T.p_interact[i])}`}"><span class="verdict ${tone(T.verdict?.[i])}">${fixed(T.dockq?.[i])}</span></button></td>`;
  box.innerHTML = `<table class="tight"><thead><tr><td></td>${columns.map(place => `<th scope="col" class="n">${name(place)}</th>`).join("")}</tr></thead>
    <tbody>${baits.map(({ bait, with_ }) => `<tr><th scope="row">${name(bait)}</th>${columns.map(place => cell(with_.get(place))).join("")}</tr>`).join("")}</tbody></table>`;
  box.onclick = ({ target }) => {
    const i = target.closest("button")?.dataset.i;
    if (i == null) return;
    goTo(+i, 0);
    setAddress();
  };
}

function start() {
  for (const node of $("[data-wrap]")) node.innerHTML = wrapped(node.textContent);
  if (N > 1) {
    drawHead();
    for (const verdict of data.verdicts) if (T.verdict?.includes(verdict)) only.append(make("option", { value: verdict }, verdict));
    const shared = data.proteins.names.map((name, place) => ({ name, place, n: data.proteins.of.filter(of => of.includes(place)).length })).filter(({ n }) => n > 1 && n < N);
    for (const { name, place, n } of shared) protein.append(make("option", { value: place }, `${name} (${n})`));
    protein.parentNode.hidden = !shared.length;
    const matrix = document.getElementById("pairs"), baits = pairsOfProteins();
    matrix.hidden = baits.length < 2;
    matrix.addEventListener("toggle", () => matrix.open && drawPairs(baits));
    document.getElementById("all").hidden = false;
    find.addEventListener("input", filter);
    only.addEventListener("change", filter);
    protein.addEventListener("change", filter);
    document.getElementById("csv").addEventListener("click", saveCsv);
    const more = document.getElementById("more");
    more.hidden = !COLUMNS.some(({ page }) => page === "more");
    more.addEventListener("click", () => {
      const all = document.querySelector("main").classList.toggle("all");
      more.setAttribute("aria-pressed", all);
      more.textContent = all ? "Fewer columns" : "More columns";
      document.querySelector("tr#panel > td")?.setAttribute("colspan", nVisible());
    });
    body.addEventListener("click", event => {
      const row = event.target.closest("tr.row");
      if (!row) return;
      open(+row.dataset.i);
      setAddress();
    });
    filter();
    addEventListener("resize", fit);
    addEventListener("scroll", drawFurther, { passive: true });
    addEventListener("resize", drawFurther);
    addEventListener("beforeprint", () => draw(N));
  }
  const { i, k, pair } = addressed() ?? { i: data.open, k: data.model };
  if (N && i >= 0) open(i, k, pair);
  addEventListener("hashchange", followAddress);
  document.getElementById("methods").addEventListener("click", event => copy(event.target, data.methods));
  const map = document.getElementById("map-of-models");
  if (data.map.x) map.addEventListener("toggle", () => map.open && drawMap());
  else map.remove();
}
