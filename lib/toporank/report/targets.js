// The table of all targets: sorted by any column, searched, a row leads to the answer. page.js and view.js stand before this.

{
  const listed = JSON.parse(document.getElementById("listed").textContent);
  const MOST = 200;
  const box = document.getElementById("listed-table"), find = document.getElementById("find-target");
  const state = { by: null, descending: false, all: false };
  const number = digits => value => value == null ? DASH : value.toFixed(digits);
  const HEADS = {
    target: ["target"], verdict: ["acceptable?"], p_acceptable: ["probability", number(2)], dockq: ["expected DockQ", number(2)],
    best: ["best model"], n_scored: ["models scored", number(0)], consensus: ["consensus", number(2)], iptm: ["ipTM", number(2)],
    interface_plddt: ["interface pLDDT", number(0)], n_interface_residues: ["interface residues", number(0)], caveats: ["caveats"],
  };
  const columns = listed.columns.map((key, k) => ({ key, k, head: HEADS[key][0], shown: HEADS[key][1] }))
    .filter(({ k }) => listed.rows.some(row => row[k] != null && row[k] !== ""));
  const at = key => listed.columns.indexOf(key);

  function wantedTargets() {
    const query = find.value.trim().toLowerCase();
    const rows = listed.rows.filter(row => !query || ["target", "best", "verdict", "caveats"].some(key => inWords(row[at(key)]).toLowerCase().includes(query) || row[at(key)].toLowerCase().includes(query)));
    if (!state.by) return rows;
    const missing = v => v == null || v === "", { k } = state.by, sign = state.descending ? -1 : 1;
    return rows.sort((a, b) => missing(a[k]) - missing(b[k]) || (missing(a[k]) ? 0 : sign * (state.by.shown ? a[k] - b[k] : names.compare(a[k], b[k]))));
  }

  const inWords = codes => codes.replaceAll(" ", ", ").replaceAll("_", " ");

  function lead(row) {
    const button = make("button", { type: "button", class: "see" }, row[at("target")]);
    button.addEventListener("click", () => {
      choose(row.at(-1));
      document.getElementById("chooser").scrollIntoView();
    });
    return button;
  }

  function drawTargets() {
    const heads = columns.map(column => {
      const button = make("button", { type: "button" }, column.head);
      const head = make("th", { scope: "col", class: column.shown ? "n" : column.key === "caveats" ? "words" : "name" }, button);
      if (state.by === column) head.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
      button.addEventListener("click", () => {
        state.descending = state.by === column && !state.descending;
        state.by = column;
        drawTargets();
        $("thead button", box)[columns.indexOf(column)].focus();
      });
      return head;
    });
    const rows = wantedTargets(), shown = state.all ? rows : rows.slice(0, MOST);
    const body = make("tbody", {}, ...shown.map(row => make("tr", {}, ...columns.map(({ key, k, shown: text }) =>
      make("td", { class: text ? "n" : key === "caveats" ? "words" : "name" }, key === "target" ? lead(row) : text ? text(row[k]) : key === "caveats" ? inWords(row[k]) : row[k])))));
    const order = state.by ? `by ${state.by.head}` : "the most promising first";
    const caption = make("caption", {}, `${rows.length} of ${listed.rows.length} targets, ${order}; the same and more is in targets.csv`);
    const parts = [make("div", { class: "part" }, make("table", {}, caption, make("thead", {}, make("tr", {}, ...heads)), body))];
    if (shown.length < rows.length) {
      const rest = make("button", { type: "button", class: "more" }, `Show all ${rows.length} targets`);
      rest.addEventListener("click", () => { state.all = true; drawTargets(); });
      parts.push(rest);
    }
    box.replaceChildren(...parts);
  }

  let waiting;
  find.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(drawTargets, 120); });
  document.getElementById("finder-of-targets").hidden = false;
  drawTargets();
}
