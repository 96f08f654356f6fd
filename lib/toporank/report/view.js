// The answer of the chosen target, and its best decoys in three dimensions side by side. 3Dmol.js is unpacked when they
// first come into sight.

const articles = $(".answer"), which = document.getElementById("which"), view = document.getElementById("view");
const PARTNERS = data.partners, QUALITY = data.quality;
const PALE = "#c3ccd2";
const STEP = { left: [-15, "y"], right: [15, "y"], up: [-15, "x"], down: [15, "x"] };
const KEYS = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", "+": "in", "=": "in", "-": "out", 0: "whole" };
const colour = document.getElementById("colour");
const panes = view ? $(".pane", view).map(node => ({ node, select: node.querySelector("select"), canvas: node.querySelector(".canvas"), viewer: null, shown: null })) : [];
const seen = new IntersectionObserver(entries => { if (entries.some(entry => entry.isIntersecting)) choose(current); });
let current = 0, ready = null, why = "";

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), sign => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

function impossible() {
  if (typeof DecompressionStream === "undefined") return "This browser is too old to show structures";
  const canvas = document.createElement("canvas");
  return canvas.getContext("webgl2") || canvas.getContext("webgl") ? "" : "This browser has no WebGL, which showing structures needs";
}

function start() {
  ready ??= (async () => {
    const script = document.createElement("script");
    script.textContent = await unpacked(document.getElementById("viewer").textContent);
    document.head.append(script);
    for (const pane of panes) {
      pane.viewer = $3Dmol.createViewer(pane.canvas, { backgroundAlpha: 0, antialias: true });
      pane.canvas.addEventListener("wheel", event => { if (!event.ctrlKey) event.stopPropagation(); }, true);
    }
    panes[0].viewer.linkViewer(panes[1].viewer);
    panes[1].viewer.linkViewer(panes[0].viewer);
  })();
  return ready;
}

function mixed(hex, other, share) {
  const part = (text, k) => parseInt(text.slice(1 + 2 * k, 3 + 2 * k), 16);
  return `rgb(${[0, 1, 2].map(k => Math.round(part(hex, k) * (1 - share) + part(other, k) * share)).join(",")})`;
}

function graded(quality) {
  const place = Math.min(0.9999, Math.max(0, quality / 100)) * (QUALITY.length - 1), k = Math.floor(place);
  return mixed(QUALITY[k], QUALITY[k + 1], place - k);
}

// Residues in contact have their full colour, the others a pale one.

function painted(shown) {
  const partner = new Map(shown.p.flatMap((chains, k) => chains.map(chain => [chain, PARTNERS[k % PARTNERS.length]])));
  const byQuality = colour.value === "quality" && shown.q;
  return atom => {
    if (byQuality) return atom.b > 0 ? graded(atom.b) : PALE;
    const full = partner.get(atom.chain) ?? PALE;
    return atom.touching ? full : mixed(full, "#c9d0d4", 0.62);
  };
}

function paint(pane) {
  const { viewer, shown } = pane, tone = painted(shown);
  viewer.setStyle({}, { cartoon: { colorfunc: tone, thickness: 0.5 } });
  const sticks = { radius: 0.22, colorfunc: atom => ({ N: "#3b5bd6", O: "#d43d3d", S: "#c9a400" })[atom.elem] ?? tone(atom) };
  viewer.addStyle({ predicate: atom => atom.touching && !["N", "C", "O"].includes(atom.atom) }, { stick: sticks });
  viewer.render();
}

async function put(pane) {
  const shown = structures[current][pane.select.value];
  const text = await unpacked(shown.z);
  if (structures[current]?.[pane.select.value] !== shown) return; // another was chosen meanwhile
  const touching = new Set(shown.t), { viewer } = pane;
  pane.shown = shown;
  viewer.removeAllModels();
  const model = viewer.addModel(text, "cif");
  let nth = -1, last = "";
  for (const atom of model.selectedAtoms({})) {
    const residue = `${atom.chain} ${atom.resi} ${atom.icode}`;
    if (residue !== last) { nth += 1; last = residue; }
    atom.touching = touching.has(nth);
  }
  const target = data.targets[current], partners = shown.p.map(chains => chains.join("+"));
  pane.canvas.dataset.name = `${articles[current].dataset.target} ${target.d[shown.i]}`;
  pane.canvas.setAttribute("aria-label",
    `Structure of ${target.d[shown.i]}: partners ${partners.join(", ")}, ${shown.t.length} residues in contact. Arrow keys turn it, + and − zoom.`);
  paint(pane);
}

function legend() {
  const [{ shown }] = panes, list = document.getElementById("legend");
  const key = (tone, text) => { const item = make("li", { class: "key" }, text); item.style.setProperty("--tone", tone); return item; };
  colour.closest("label").hidden = !structures[current].some(each => each.q);
  if (colour.value === "quality" && shown.q)
    list.replaceChildren(make("li", {}, "predicted quality of interface residues: 0", make("span", { class: "scale", style: `background: linear-gradient(to right, ${QUALITY.join(", ")})` }), "1"), key(PALE, "no interface residue"));
  else
    list.replaceChildren(...shown.p.map((chains, k) => key(PARTNERS[k % PARTNERS.length], `chain${chains.length > 1 ? "s" : ""} ${chains.join(", ")}`)),
      make("li", {}, "full colour: in contact with another partner"));
}

function look(whole) {
  const [{ viewer }, other] = panes;
  viewer.zoomTo(whole ? {} : { predicate: atom => atom.touching });
  viewer.zoom(1.1);
  other.viewer.setView(viewer.getView());
}

async function showStructures(left, right) {
  const known = structures[current], missing = document.getElementById("no-view");
  view.hidden = !known;
  document.getElementById("answer").classList.toggle("drawn", Boolean(known));
  missing.hidden = Boolean(known);
  missing.textContent = "This page has no room for the structures of this target: top.pml and top.cxc beside it open them.";
  if (!known) return;
  const target = data.targets[current];
  panes.forEach((pane, k) => {
    pane.select.replaceChildren(...known.map((shown, n) => make("option", { value: n }, `${target.r?.[shown.i] ?? DASH}. ${target.d[shown.i]} (${fixed(target.p?.[shown.i])})`)));
    pane.select.value = Math.min([left, right][k], known.length - 1);
    pane.node.hidden = k === 1 && known.length === 1;
  });
  const chosen = current;
  await start();
  if (current === chosen) await Promise.all(panes.map(put));
  if (current !== chosen) return;
  for (const pane of panes) pane.viewer.resize();
  legend();
  look(true);
  view.dataset.drawn = current;
}

function choose(place, right = 1) {
  current = place;
  articles.forEach((article, k) => { article.hidden = k !== place; });
  if (which) which.value = place;
  if (!panes.length || why) return;
  seen.disconnect();
  return showStructures(0, right);
}

function act(name) {
  const [{ viewer }] = panes;
  if (name in STEP) viewer.rotate(...STEP[name]);
  else if (name === "in" || name === "out") viewer.zoom(name === "in" ? 1.2 : 1 / 1.2);
  else look(name === "whole");
}

document.addEventListener("view", event => {
  const right = structures[event.detail.target].findIndex(shown => shown.i === event.detail.decoy);
  choose(event.detail.target, right);
  document.getElementById("answer").scrollIntoView();
});
if (which) {
  document.getElementById("chooser").hidden = false;
  which.addEventListener("change", () => choose(Number(which.value)));
}
articles.forEach((article, k) => { article.hidden = k > 0; });
if (panes.length) {
  why = impossible();
  const missing = document.getElementById("no-view");
  missing.textContent = `${why}: open top.pml in PyMOL or top.cxc in ChimeraX, beside this page.`;
  missing.hidden = !why;
  if (!why) {
    view.hidden = false;
    document.getElementById("answer").classList.add("drawn");
    for (const pane of panes) {
      pane.select.addEventListener("change", () => put(pane));
      pane.node.querySelector(".save").addEventListener("click", () => save(`${pane.canvas.dataset.name}.png`, pane.viewer.pngURI()));
      pane.canvas.addEventListener("keydown", event => { if (KEYS[event.key]) { event.preventDefault(); act(KEYS[event.key]); } });
    }
    colour.addEventListener("change", () => { panes.forEach(paint); legend(); });
    for (const button of $("[data-act]", view)) button.addEventListener("click", () => act(button.dataset.act));
    seen.observe(view);
  }
}
