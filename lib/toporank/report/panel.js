// The panel of a target: a table of its models, and what is known of the selected one.

const isCopy = (m, k) => Boolean(m.duplicate_of?.[k]);
const copiesOf = (m, k) => m.decoy.filter((_, c) => m.duplicate_of?.[c] === m.decoy[k]);
const sentences = cell => (cell ?? "").split(data.between).filter(Boolean);
const capital = text => /^[a-z]+ /.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
const paragraphs = (texts, kind = "") => texts.map(text => `<p${kind && ` class="${kind}"`}>${wrapped(capital(text))}${/[.?]$/.test(text) ? "" : "."}</p>`).join("");

function panelOf(i) {
  const inside = make("div", { class: "inside" });
  inside.append(make("h2", { class: "sr" }, T.target[i]), tableOf(i), make("div", { class: "says", id: "says" }), seeOf(i));
  return inside;
}

// Show another model of the open target: card, structure and matrices follow.
function select(k, moved = true, pair = "") {
  const i = state.open, m = M[i];
  if (isCopy(m, k)) k = Math.max(0, m.decoy.indexOf(m.duplicate_of[k]));
  state.model = k;
  pair ||= moved ? state.pair : "";  // another model of the target keeps the pair, where it has it
  const turned = pair.split(":").reverse().join(":");
  state.pair = interfacesOf(i, k).rows.find(row => row.interface === pair || row.interface === turned)?.interface ?? "";
  for (const row of $("#panel .models tr[data-k]")) {
    const is = +row.dataset.k === k;
    row.classList.toggle("selected", is);
    row.querySelector("button").setAttribute("aria-pressed", is);
  }
  document.getElementById("says").replaceChildren(...saysOf(i, k));
  if (moved) setAddress();
  showModel(i, k);
}

function saysOf(i, k) {
  const m = M[i], at = key => m[key]?.[k], n = T.n_scored?.[i] ?? 0, isBest = k === 0;
  const head = make("div");
  const place = n > 1 && at("rank") ? `rank ${at("rank")} of ${n}` : n === 1 ? "the only model with a score" : "";
  const link = at("link") ? ` <a class="file" href="${escaped(at("link"))}">file</a>` : "";
  if (at("dockq") == null) {
    head.innerHTML = `<h3>${wrapped(at("decoy"))}</h3><p>${place ? `${place}. ` : ""}No score: ${wrapped((at("status") ?? "").replaceAll("_", " "))}.${link}</p>${paragraphs([at("reason")].filter(Boolean))}`;
    return [head];
  }
  const low = at("dockq_low"), high = at("dockq_high"), p = at("p_acceptable");
  const wide = high - low >= 0.9;
  const interval = low == null ? "" : `In 80 % of such cases DockQ is between <b>${fixed(low)}</b> and <b>${fixed(high)}</b>. `;
  const nothing = !wide ? "" : `This says almost nothing about DockQ${at("confidence") == null ? ": there is no confidence file" : ""}. `;
  const together = interfacesOf(i, k).rows.filter(row => row.role === "main").length > 1 ? ", all interfaces together" : "";
  const probable = p == null ? "" : `Of 100 such models ${rounded(100 * p, 0)} are acceptable or better${together}. `;
  const domain = at("out_of_domain") && !isBest ? [`${data.unlike}: ${at("out_of_domain")}`] : [];
  const doubts = data.doubts[T.target[i]]?.[at("decoy")] ?? [];
  const weak = at("weak_partners"), caveats = (isBest ? sentences(T.caveats?.[i]) : [at("verdict_reason"), ...doubts, ...domain]).filter(text => text && !(weak && text.includes(weak)));
  head.innerHTML = `<p class="eyebrow">${place}</p><h3>${wrapped(at("decoy"))}${link}</h3>
    <p class="big"><b>${fixed(at("dockq"))}</b> <span>DockQ, ${at("capri")}</span> ${verdictCell(at("verdict"))}</p>
    ${weak ? `<p class="caution">${wrapped(weak)}.</p>` : ""}${paragraphs([interfacesOf(i, k).words].filter(Boolean), !weak && hasDoubtful(i, k) ? "caution" : "")}
    ${axis(m, k)}<p class="ends" aria-hidden="true"><span>0 wrong</span><span>1 identical</span></p>
    <p>${interval}${nothing}${probable}</p>${paragraphs([seenWords(i), predictorWords(i, k)].filter(Boolean))}
    ${caveats.length ? `<div class="caveats">${paragraphs(caveats)}</div>` : ""}
    ${isBest ? paragraphs([T.hint?.[i] && `Hint: ${T.hint[i]}`, ...sentences(T.notes?.[i])].filter(Boolean), "note") : ""}`;
  const parts = [head, make("p", { class: "caution", id: "unlike" }), make("div", { id: "interfaces" }), make("p", { class: "note", id: "weak" }), whyOf(i, k)];
  const button = make("button", { type: "button", id: "sentence" }, "Copy sentence");
  button.addEventListener("click", () => copy(button, sentenceOf(i, k)));
  return [...parts, make("p", { class: "actions" }, button)];
}

function seenWords(i) {
  const seen = T.seen_in_training?.[i], why = T.why_seen?.[i];
  if (seen === "yes") return `Seen in training: ${why || "a network learned from it"}. The score may be too good`;
  return seen === "unknown" ? "Whether training has seen it is not known" : "";
}

function predictorWords(i, k) {
  const at = key => M[i][key]?.[k];
  if (at("predictor_rank") == null) return "";
  const score = at("predictor_score") == null ? "" : ` (${at("predictor_measure") || "score"} ${fixed(at("predictor_score"))})`;
  if (at("predictor_order") === data.derived) return `Rank ${at("predictor_rank")} by ${at("predictor_measure")} (${fixed(at("predictor_score"))})`;
  const by = at("predictor") ? `the models of ${at("predictor")}` : "those of its predictor";
  return `Rank ${at("predictor_rank")} among ${by}${score}`;
}

// Where the verdict and the contacts of a model do not say the same, a sentence says how both can be.
function contradiction(verdict, maps) {
  const total = maps.reduce((sum, { k }) => sum + k.length / 3, 0), sure = maps.reduce((sum, { s }) => sum + s, 0);
  if (!total) return "";
  if (verdict === data.verdicts[0] && !sure) return `None of its ${counted(total, "contact")} reaches a quality of 0.5: trust where the partners lie rather than which residues touch.`;
  if (verdict === data.verdicts[2] && sure > total / 2) return `${sure} of its ${counted(total, "contact")} reach a quality of 0.5, but the complex as a whole is unlikely to be right.`;
  return "";
}

// What the number is made of; its parts add up.
function whyOf(i, k) {
  const at = key => M[i][key]?.[k], n = T.n_scored?.[i], lines = [], hundredths = value => Math.round(100 * rounded(value));
  const parts = [at("network"), at("confidence")].filter(value => value != null), whole = at("score") ?? at("dockq");
  if (at("network") != null) lines.push(`<b>${fixed(at("network"))}</b> from the structure of the interface${at("network_sd") == null ? "" : ` (the networks differ by ${fixed(at("network_sd"))})`}`);
  if (at("confidence") != null) lines.push(`<b>${fixed(at("confidence"))}</b> from the predictor's confidence`);
  if (parts.length) {
    const mean = parts.reduce((sum, value) => sum + value) / parts.length, shift = hundredths(whole) - hundredths(mean);
    const best = k === 0 && n > 1 && shift < 0 ? `it is the best of ${n}, and the best of several is rarely as good as it looks` : `such models turned out to be ${shift < 0 ? "worse" : "better"}`;
    const words = shift ? `${shift < 0 ? "lowered" : "raised"} by ${fixed(Math.abs(shift) / 100)}: ${best}` : "models with such numbers turned out to be so";
    if (parts.length > 1) lines.push(`their mean is <b>${fixed(mean)}</b>`);
    if (at("consensus") != null) lines.push(`the other models agree with it by ${percent(at("consensus"))}`);
    lines.push(`<b>${fixed(whole)}</b>, ${words}`);
  }
  if (hundredths(whole) !== hundredths(at("dockq"))) {
    const isBeside = interfacesOf(i, k).rows.some(({ role }) => role === data.beside);
    const isMean = at("weak_partners") && hundredths(at("dockq")) === hundredths(at("mean_interface"));
    const ofMain = isBeside ? "the mean of its interfaces with the antibody, which alone count"
      : isMean ? "the mean of its main interfaces: where a partner is weak, the whole is no better"
      : `the mean of that and of its main interfaces, which have <b>${fixed(at("mean_interface"))}</b> on average`;
    lines.push(`<b>${fixed(at("dockq"))}</b>, ${ofMain}`);
  }
  const details = make("details", { class: "why", open: "" }, make("summary", {}, "Why this number?"));
  details.insertAdjacentHTML("beforeend", `<ul>${lines.map(line => `<li>${line}</li>`).join("")}</ul>`);
  return lines.length ? details : "";
}

function sentenceOf(i, k) {
  const at = key => M[i][key]?.[k], n = T.n_scored?.[i], { words } = interfacesOf(i, k);
  const interval = at("dockq_low") == null ? "" : ` (80 % interval ${fixed(at("dockq_low"))} to ${fixed(at("dockq_high"))})`;
  const chance = at("p_acceptable") == null ? "" : `, acceptable or better with ${percent(at("p_acceptable"))}`;
  return `${data.program} ranks model ${at("decoy")} of ${T.target[i]} ${at("rank")} of ${n} and expects a DockQ of ${fixed(at("dockq"))}${interval}${chance}; verdict: ${at("verdict")}${at("weak_partners") ? ` (${at("weak_partners")})` : ""}.${words ? ` ${words}.` : ""}${T.seen_in_training?.[i] === "yes" ? " The networks have seen this complex, or one like it, in training." : ""}`;
}

// ---- interfaces, where there are several ---------------------------------------------------------

const classTone = dockq => dockq == null ? "" : dockq >= data.thresholds[1] ? "v0" : dockq >= data.thresholds[0] ? "v1" : "v2";
const classWord = dockq => data.classes[data.thresholds.filter(least => dockq >= least).length];

const interfacesOf = (i, k) => data.interfaces[T.target[i]]?.[k] ?? { words: "", rows: [] };

const firstWord = row => row.word.split(",")[0];
const isRight = row => firstWord(row) === "right";
const WORD_TONES = { right: "v0", doubtful: "v1", wrong: "v2" };
const hasDoubtful = (i, k) => interfacesOf(i, k).rows.some(row => row.role === "main" && row.dockq != null && !isRight(row));

function mapOf(name, model) {
  const turned = name.split(":").reverse().join(":");
  return model?.head.maps.find(map => map.name === name || map.name === turned);
}

function drawInterfaces(i, k, model) {
  if (!document.getElementById("interfaces")) return;  // a model without a score has no such table
  const { rows } = interfacesOf(i, k), isThere = row => model && row.n_residues != null;
  const box = document.getElementById("interfaces");
  if (rows.length < 2) return box.replaceChildren();
  const columns = [
    ["chains", "name", row => isThere(row) ? `<button type="button" class="link" aria-pressed="false">${pairOf(row, model)}</button>` : pairOf(row, model)],
    ["dockq", "", row => row.dockq == null ? DASH : row.role === "main" ? `<span class="verdict ${WORD_TONES[firstWord(row)]}" title="${classWord(row.dockq)}">${fixed(row.dockq)}</span>` : fixed(row.dockq)],
    ["looks", "", row => row.word],
    ["n_residues", "n narrow", row => row.n_residues ?? DASH],
    ["n_contacts", "n", row => row.good_contacts == null ? row.n_contacts ?? DASH : `${row.good_contacts} of ${row.n_contacts}`],
    ["pair_iptm", "n", row => row.pair_iptm == null ? null : fixed(row.pair_iptm)],
    ["pair_pae", "n", row => row.pair_pae == null ? null : fixed(row.pair_pae, 1)],
  ].filter(([, , cell]) => rows.some(row => cell(row) != null));
  const head = columns.map(([key, kind]) => {
    const { head, hint } = data.of_interfaces.find(column => column.key === key) ?? { head: key, hint: "" };
    return `<th scope="col" class="${kind}" title="${escaped(hint)}">${head}</th>`;
  }).join("");
  const sides = rows.some(row => row.role === data.side) ? ` A ${data.side} is small, and both its partners bind elsewhere: it does not count.` : "";
  const alone = rows.some(row => / alone /.test(row.word)) ? " <i>Alone</i>: DockQ by this interface itself; a third partner to which both lie right raises it, and with few good contacts it stays doubtful." : "";
  const errors = rows.some(row => row.pair_pae != null) ? " PAE is that of the contacts." : "";
  const partners = new Set(rows.flatMap(row => row.interface.split(":"))).size, isShort = 2 * rows.length < partners * (partners - 1);
  const others = isShort ? " No other pair touches in any model." : "";
  const lines = rows.map((row, nth) => `<tr data-nth="${nth}"${isThere(row) ? ' class="pair"' : ""}>${columns.map(([, kind, cell]) => `<td class="${kind}">${cell(row) ?? DASH}</td>`).join("")}</tr>`).join("");
  box.innerHTML = `<h3>Interfaces</h3><div class="scroll" tabindex="0" role="region" aria-label="Interfaces"><table class="tight"><thead><tr>${head}</tr></thead><tbody>${lines}</tbody></table></div>
    <p class="note">Contacts with a predicted quality of 0.5 or more, of all.${errors} A click on a pair shows its contacts${errors ? ", its place and the PAE of all its residues" : " and its place"}.${sides}${alone}${others}</p>`;
  for (const row of $("tr.pair", box)) row.addEventListener("click", () => selectPair(rows[+row.dataset.nth]));
  markPair(rows);
}

// Both partners of an interface, with their colours in the structure.
function pairOf({ interface: name }, model) {
  const partners = model?.head.partners.map(chains => chains.join("+")) ?? [];
  return name.split(":").map(partner => {
    const place = partners.indexOf(partner), dot = place < 0 ? "" : `<i class="dot" style="--tone:${PARTNERS[place % PARTNERS.length]}"></i>`;
    return dot + wrapped(partner);
  }).join(":");
}

// A second click on a pair takes its selection back.
function selectPair(row) {
  setPair(state.pair === row.interface ? "" : row.interface);
  showInterface();
}

function setPair(pair) {
  state.pair = pair;
  markPair(interfacesOf(state.open, state.model).rows);
  setAddress();
}

function markPair(rows) {
  for (const line of $("#interfaces tr[data-nth]")) {
    const is = rows[+line.dataset.nth].interface === state.pair;
    line.classList.toggle("selected", is);
    line.querySelector("button")?.setAttribute("aria-pressed", is);
  }
}

// Words that all names of a target have at the same place are pale, and left out where there is little room; a number keeps the word before it.
const wordsOf = name => name.match(/[^_.+-]+[_.+-]*|^[_.+-]+/g) ?? [name];
function tellingWords(names) {
  const words = names.map(wordsOf), [first] = words;
  if (names.length < 2 || words.some(({ length }) => length !== first.length)) return first.map(() => true);
  const differs = first.map((word, at) => words.some(of => of[at].replace(/[_.+-]+$/, "") !== word.replace(/[_.+-]+$/, "")));
  return differs.map((is, at) => is || Boolean(differs[at + 1] && words.every(of => /^\d+[_.+-]*$/.test(of[at + 1]))));
}
const distinguished = (name, telling) => wordsOf(name).map((word, at) => telling[at] ?? true ? wrapped(word) : `<span class="shared">${wrapped(word)}</span>`).join("<wbr>");

// ---- the table of models -------------------------------------------------------------------------

const MODELS = columnsOf(data.models.columns, {
  decoy: (m, k) => `<button type="button" class="link" aria-pressed="false" title="${escaped(m.decoy[k])}">${distinguished(m.decoy[k], m.telling ??= tellingWords(m.decoy.filter((_, c) => !isCopy(m, c))))}</button>${m.link?.[k] ? ` <a class="file" href="${escaped(m.link[k])}" aria-label="file of ${escaped(m.decoy[k])}">file</a>` : ""}`,
  verdict: (m, k) => verdictCell(m.verdict[k]),
  dockq: lane,
}, [{ key: "reason", head: "notes", page: "shown" }]).sort((a, b) => (b.key === "rank") - (a.key === "rank"));
MODELS.find(({ key }) => key === "reason").cell = (m, k) => {
  const copies = copiesOf(m, k), known = copies.length > 3 ? `${copies.slice(0, 2).join(", ")} and ${copies.length - 2} more` : listed(copies);
  return [m.dockq?.[k] == null && m.status?.[k]?.replaceAll("_", " "), m.reason?.[k], copies.length && `${known} ${copies.length > 1 ? "are copies" : "is a copy"}`].filter(Boolean).map(wrapped).join("; ");
};
const MOST_ROWS = 100, SHORT = 10;  // rows at first, and rows without scrolling
const OF_ITS_OWN = new Set(["ipTM", "interface pLDDT"]);  // measures that have columns of their own

function tableOf(i, most = MOST_ROWS) {
  const m = M[i], places = m.decoy.map((_, k) => k).filter(k => !isCopy(m, k)), n = places.length;
  const hasOwnScore = m.predictor_measure?.some(measure => !OF_ITS_OWN.has(measure));
  const columns = MODELS.filter(({ key, cell }) => key === "predictor_score" && !hasOwnScore ? false : key === "reason" ? places.some(k => cell(m, k)) : m[key]?.some((value, k) => !isCopy(m, k) && value != null && value !== ""));
  const nCopies = m.decoy.length - n, title = counted(n, "model") + (nCopies ? ` and ${counted(nCopies, "copy", "copies")}` : "");
  const heads = columns.map(({ classes, head, hint }) => `<th scope="col" class="${classes}"${hint ? ` title="${escaped(hint)}"` : ""}>${head}</th>`).join("");
  const lines = places.slice(0, most).map(k => `<tr data-k="${k}">${columns.map(({ classes, cell }) => `<td class="${classes}">${cell(m, k)}</td>`).join("")}</tr>`);
  const box = make("div", { class: "wide models" });
  const scored = m.dockq?.some(value => value != null);
  box.innerHTML = `<h3>${title}${n > 1 && scored ? ", best first" : scored ? "" : " without a score"}</h3>
    <div class="scroll${n > SHORT ? " long" : ""}" tabindex="0" role="region" aria-label="Models of ${escaped(T.target[i])}"><table><thead><tr>${heads}</tr></thead><tbody>${lines.join("")}</tbody></table></div>
    ${n > SHORT ? `<p class="note">Scroll to see all ${Math.min(n, most).toLocaleString("en")} rows.</p>` : ""}`;
  if (n > most) {
    const button = make("button", { type: "button" }, `Show all ${n.toLocaleString("en")} rows`);
    button.addEventListener("click", () => { box.replaceWith(tableOf(i, Infinity)); select(state.model, false); });
    box.append(button);
  }
  box.addEventListener("click", event => {
    const row = event.target.closest("tr[data-k]");
    if (row && !event.target.closest("a")) select(+row.dataset.k);
  });
  return box;
}
