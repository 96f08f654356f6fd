// The selected model in three dimensions, with its matrices. 3Dmol.js is unpacked once.

const PARTNERS = data.colours.partner, PICKED = ["#d81b60", "#7c4dff"];
const WAYS = { partner: "partner", quality: "predicted quality", plddt: "pLDDT" };
const KEYS = { ArrowLeft: [-15, "y"], ArrowRight: [15, "y"], ArrowUp: [-15, "x"], ArrowDown: [15, "x"] };
const AMINO_ACIDS = Object.fromEntries("ALA CYS ASP GLU PHE GLY HIS ILE LYS LEU MET ASN PRO GLN ARG SER THR VAL TRP TYR".split(" ").map((name, k) => ["ACDEFGHIKLMNPQRSTVWY"[k], name]));
const stage = make("div", { class: "stage" }), dark = matchMedia("(prefers-color-scheme: dark)");
let viewer = null, ready = null, way = "partner", shown = null, whole = null, picked = [new Set(), new Set()];

const pale = () => dark.matches && !printing ? "#56646d" : "#c3ccd2";
const paler = hex => `rgb(${ramp([hex, dark.matches && !printing ? "#3a464d" : "#c9d0d4"], 0.62)})`;
let printing = false;

function impossible() {
  if (typeof DecompressionStream === "undefined") return "This browser is too old to show structures";
  const canvas = document.createElement("canvas");
  return canvas.getContext("webgl2") || canvas.getContext("webgl") ? "" : "This browser has no WebGL, which showing structures needs";
}

function load() {
  ready ??= (async () => {
    const script = document.createElement("script");
    script.textContent = new TextDecoder().decode(await unzipped(document.getElementById("viewer-packed").textContent));
    document.head.append(script);
  })();
  return ready;
}

const known = values => values.some(value => value !== 255) ? Array.from(values, value => value === 255 ? null : value) : [];

// A model as packed.py wrote it: its residues in order, and its atoms as mmCIF.
async function modelOf(text) {
  const { head, take } = await unpacked(text), n = head.letters.length, sets = take(n);
  const model = { head, quality: known(take(n)), plddt: known(take(n)), residues: [], places: new Map() };
  const chains = head.chains.flatMap(([name, size], nth) => Array(size).fill({ name, nth })), numbers = [];
  for (let k = 0; k < head.numbers.length; k += 2) for (let j = 0; j < head.numbers[k + 1]; j++) numbers.push(head.numbers[k] + j);
  const atomNames = Array.from(sets, set => head.names[set].split(" ")), nAtoms = atomNames.reduce((sum, { length }) => sum + length, 0);
  const steps = take(3 * nAtoms), lines = [`data_shown\nloop_\n${"id label_atom_id type_symbol label_comp_id label_asym_id auth_seq_id pdbx_PDB_ins_code label_alt_id occupancy B_iso_or_equiv group_PDB Cartn_x Cartn_y Cartn_z".split(" ").map(name => `_atom_site.${name}`).join("\n")}`];
  const place = [0, 0, 0];
  let atom = 0;
  for (let r = 0; r < n; r++) {
    const { name: chain, nth } = chains[r], code = head.codes[r] ?? "", acid = AMINO_ACIDS[head.letters[r]] ?? "UNK";
    const name = `${chain} ${numbers[r]}${code} ${acid}`;
    model.residues.push({ chain, number: numbers[r], name });
    model.places.set(`${chain} ${numbers[r]}${code}`, r);
    for (const of of atomNames[r]) {
      for (const axis of [0, 1, 2]) place[axis] += steps[axis * nAtoms + atom];
      lines.push(`${++atom} ${of.includes("'") ? `"${of}"` : of} ${of[0]} ${acid} c${nth} ${numbers[r]} ${code || "?"} . 1 0 ATOM ${place.map(value => value / 10).join(" ")}`);
    }
  }
  return { ...model, cif: lines.join("\n") + "\n" };
}

// ---- what is around the structure ----------------------------------------------------------------

function seeOf(i) {
  const see = make("div", { class: "see", id: "see" });
  see.innerHTML = `<div class="bar"><label>Colour by<select id="colour"></select></label><button type="button" id="interface" aria-pressed="true">Interface</button>
    <button type="button" id="save">Save PNG</button></div>
    <div class="canvas" id="canvas" tabindex="0" role="img" aria-label="Structure"></div><ul class="keys" id="legend"></ul><div class="pictures" id="pictures"></div>`;
  return see;
}

const drawnOf = (i, k) => data.drawn[T.target[i]]?.find(([place]) => place === k);

// Draw structure and matrices of a model of the open target.
async function showModel(i, k) {
  const drawn = drawnOf(i, k), why = drawn && impossible(), box = document.getElementById("canvas");
  const isOpen = () => state.open === i && state.model === k;
  document.getElementById("see").classList.toggle("bare", !drawn || Boolean(why));
  $(".see .caution").forEach(node => node.remove());
  if (!drawn || why) {
    const m = M[i], link = m.link?.[k] ? ` Its <a href="${escaped(m.link[k])}">file</a> opens in PyMOL or ChimeraX.` : "";
    const note = make("p", { class: "caution" });
    note.innerHTML = why ? `${why}: open top.pml in PyMOL or top.cxc in ChimeraX, beside this page.` : m.dockq?.[k] == null ? "A model without a score is not drawn." : `The structure of this model is not in this page.${link}`;
    document.getElementById("see").prepend(note);
  }
  document.getElementById("pictures").replaceChildren();
  if (!drawn || typeof DecompressionStream === "undefined") return drawInterfaces(i, k);
  const model = await modelOf(drawn[1]), matrices = await matricesOf(drawn[2], model);
  if (!isOpen()) return;
  picked = [new Set(), new Set()];
  drawInterfaces(i, k, model);
  drawMatrices(model, matrices);
  if (state.pair) showInterface();
  document.getElementById("unlike").textContent = contradiction(M[i].verdict[k], model.head.maps);
  weakest(model);
  if (why) return;
  await new Promise(done => requestAnimationFrame(() => setTimeout(done)));  // the tables are painted first
  await load();
  if (!isOpen()) return;
  const isNew = stage.parentNode !== box;
  if (isNew) prepare(box);
  put(i, k, model, isNew);
}

function drawMatrices(model, matrices) {
  const box = document.getElementById("pictures"), maps = model.head.maps;
  const figures = [];
  if (matrices?.pae) figures.push(paeFigure(matrices.pae, model, choose));
  const map = maps.length ? contactsOf(mapOf(firstPair(), model) ?? maps[0], model) : null;
  if (map) figures.push(map);
  if (matrices?.contacts) figures.push(probabilityFigure(matrices.contacts, model, choose));
  if (matrices?.head.chains?.length > 1) figures.push(pairsTable(matrices.head));
  const why = matrices?.pae ? "" : model.head.no_pae || "it is too large for this page";
  box.replaceChildren(...(why ? [make("p", { class: "note" }, `No map of predicted aligned error: ${why}.`)] : []), ...figures);
  box.map = map;
  box.model = model;
}

// The interface whose contacts are shown first: of those that do not look right the worst.
function firstPair() {
  const rows = interfacesOf(state.open, state.model).rows.filter(row => row.role === "main" && row.dockq != null);
  return rows.findLast(row => !isRight(row))?.interface ?? "";
}

function contactsOf(map, model) {
  return map ? contactFigure(map, model, choose) : make("figure", {}, make("figcaption", {}, `${state.pair.split(":").join(" and ")} do not touch: there are no contacts to show.`));
}

// Show the selected pair of several: its contacts, where they are, and its blocks in the matrices. Without one, the whole model.
function showInterface() {
  const box = document.getElementById("pictures"), { maps } = box.model.head, map = mapOf(state.pair, box.model);
  if (box.map) {
    const figure = contactsOf(state.pair ? map : mapOf(firstPair(), box.model) ?? maps[0], box.model);
    box.map.replaceWith(figure);
    box.map = figure;
  }
  choose(...(state.pair && map ? [map.a, map.b] : [[], []]).map(labels => labels.map(label => placeOf(box.model, label))));
  framePair(state.pair || undefined);
  if (viewer && shown === box.model) look();
}

// A frame around the blocks of a pair in all matrices; without a name, none.
function framePair(name = ":") {
  for (const { frame } of document.getElementById("pictures").children) frame?.(...name.split(":").map(partner => partner.split("+")));
}

function weakest({ quality, residues }) {
  const least = quality.map((value, r) => [value, r]).filter(([value]) => value != null).sort(([a], [b]) => a - b).slice(0, 5);
  const line = document.getElementById("weak");
  if (line && least.length) line.textContent = `Least certain interface residues: ${least.map(([value, r]) => `${residues[r].name} (${fixed(value / 100)})`).join(", ")}.`;
}

// ---- the structure -------------------------------------------------------------------------------

function prepare(box) {
  box.append(stage);  // one drawing surface for all targets: browsers allow few
  if (!viewer) {
    viewer = $3Dmol.createViewer(stage, { antialias: true, id: "structure" });
    stage.addEventListener("wheel", event => { if (!event.ctrlKey) event.stopPropagation(); }, true);
    dark.addEventListener("change", () => shown && paint());
    for (const kind of ["beforeprint", "afterprint"]) addEventListener(kind, () => { printing = kind === "beforeprint"; if (shown) paint(); });
  }
  viewer.resize();
  box.addEventListener("keydown", event => {
    if (KEYS[event.key]) viewer.rotate(...KEYS[event.key]);
    else if ("+=-".includes(event.key)) viewer.zoom(event.key === "-" ? 1 / 1.2 : 1.2);
    else if (event.key === "Escape") choose([], []);
    else return;
    event.preventDefault();
  });
  document.getElementById("colour").addEventListener("change", event => { way = event.target.value; paint(); });
  document.getElementById("interface").addEventListener("click", () => { whole = !isWhole(); look(); });
  document.getElementById("save").addEventListener("click", () => download(`${T.target[state.open]} ${box.dataset.drawn}.png`, viewer.pngURI()));
}

function put(i, k, model, isNew) {
  shown = model;
  const touching = new Set(model.head.touching), view = isNew ? null : viewer.getView();
  viewer.removeAllModels();
  let nth = -1, last = "";
  for (const atom of viewer.addModel(model.cif, "cif").selectedAtoms({})) {
    const residue = `${atom.chain} ${atom.resi} ${atom.icode}`;
    if (residue !== last) { nth += 1; last = residue; }
    Object.assign(atom, { nth, chain: model.residues[nth].chain, touching: touching.has(nth), quality: model.quality[nth], plddt: model.plddt[nth] });
  }
  const ways = { partner: true, quality: model.quality.length, plddt: model.plddt.length };
  if (!ways[way]) way = "partner";
  const choice = document.getElementById("colour");
  choice.replaceChildren(...Object.keys(WAYS).filter(key => ways[key]).map(key => make("option", { value: key }, WAYS[key])));
  choice.value = way;
  const partners = listed(model.head.partners.map(chains => chains.join("+"))), box = document.getElementById("canvas");
  box.setAttribute("aria-label", `Structure of ${M[i].decoy[k]}: ${partners}, ${touching.size} residues within 5 Å of another partner. Arrow keys turn it.`);
  hover(box);
  paint();
  if (view && !state.pair) viewer.setView(view);
  else look();
  viewer.render();
  box.dataset.drawn = M[i].decoy[k];
}

function painted() {
  const partner = new Map(shown.head.partners.flatMap((chains, k) => chains.map(chain => [chain, PARTNERS[k % PARTNERS.length]])));
  const none = pale(), isPicked = picked[0].size || picked[1].size;
  const colour = {
    quality: atom => atom.quality == null ? none : graded(atom.quality),
    plddt: atom => atom.plddt == null ? none : data.colours.plddt.find(([least]) => atom.plddt >= least)[1],
    partner: atom => { const full = partner.get(atom.chain) ?? none; return atom.touching && !isPicked ? full : paler(full); },
  }[way];
  if (!isPicked) return colour;
  return atom => picked[0].has(atom.nth) ? PICKED[0] : picked[1].has(atom.nth) ? PICKED[1] : way === "partner" ? colour(atom) : none;
}

function paint() {
  const colour = painted(), isPicked = atom => picked[0].has(atom.nth) || picked[1].has(atom.nth);
  viewer.setBackgroundColor(printing ? "#ffffff" : getComputedStyle(document.getElementById("canvas")).backgroundColor.replace(/rgba?\(([^)]*)\)/, (_, parts) => `#${parts.split(",").slice(0, 3).map(value => (+value).toString(16).padStart(2, "0")).join("")}`));
  viewer.setStyle({}, { cartoon: { colorfunc: colour, thickness: 0.5 } });
  const sticks = { radius: 0.2, colorfunc: atom => isPicked(atom) ? colour(atom) : { N: "#3b5bd6", O: "#d43d3d", S: "#c9a400" }[atom.elem] ?? colour(atom) };
  viewer.addStyle({ predicate: atom => atom.touching && !["N", "C", "O"].includes(atom.atom) }, { stick: sticks });
  viewer.addStyle({ predicate: atom => isPicked(atom) && atom.atom === "CA" }, { sphere: { radius: 0.7, colorfunc: colour } });
  viewer.render();
  legend();
}

function legend() {
  const key = (colour, text) => { const item = make("li", { class: "tone" }, text); item.style.setProperty("--tone", colour); return item; };
  const keys = {
    partner: () => [...shown.head.partners.map((chains, k) => key(PARTNERS[k % PARTNERS.length], `chain${chains.length > 1 ? "s" : ""} ${chains.join(", ")}`)), make("li", {}, "full colour: in contact")],
    quality: () => [0, 33, 67, 100].map(value => key(graded(value), fixed(value / 100))).concat(key(pale(), "no interface residue")),
    plddt: () => data.colours.plddt.map(([, colour], k) => key(colour, ["pLDDT over 90, very high", "70 to 90, confident", "50 to 70, low", "below 50, very low"][k])),
  };
  const chosen = picked[0].size ? [key(PICKED[0], "selected, rows"), key(PICKED[1], "selected, columns (Escape clears)")] : [make("li", {}, "drag or arrow keys turn, + and − zoom")];
  document.getElementById("legend")?.replaceChildren(...keys[way](), ...chosen);
}

// Until the reader says otherwise, one interface is in sight, or all of a model that has several.
const isWhole = () => whole ?? (shown.head.maps.length > 1 && !state.pair);

function look() {
  const isPicked = picked[0].size || picked[1].size, whole = isWhole();
  document.getElementById("interface").setAttribute("aria-pressed", !whole);
  const ofPair = !isPicked && state.pair ? state.pair.split(/[:+]/) : null;
  const isSeen = atom => isPicked ? picked[0].has(atom.nth) || picked[1].has(atom.nth) : ofPair ? ofPair.includes(atom.chain) : atom.touching;
  viewer.zoomTo(whole ? {} : { predicate: isSeen });
  viewer.zoom(whole ? 1 : isPicked ? 0.7 : 0.92);
  viewer.render();
}

// Residues that were chosen in a matrix, which keeps its mark.
function choose(rows, columns, figure = null) {
  const box = document.getElementById("pictures"), isElsewhere = state.pair && figure && figure !== box.map;
  unmark(figure);
  picked = [new Set(rows), new Set(columns)];
  if (isElsewhere) leavePair();
  if (!viewer || shown !== box.model) return;
  paint();
  if (isElsewhere) look();
}

// A region is selected in place of a pair: the contacts are those that are shown first.
function leavePair() {
  const box = document.getElementById("pictures"), first = mapOf(firstPair(), box.model) ?? box.model.head.maps[0];
  setPair("");
  framePair();
  if (!box.map) return;
  const figure = contactsOf(first, box.model);
  box.map.replaceWith(figure);
  box.map = figure;
}

// Name, pLDDT and quality of the residue under the pointer.
function hover(box) {
  viewer.setHoverDuration?.(60);
  viewer.setHoverable({}, true, atom => {
    const further = [atom.plddt == null ? "" : `pLDDT ${atom.plddt}`, atom.quality == null ? "" : `quality ${fixed(atom.quality / 100)}`].filter(Boolean);
    box.querySelector(".hover")?.remove();
    box.append(make("span", { class: "hover" }, [shown.residues[atom.nth].name, ...further].join(", ")));
  }, () => box.querySelector(".hover")?.remove());
}
