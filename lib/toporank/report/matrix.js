// Numbers between residues as a picture: chain borders, residue numbers, a scale, the value under the pointer.
// A region is selected by dragging, or by arrow keys with Shift, and a cell by a click or Enter.

const PAE = data.colours.pae, QUALITY = data.colours.quality;
const part = (hex, k) => parseInt(hex.slice(1 + 2 * k, 3 + 2 * k), 16);
function ramp(colours, share) {
  const place = Math.min(0.9999, Math.max(0, share)) * (colours.length - 1), k = Math.floor(place), rest = place - k;
  return [0, 1, 2].map(channel => Math.round(part(colours[k], channel) * (1 - rest) + part(colours[k + 1], channel) * rest));
}
const graded = percent => `rgb(${ramp(QUALITY, percent / 100)})`;

// Texts of packed.py: a line of JSON, then arrays of numbers, which `take` gives one after the other.
async function unzipped(text) {
  const bytes = Uint8Array.from(atob(text), sign => sign.charCodeAt(0));
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}
async function unpacked(text) {
  const bytes = await unzipped(text), end = bytes.indexOf(10);
  let at = end + 1;
  const take = n => {
    const values = new Int16Array(n);
    for (let k = 0; k < n; k++) {
      const folded = bytes[at + k] | bytes[at + n + k] << 8;
      values[k] = folded & 1 ? -(folded + 1) / 2 : folded / 2;
    }
    at += 2 * n;
    return values;
  };
  return { head: JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))), take };
}

// The matrices of a predictor. Each gives the value of a row and a column.
async function matricesOf(text, model) {
  if (!text) return null;
  const { head, take } = await unpacked(text), found = { head };
  const residues = head.rows ?? model.residues.map((_, r) => r);
  for (const { name, n, merged, step } of head.shown) {
    const values = take(n * n);
    for (let k = 0; k < values.length; k++) if (k % n) values[k] += values[k - 1];
    const value = (a, b) => step * values[a * n + b];
    const groups = Array.from({ length: n }, (_, k) => residues.slice(k * merged, (k + 1) * merged));
    found[name] = { n, merged, value, groups };
  }
  return found;
}

// One side of a matrix. groups: the residues of each row; labels: what a row is called.
function sideOf(model, groups) {
  const named = r => model.residues[r], chains = [];
  groups.forEach(([first], k) => {
    const chain = named(first).chain;
    if (chains.at(-1)?.chain === chain) chains.at(-1).end = k + 1;
    else chains.push({ chain, start: k, end: k + 1 });
  });
  const label = k => groups[k].length > 1 ? `${named(groups[k][0]).name} to ${named(groups[k].at(-1)).number}` : named(groups[k][0]).name;
  const ticks = chains.map(({ chain, start, end }) => ({ at: (start + end) / 2, text: chain, kind: "chain" }));
  const size = Math.max(1, groups.length / 6), step = [5, 10, 20, 25, 50, 100, 200, 250, 500, 1000].find(step => step >= size * groups[0].length) ?? 2000;
  for (const { start, end } of chains) for (let k = start; k < end; k++) {
    const hit = groups[k].map(r => named(r).number).find(number => number % step === 0);
    if (hit != null && k - start > size / 3) ticks.push({ at: k + 0.5, text: hit, kind: "number" });
  }
  return { n: groups.length, groups, chains, label, ticks };
}

// The place of a residue in a model, of a label such as “A 52 LYS”.
const placeOf = (model, label) => model.places.get(label.split(" ").slice(0, 2).join(" "));

// Contacts have few rows, so ticks are names of residues.
function namedSide(model, labels) {
  const groups = labels.map(label => [placeOf(model, label)]), every = Math.ceil(labels.length / 16);
  const ticks = labels.flatMap((label, k) => k % every ? [] : [{ at: k + 0.5, text: label.split(" ").slice(0, 2).join(" "), kind: "number" }]);
  return { n: labels.length, groups, chains: [], label: k => labels[k], ticks };
}

const scaleBar = (colours, from, to) => `<span class="scale"><span>${from}</span><i style="background:linear-gradient(90deg,${colours.join(",")})"></i><span>${to}</span></span>`;

// Of all matrices one has a selection: take those of the others away.
function unmark(kept = null) {
  for (const figure of $(".matrix").filter(figure => figure !== kept)) {
    figure.querySelector(".chosen").setAttribute("width", 0);
    figure.querySelector("output").textContent = "";
  }
}

// rows, columns: sides. colour: of a cell, [r, g, b] or null. words: of a cell. mean: of regions, in words. choose: takes the residues of rows and columns.
function matrixFigure({ title, text, scale, rows, columns, colour, words, mean = null, ofPair = false, choose, named = (a, b) => `${a} and ${b}` }) {
  const canvas = make("canvas", { width: columns.n, height: rows.n, tabindex: 0, role: "img", "aria-label": `${title}. ${text} Arrow keys read it, Shift selects, Enter shows it in the structure.` });
  const context = canvas.getContext("2d"), image = context.createImageData(columns.n, rows.n);
  for (let r = 0; r < rows.n; r++) for (let c = 0; c < columns.n; c++) {
    const tones = colour(r, c);
    if (tones) image.data.set([...tones, 255], 4 * (r * columns.n + c));
  }
  context.putImageData(image, 0, 0);
  const lines = [...rows.chains.slice(1).map(({ start }) => `M0 ${start}H${columns.n}`), ...columns.chains.slice(1).map(({ start }) => `M${start} 0V${rows.n}`)];
  const ticks = (side, along) => side.ticks.map(({ at, text, kind }) => `<span class="${kind}" style="${along}:${(100 * at / side.n).toFixed(2)}%">${escaped(text)}</span>`).join("");
  const figure = make("figure", { class: columns.chains.length ? "matrix" : "matrix turned" }), shape = Math.min(1, columns.n / rows.n, columns.n / 18);
  figure.innerHTML = `<figcaption><b>${title}</b> ${scale}</figcaption>
    <div class="grid" style="--shape:${shape.toFixed(3)}"><div class="ticks left" aria-hidden="true">${ticks(rows, "top")}</div><div class="plot" style="aspect-ratio:${columns.n}/${rows.n}">
      <svg viewBox="0 0 ${columns.n} ${rows.n}" preserveAspectRatio="none" aria-hidden="true"><path d="${lines.join("")}"/><path class="framed"/><rect class="chosen"/></svg></div>
    <div class="ticks below" aria-hidden="true">${ticks(columns, "left")}</div></div>
    <p class="note">${text}</p><output class="note"></output>`;
  const plot = figure.querySelector(".plot"), rect = figure.querySelector("rect"), output = figure.querySelector("output");
  plot.prepend(canvas);
  let from = null, to = null;
  const mark = () => {
    unmark(figure);
    const [r, height] = [Math.min(from.r, to.r), Math.abs(from.r - to.r) + 1], [c, width] = [Math.min(from.c, to.c), Math.abs(from.c - to.c) + 1];
    for (const [key, value] of Object.entries({ x: c, y: r, width, height })) rect.setAttribute(key, value);
    const span = (side, start, n) => n > 1 ? `${side.label(start)} to ${side.label(start + n - 1)}` : side.label(start);
    output.textContent = width * height > 1 ? named(span(rows, r, height), span(columns, c, width)) + (mean ? `: ${mean([[r, height, c, width]])} on average` : "") : words(r, c);
    return { r, height, c, width };
  };
  const clear = () => { from = null; choose([], []); };
  const take = () => {
    const { r, height, c, width } = mark();
    choose(rows.groups.slice(r, r + height).flat(), columns.groups.slice(c, c + width).flat(), figure);
  };
  const cellAt = event => {
    const box = canvas.getBoundingClientRect(), within = (share, n) => Math.max(0, Math.min(n - 1, Math.floor(share * n)));
    return { r: within((event.clientY - box.top) / box.height, rows.n), c: within((event.clientX - box.left) / box.width, columns.n) };
  };
  let drags = false;
  canvas.addEventListener("pointerdown", event => { canvas.setPointerCapture(event.pointerId); drags = true; from = to = cellAt(event); mark(); });
  canvas.addEventListener("pointermove", event => {
    const cell = cellAt(event);
    if (drags) { to = cell; mark(); } else output.textContent = words(cell.r, cell.c);
  });
  canvas.addEventListener("pointerup", () => { if (drags) take(); drags = false; });
  canvas.addEventListener("keydown", event => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (event.key === "Escape") clear();
    else if (event.key === "Enter" && from) take();
    else if (move) {
      const step = Math.max(1, Math.round(Math.max(rows.n, columns.n) / 60));
      to = to ?? { r: 0, c: 0 };
      to = { r: Math.max(0, Math.min(rows.n - 1, to.r + step * move[0])), c: Math.max(0, Math.min(columns.n - 1, to.c + step * move[1])) };
      if (!event.shiftKey || !from) from = to;
      mark();
    } else return;
    event.preventDefault();
  });
  // A frame around the blocks of two partners, which are lists of chains.
  figure.frame = (first, second) => {
    const blocks = [], regions = [];
    for (const a of rows.chains) for (const b of columns.chains) {
      const isPair = first.includes(a.chain) && second.includes(b.chain) || second.includes(a.chain) && first.includes(b.chain);
      if (!isPair) continue;
      blocks.push(`M${b.start} ${a.start}H${b.end}V${a.end}H${b.start}Z`);
      regions.push([a.start, a.end - a.start, b.start, b.end - b.start]);
    }
    if (ofPair && regions.length) output.textContent = `${first.join("+")} and ${second.join("+")}, all residues of both: ${mean(regions)} on average`;
    figure.querySelector(".framed").setAttribute("d", blocks.join(""));
  };
  return figure;
}

// In words, the mean over regions of a matrix: first row, rows, first column, columns of each.
function meanOf(matrix, unit, digits) {
  return regions => {
    let sum = 0, n = 0;
    for (const [r, height, c, width] of regions) {
      for (let a = r; a < r + height; a++) for (let b = c; b < c + width; b++) sum += matrix.value(a, b);
      n += height * width;
    }
    return `${fixed(sum / n, digits)}${unit}`;
  };
}

function paeFigure(matrix, model, choose) {
  const side = sideOf(model, matrix.groups), each = matrix.merged > 1 ? ` A cell is the mean of ${matrix.merged} × ${matrix.merged} residues.` : "";
  return matrixFigure({
    title: "Predicted aligned error", scale: scaleBar(PAE, "0", "30 Å"), rows: side, columns: side, choose,
    text: `Dark blocks beside the diagonal: the predictor is sure how two chains lie to each other.${each}`,
    colour: (r, c) => ramp(PAE, matrix.value(r, c) / 30),
    words: (r, c) => `aligned on ${side.label(r)}, error of ${side.label(c)}: ${fixed(matrix.value(r, c), 1)} Å`,
    named: (a, b) => `aligned on ${a}, error of ${b}`,
    mean: meanOf(matrix, " Å", 1), ofPair: true,
  });
}

function probabilityFigure(matrix, model, choose) {
  const side = sideOf(model, matrix.groups);
  return matrixFigure({
    title: "Contact probability", scale: scaleBar([...PAE].reverse(), "0", "1"), rows: side, columns: side, choose,
    text: "The predictor's probability that two residues touch.",
    colour: (r, c) => ramp(PAE, 1 - matrix.value(r, c)),
    words: (r, c) => `${side.label(r)} and ${side.label(c)}: ${fixed(matrix.value(r, c))}`,
    mean: meanOf(matrix, "", 2),
  });
}

// Residues of one partner against those of the other, coloured by predicted quality.
function contactFigure(map, model, choose) {
  const rows = namedSide(model, map.a), columns = namedSide(model, map.b), qualities = new Map();
  for (let at = 0; at < map.k.length; at += 3) qualities.set(`${map.k[at]} ${map.k[at + 1]}`, map.k[at + 2]);
  const quality = (r, c) => qualities.get(`${r} ${c}`), [first, second] = map.name.split(":");
  return matrixFigure({
    title: `Contacts of ${escaped(first)} and ${escaped(second)}`, scale: scaleBar(QUALITY, "0", "1"), rows, columns, choose,
    text: `${counted(map.k.length / 3, "contact")}, ${map.s} with a predicted quality of 0.5 or more.`,
    colour: (r, c) => quality(r, c) == null ? null : ramp(QUALITY, quality(r, c) / 100),
    words: (r, c) => `${rows.label(r)} and ${columns.label(c)}: ${quality(r, c) == null ? "no contact" : `quality ${fixed(quality(r, c) / 100)}`}`,
  });
}

function pairsTable({ chains, pairs }) {
  const cell = value => value == null ? "<td></td>" : `<td class="n" style="--share:${value}">${fixed(value)}</td>`;
  const figure = make("figure", { class: "pairs" });
  figure.innerHTML = `<figcaption><b>ipTM of pairs of chains</b></figcaption><div class="scroll" tabindex="0" role="region" aria-label="ipTM of pairs of chains"><table><thead><tr><td></td>${chains.map(chain => `<th scope="col">${escaped(chain)}</th>`).join("")}</tr></thead>
    <tbody>${pairs.map((row, k) => `<tr><th scope="row">${escaped(chains[k])}</th>${row.map((value, c) => c === k ? "<td></td>" : cell(value)).join("")}</tr>`).join("")}</tbody></table></div>`;
  return figure;
}
