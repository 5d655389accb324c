"use strict";
// Sorting, filtering and copying, for those who want it: the page is whole without.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const value = (row, at) => {
    const cell = row.cells[at];
    const number = Number(cell.dataset.n ?? cell.textContent.replaceAll(",", ""));
    return cell.textContent.trim() !== "" && Number.isFinite(number) ? number : cell.textContent;
  };
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : String(a).localeCompare(String(b), "en", {numeric: true});
  for (const head of table.querySelectorAll("thead th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].sort((a, b) => compare(value(a, head.cellIndex), value(b, head.cellIndex)));
      body.append(...(down ? rows.reverse() : rows));
    });
  }
}
for (const table of document.querySelectorAll("table.filtered")) {
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "filter, e.g. layers.2 attention";
  input.setAttribute("aria-label", "Show only rows with these words");
  table.parentNode.before(input);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/);
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
}
for (const text of document.querySelectorAll("pre.tell")) {
  const command = text.textContent;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.setAttribute("aria-label", "Copy the command");
  text.prepend(button);
  const show = (done) => button.classList.toggle("done", done);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command);
    } catch {
      getSelection().selectAllChildren(text);
      if (!document.execCommand("copy")) return;
      getSelection().removeAllRanges();
    }
    show(true);
    setTimeout(show, 2000, false);
  });
}
