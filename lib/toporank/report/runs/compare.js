// The table of targets of two runs: rows are hidden that a filter leaves out. sortable.js stands before this.

const rows = $("#table tbody tr");
const [filter, kind, more] = ["filter", "kind", "more"].map(id => document.getElementById(id));

function show() {
  const wanted = filter.value.trim().toLowerCase();
  let n = 0;
  for (const row of rows) {
    const names = [0, 4, 11].map(place => row.cells[place].textContent.toLowerCase());
    const codes = row.dataset.code.split(" ");
    row.hidden = !names.some(name => name.includes(wanted)) || [kind.value, more.value].some(code => code && !codes.includes(code));
    n += !row.hidden;
  }
  document.getElementById("count").textContent = n === rows.length ? "" : `${n} of ${rows.length} targets`;
  document.getElementById("empty").hidden = n > 0;
}

// A dot of the scatter leads to its row, also where a filter hides it.

function reveal() {
  const row = document.getElementById(location.hash.slice(1));
  if (row?.hidden) {
    filter.value = kind.value = more.value = "";
    show();
    row.scrollIntoView();
  }
}

for (const input of [filter, kind, more]) input.addEventListener("input", show);
window.addEventListener("hashchange", reveal);
document.getElementById("finder").hidden = false;
