// The panel of a target: what the numbers of its best model mean, its pictures, and the table of its models.

function panelOf(i) {
  const inside = make("div", { class: "inside" });
  const models = data.models[i];
  if (models.dockq?.[0] != null) inside.append(saysOf(i), seeOf(i));
  else inside.append(make("p", { class: "wide" }, "No model of this target was scored."));
  inside.append(tableOf(i));
  return inside;
}

function saysOf(i) {
  const m = data.models[i], says = make("div", { class: "says" });
  const n = T.n_scored[i], several = T.interfaces?.[i];
  const low = m.dockq_low?.[0], p = m.p_acceptable?.[0];
  const interval = low == null ? "" : `In 80 % of such cases DockQ is between <b>${fixed(low)}</b> and <b>${fixed(m.dockq_high[0])}</b>. `;
  const probable = p == null ? "" : `Of 100 such models ${Math.round(100 * p)} are acceptable or better. `;
  const interfaces = several ? `Interfaces: ${wrapped(several)}. ` : "";
  const sentences = cell => (cell?.[i] ?? "").split(data.between).filter(Boolean), caveats = sentences(T.caveats), notes = sentences(T.notes);
  says.innerHTML = `<p class="eyebrow">${wrapped(T.target[i])}</p><h3>${wrapped(m.decoy[0])}</h3>
    <p class="note">${n > 1 ? `best of ${n} scored models` : "the only scored model"}</p>
    <p class="big"><b>${fixed(m.dockq[0])}</b> <span>DockQ, ${m.capri[0]}</span> ${verdictCell(m.verdict[0])}</p>
    ${axis(m, 0)}<p class="ends" aria-hidden="true"><span>0 wrong</span><span>1 identical</span></p>
    <p>${interval}${probable}${interfaces}</p>
    ${caveats.length ? `<div class="caveats">${caveats.map(text => `<p>${wrapped(text)}.</p>`).join("")}</div>` : ""}
    ${notes.map(text => `<p class="note">${wrapped(text)}.</p>`).join("")}
    <p class="note" id="weak"></p>`;
  says.append(whyOf(m));
  return says;
}

// What the number is made of, folded.
function whyOf(m) {
  const lines = [], at = key => m[key]?.[0];
  if (at("network") != null) lines.push(`DockQ from the structure, by the networks: ${fixed(at("network"))}`);
  if (at("confidence") != null) lines.push(`DockQ from the predictor's confidence: ${fixed(at("confidence"))}`);
  if (at("network_sd") != null) lines.push(`spread between the networks ${fixed(at("network_sd"))} (not an error bar)`);
  if (at("consensus") != null) lines.push(`agreement with the other models ${percent(at("consensus"))}`);
  const sizes = (m.n_interface_residues ?? []).filter((size, k) => size && m.dockq[k] != null);
  if (sizes.length > 1 && at("confidence") == null) lines.push(`interface of ${sizes[0]} residues; models of this target have ${Math.round(sizes.reduce((sum, size) => sum + size) / sizes.length)} on average`);
  lines.push("these together, calibrated for the best of several models, give DockQ");
  const list = make("ul", {}, ...lines.map(line => make("li", {}, line)));
  return lines.length ? make("details", { class: "why" }, make("summary", {}, "Why this number?"), list) : "";
}

function seeOf(i) {
  const shown = data.structures[T.target[i]], see = make("div", { class: "see" });
  if (!shown && !data.pae[T.target[i]]) {
    see.append(make("p", { class: "note" }, "This page has no structure of this target; top.pml (PyMOL) and top.cxc (ChimeraX) beside it open the files that are there."));
    return see;
  }
  see.innerHTML = `<div class="bar"><label>Model<select id="shown"></select></label>
    <label>Colour by<select id="colour"></select></label><button type="button" id="interface" aria-pressed="true">Interface</button>
    <button type="button" id="save">Save PNG</button></div>
    <div><div class="canvas" id="canvas" tabindex="0" role="img" aria-label="Structure"></div><ul class="keys" id="legend"></ul></div>
    <div class="pictures" id="pictures"></div>`;
  return see;
}

// A model's contacts as a map: residues of one partner against those of the other, coloured by predicted quality.
function contactMap(map) {
  const { name, a, b, k, s: sure } = map, size = 220, left = 6, cell = Math.min((size - 2 * left) / Math.max(a.length, b.length), 14);
  const [first, second] = name.split(":"), marks = [];
  for (let at = 0; at < k.length; at += 3) {
    const [row, column, quality] = k.slice(at, at + 3);
    marks.push(`<rect x="${(left + column * cell).toFixed(1)}" y="${(left + row * cell).toFixed(1)}" width="${Math.max(cell - 0.4, 1).toFixed(1)}" height="${Math.max(cell - 0.4, 1).toFixed(1)}" fill="${graded(quality)}"><title>${escaped(a[row])} – ${escaped(b[column])}: quality ${(quality / 100).toFixed(2)}</title></rect>`);
  }
  const n = k.length / 3, wide = left * 2 + b.length * cell, high = left * 2 + a.length * cell;
  const figure = make("figure");
  figure.innerHTML = `<svg role="img" viewBox="0 0 ${Math.max(wide, 60)} ${Math.max(high, 60)}" aria-label="Contact map of ${escaped(name)}: ${n} contacts, ${sure} with a quality of 0.5 or more">${marks.join("")}</svg>
    <figcaption>Contacts of ${wrapped(first)} (rows) and ${wrapped(second)} (columns): ${n}, ${sure} of them with a predicted quality of 0.5 or more. Point at one for its residues.</figcaption>`;
  return figure;
}

function paePicture(pae, decoy) {
  const bytes = Uint8Array.from(atob(pae.v), sign => sign.charCodeAt(0)), { n, e } = pae;
  const canvas = make("canvas", { width: n, height: n, role: "img", "aria-label": `Predicted aligned error of ${decoy}, chains ${e.map(([chain]) => chain).join(", ")}` });
  const context = canvas.getContext("2d"), image = context.createImageData(n, n);
  bytes.forEach((level, at) => image.data.set([...ramp(PAE, level / 255), 255], 4 * at));
  context.putImageData(image, 0, 0);
  context.fillStyle = "#18222c";
  for (const [, share] of e.slice(0, -1)) { context.fillRect(Math.round(share * n), 0, 1, n); context.fillRect(0, Math.round(share * n), n, 1); }
  return make("figure", {}, canvas, make("figcaption", {}, `Predicted aligned error, chains ${e.map(([chain]) => chain).join(", ")}: dark is 0 Å, white 30 Å or more. Dark blocks beside the diagonal: the predictor is sure of the relative position.`));
}

const MODEL_COLUMNS = columnsOf([...data.columns.models, { key: "reason", head: "notes", page: "shown" }], {
  decoy: { cell: (m, k) => m.u[k] ? `<a href="${escaped(m.u[k])}">${wrapped(m.decoy[k])}</a>` : wrapped(m.decoy[k]), kind: "name" },
  verdict: { cell: (m, k) => verdictCell(m.verdict[k]), kind: "verdict" },
  dockq: { cell: lane, kind: "" },
  interface_plddt: { narrow: true },
  predictor_score: { hint: "what the predictor ranks its models by" },
  reason: { cell: (m, k) => [m.duplicate_of?.[k] && `copy of ${m.duplicate_of[k]}`, m.dockq?.[k] == null && m.status[k].replaceAll("_", " "), m.reason?.[k]].filter(Boolean).map(wrapped).join("; "), kind: "words" },
}).filter(({ key }) => key !== "target");
const MOST_ROWS = 100;

function tableOf(i, most = MOST_ROWS) {
  const m = data.models[i], n = m.decoy.length;
  const columns = MODEL_COLUMNS.filter(({ key }) => m[key] || key === "reason" && (m.duplicate_of || T.n_scored[i] < n));
  const copies = (m.duplicate_of ?? []).filter(Boolean).length, several = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
  const title = several(n - copies, "model", "models") + (copies ? ` and ${several(copies, "copy", "copies")}` : "");
  const heads = columns.map(column => `<th scope="col" class="${classes(column)}">${column.head}</th>`).join("");
  const lines = [];
  for (let k = 0; k < Math.min(n, most); k++)
    lines.push(`<tr>${columns.map(column => `<td class="${classes(column)}">${column.cell?.(m, k) ?? shownAs(column, m[column.key][k])}</td>`).join("")}</tr>`);
  const box = make("div", { class: "wide models" });
  box.innerHTML = `<h4>${title} of ${wrapped(T.target[i])}${n === 1 ? "" : ", best first"}</h4><div class="scroll"><table><thead><tr>${heads}</tr></thead><tbody>${lines.join("")}</tbody></table></div>`;
  if (n > most) {
    const button = make("button", { type: "button" }, `Show all ${n.toLocaleString("en")} rows`);
    button.addEventListener("click", event => { event.stopPropagation(); box.replaceWith(tableOf(i, Infinity)); });
    box.append(button);
  }
  return box;
}
