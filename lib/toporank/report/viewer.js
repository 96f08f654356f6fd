// The chosen model of the open target in three dimensions, with its contact map and PAE. 3Dmol.js is unpacked once.

const PAE = ["#0b4f5c", "#3f8a80", "#a9cfae", "#f0f1da", "#ffffff"], PALE = "#c3ccd2";
const QUALITY = data.colours.quality, PARTNERS = data.colours.partner;
const WAYS = { partner: "partner", quality: "predicted quality", plddt: "pLDDT" };
const KEYS = { ArrowLeft: [-15, "y"], ArrowRight: [15, "y"], ArrowUp: [-15, "x"], ArrowDown: [15, "x"] };
const stage = make("div", { class: "stage" });
let viewer = null, ready = null, way = "partner", shown = null, whole = false;

const part = (hex, k) => parseInt(hex.slice(1 + 2 * k, 3 + 2 * k), 16);
function ramp(colours, share) {
  const place = Math.min(0.9999, Math.max(0, share)) * (colours.length - 1), k = Math.floor(place), rest = place - k;
  return [0, 1, 2].map(channel => Math.round(part(colours[k], channel) * (1 - rest) + part(colours[k + 1], channel) * rest));
}
const graded = percent => `rgb(${ramp(QUALITY, percent / 100)})`;
const paler = hex => `rgb(${ramp([hex, "#c9d0d4"], 0.62)})`;

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), sign => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

function impossible() {
  if (typeof DecompressionStream === "undefined") return "This browser is too old to show structures";
  const canvas = document.createElement("canvas");
  return canvas.getContext("webgl2") || canvas.getContext("webgl") ? "" : "This browser has no WebGL, which showing structures needs";
}

function load() {
  ready ??= (async () => {
    const script = document.createElement("script");
    script.textContent = await unpacked(document.getElementById("viewer-packed").textContent);
    document.head.append(script);
  })();
  return ready;
}

const numbers = text => text ? text.split(" ").map(value => value === "-" ? null : Number(value)) : [];
const residueName = atom => `${atom.resn} ${atom.resi}${(atom.icode ?? "").trim()} of chain ${atom.chain}`;

function painted() {
  const partner = new Map(shown.p.flatMap((chains, k) => chains.map(chain => [chain, PARTNERS[k % PARTNERS.length]])));
  if (way === "quality") return atom => atom.quality == null ? PALE : graded(atom.quality);
  if (way === "plddt") return atom => atom.plddt == null ? PALE : data.colours.plddt.find(([least]) => atom.plddt >= least)[1];
  return atom => { const full = partner.get(atom.chain) ?? PALE; return atom.touching ? full : paler(full); };
}

function paint() {
  const colour = painted();
  viewer.setStyle({}, { cartoon: { colorfunc: colour, thickness: 0.5 } });
  const sticks = { radius: 0.2, colorfunc: atom => ({ N: "#3b5bd6", O: "#d43d3d", S: "#c9a400" })[atom.elem] ?? colour(atom) };
  viewer.addStyle({ predicate: atom => atom.touching && !["N", "C", "O"].includes(atom.atom) }, { stick: sticks });
  viewer.render();
  legend();
}

function legend() {
  const key = (colour, text) => { const item = make("li", { class: "tone" }, text); item.style.setProperty("--tone", colour); return item; };
  const keys = {
    partner: () => [...shown.p.map((chains, k) => key(PARTNERS[k % PARTNERS.length], `chain${chains.length > 1 ? "s" : ""} ${chains.join(", ")}`)), make("li", {}, "full colour: in contact")],
    quality: () => [0, 33, 67, 100].map(value => key(graded(value), (value / 100).toFixed(2))).concat(key(PALE, "no interface residue")),
    plddt: () => data.colours.plddt.map(([least, colour], k) => key(colour, ["pLDDT over 90, very high", "70 to 90, confident", "50 to 70, low", "below 50, very low"][k])),
  };
  document.getElementById("legend")?.replaceChildren(...keys[way](), make("li", {}, "drag or arrow keys turn, + and − zoom"));
}

function look() {
  viewer.zoomTo(whole ? {} : { predicate: atom => atom.touching });
  viewer.zoom(whole ? 1 : 0.92);
  viewer.render();
}

async function put(i, n, keepView) {
  const structures = data.structures[T.target[i]], model = structures[n], text = await unpacked(model.z);
  if (state.open !== i) return;
  shown = model;
  const touching = new Set(model.t), quality = numbers(model.q), plddt = numbers(model.b);
  const view = keepView ? viewer.getView() : null;
  viewer.removeAllModels();
  const atoms = viewer.addModel(text, "cif").selectedAtoms({});
  let nth = -1, last = "";
  for (const atom of atoms) {
    const residue = `${atom.chain} ${atom.resi} ${atom.icode}`;
    if (residue !== last) { nth += 1; last = residue; }
    Object.assign(atom, { touching: touching.has(nth), quality: quality[nth] ?? null, plddt: plddt[nth] ?? null });
  }
  const select = document.getElementById("colour"), known = { partner: true, quality: quality.length, plddt: plddt.length };
  if (!known[way]) way = "partner";
  select.replaceChildren(...Object.keys(WAYS).filter(key => known[key]).map(key => make("option", { value: key }, WAYS[key])));
  select.value = way;
  const columns = data.models[i], partners = model.p.map(chains => chains.join("+")).join(" and ");
  document.getElementById("canvas").setAttribute("aria-label", `Structure of ${columns.decoy[model.i]}: ${partners}, ${model.t.length} residues in contact`);
  hover();
  paint();
  if (view) { viewer.setView(view); viewer.render(); } else look();
  document.getElementById("canvas").dataset.drawn = columns.decoy[model.i];
  weakest(atoms);
}

// Name, pLDDT and quality of the residue under the pointer.
function hover() {
  const box = document.getElementById("canvas");
  viewer.setHoverDuration?.(60);
  viewer.setHoverable({}, true, atom => {
    const further = [atom.plddt == null ? "" : `pLDDT ${atom.plddt}`, atom.quality == null ? "" : `quality ${(atom.quality / 100).toFixed(2)}`].filter(Boolean);
    box.querySelector(".hover")?.remove();
    box.append(make("span", { class: "hover" }, [residueName(atom), ...further].join(", ")));
  }, () => box.querySelector(".hover")?.remove());
}

function weakest(atoms) {
  const known = new Map();
  for (const atom of atoms) if (atom.quality != null) known.set(residueName(atom), atom.quality);
  const least = [...known].sort(([, a], [, b]) => a - b).slice(0, 5).map(([name, quality]) => `${name} (${(quality / 100).toFixed(2)})`);
  const line = document.getElementById("weak");
  if (line && least.length) line.textContent = `Least certain interface residues: ${least.join(", ")}; all are in residues.csv.`;
}

function pictures(i, place) {
  const target = T.target[i], model = data.structures[target]?.find(each => each.i === place);
  const box = document.getElementById("pictures"), pae = data.pae[target]?.[place], maps = model?.c ?? [];
  const figures = maps.length ? [contactMap(maps[0])] : [];
  if (maps.length > 1) {
    const choice = make("select", { "aria-label": "Interface of the contact map" }, ...maps.map(({ name }, k) => make("option", { value: k }, name)));
    choice.addEventListener("change", () => box.querySelector("figure").replaceWith(contactMap(maps[choice.value])));
    figures.unshift(choice);
  }
  if (pae) figures.push(paePicture(pae, data.models[i].decoy[place]));
  box.replaceChildren(...figures);
}

async function showStructure(i) {
  const structures = data.structures[T.target[i]], select = document.getElementById("shown");
  if (!structures || !select) return;
  const m = data.models[i];
  select.replaceChildren(...structures.map((each, n) => make("option", { value: n }, `${m.rank[each.i]}. ${m.decoy[each.i]} – DockQ ${fixed(m.dockq[each.i])}, ${m.verdict[each.i]}`)));
  pictures(i, structures[0].i);
  const box = document.getElementById("canvas"), why = impossible();
  if (why) {
    box.replaceWith(make("p", { class: "caution" }, `${why}: open top.pml in PyMOL or top.cxc in ChimeraX, beside this page.`));
    for (const control of [document.getElementById("colour").parentElement, document.getElementById("interface"), document.getElementById("save")]) control.remove();
    select.addEventListener("change", () => pictures(i, structures[select.value].i));
    return;
  }
  await new Promise(done => requestAnimationFrame(() => setTimeout(done)));  // the table is painted first
  await load();
  if (state.open !== i) return;
  box.append(stage);  // one drawing surface for all targets: browsers allow few
  if (!viewer) {
    viewer = $3Dmol.createViewer(stage, { backgroundColor: "white", antialias: true });
    stage.addEventListener("wheel", event => { if (!event.ctrlKey) event.stopPropagation(); }, true);
  }
  viewer.resize();
  box.addEventListener("keydown", event => {
    if (KEYS[event.key]) viewer.rotate(...KEYS[event.key]);
    else if ("+=-".includes(event.key)) viewer.zoom(event.key === "-" ? 1 / 1.2 : 1.2);
    else return;
    event.preventDefault();
  });
  select.addEventListener("change", () => { put(i, Number(select.value), true); pictures(i, structures[select.value].i); });
  document.getElementById("colour").addEventListener("change", event => { way = event.target.value; paint(); });
  const near = document.getElementById("interface");
  near.setAttribute("aria-pressed", !whole);
  near.addEventListener("click", () => { whole = !whole; near.setAttribute("aria-pressed", !whole); look(); });
  document.getElementById("save").addEventListener("click", () => download(`${T.target[i]} ${box.dataset.drawn}.png`, viewer.pngURI()));
  await put(i, 0, false);
}
