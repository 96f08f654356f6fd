// The quality of each residue of a chosen decoy: bars for each chain, and the same numbers as a table.

{
  const profiles = JSON.parse(document.getElementById("residues-data").textContent);
  const [chosenTarget, chosenDecoy] = ["target", "decoy"].map(name => document.getElementById(`residues-${name}`));
  const HEIGHT = 70, STEP = 10, LABELLED = 5, WEAKEST = 5;
  const several = new Set(profiles.map(target => target.s)).size > 1;
  const quality = value => value == null ? DASH : value.toFixed(2);

  const chainsOf = decoy => decoy.c.map(([name, residues, values]) => ({
    name, residues: residues.split(" "), values: values.split(" ").map(value => value === "-" ? null : value / 100),
  }));

  function bars({ name, residues, values }) {
    const known = values.filter(value => value != null), range = [Math.min(...known), Math.max(...known)].map(quality);
    const said = known.length ? `from ${range[0]} to ${range[1]}; the table below has each` : "not known";
    const what = `Quality of ${residues.length} residues of chain ${name}, ${said}`;
    const width = STEP * residues.length + 34, y = value => 6 + HEIGHT * (1 - value);
    const svg = draw("svg", { class: "bars", role: "img", "aria-label": what, width, height: HEIGHT + 26 });
    for (const value of [0, 0.5, 1]) {
      svg.append(draw("line", { x1: 26, x2: width, y1: y(value), y2: y(value), stroke: "var(--line)" }),
        draw("text", { x: 22, y: y(value) + 3, "text-anchor": "end" }, String(value)));
    }
    residues.forEach((residue, i) => {
      const x = 28 + STEP * i, value = values[i];
      if (i % LABELLED === 0) svg.append(draw("text", { x: x + STEP / 2 - 1, y: HEIGHT + 20, "text-anchor": "middle" }, residue));
      if (value != null) {
        svg.append(draw("rect", { x, y: y(value), width: STEP - 2, height: HEIGHT * value, fill: "var(--accent)" },
          draw("title", {}, `${name} ${residue}: ${quality(value)}`)));
      }
    });
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    return make("figure", {}, make("figcaption", {}, make("h3", {}, `Chain ${name}`,
      make("span", { class: "badge" }, `${residues.length} residues, mean ${known.length ? quality(mean) : DASH}`))),
    make("div", { class: "along", tabindex: 0, role: "group", "aria-label": `Chain ${name}, scrolls sideways` }, svg));
  }

  function residueTable(chains, decoy) {
    const body = make("tbody");
    for (const { name, residues, values } of chains) residues.forEach((residue, i) => body.append(make("tr", {},
      make("td", {}, name), make("td", { class: "n" }, residue), make("td", { class: "n" }, quality(values[i])))));
    const heads = ["chain", "residue", "quality"].map((text, i) => make("th", { scope: "col", class: i ? "n" : "" }, text));
    return make("table", {}, make("caption", {}, `Interface residues of ${decoy}`), make("thead", {}, make("tr", {}, ...heads)), body);
  }

  function weakest(chains) {
    const all = chains.flatMap(({ name, residues, values }) => residues.map((residue, i) => [values[i], `${name} ${residue}`]));
    return all.filter(([value]) => value != null).sort(([a], [b]) => a - b).slice(0, WEAKEST)
      .map(([value, residue]) => `${residue} (${quality(value)})`).join(", ");
  }

  function showDecoy() {
    const decoy = profiles[chosenTarget.value].d[chosenDecoy.value], chains = chainsOf(decoy);
    const rows = make("div", { class: "scroll tall", tabindex: 0, role: "group", "aria-label": "Table of residues" });
    const table = make("details", {}, make("summary", {}, "As a table"), rows);
    table.addEventListener("toggle", () => rows.childElementCount || rows.append(residueTable(chains, decoy.n)), { once: true });
    document.getElementById("profile").replaceChildren(
      ...chains.map(bars), make("p", { class: "note" }, `Lowest: ${weakest(chains) || DASH}`), table);
  }

  function showTarget() {
    const decoys = profiles[chosenTarget.value].d;
    chosenDecoy.replaceChildren(...decoys.map((decoy, i) => make("option", { value: i }, `${decoy.r}. ${decoy.n}`)));
    showDecoy();
  }

  chosenTarget.append(...profiles.map(({ t, s }, i) => make("option", { value: i }, several ? `${t} (${s})` : t)));
  chosenTarget.addEventListener("change", showTarget);
  chosenDecoy.addEventListener("change", showDecoy);
  document.getElementById("residues-tools").hidden = false;
  showTarget();
}
