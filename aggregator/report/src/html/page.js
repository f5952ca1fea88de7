"use strict";
(() => {
  const AT_A_TIME = 2000;
  const table = document.getElementById("results");
  const body = table.tBodies[0];
  const form = document.getElementById("filters");
  const shown = document.getElementById("shown");
  const next = document.getElementById("next");
  const heads = Array.from(table.tHead.rows[0].cells);
  // What is folded without script is shown a part at a time with it.
  const rows = Array.from(document.querySelectorAll("table.results > tbody > tr"));
  for (const folded of document.querySelectorAll("details.more")) folded.remove();
  let fitting = rows;
  let limit = AT_A_TIME;

  const show = () => {
    body.replaceChildren(...fitting.slice(0, limit));
    const count = (number) => number.toLocaleString("en");
    const part = fitting.length > limit ? `, the first ${count(limit)} of them here` : "";
    shown.textContent = `${count(fitting.length)} of ${count(rows.length)} results${part}`;
    next.hidden = fitting.length <= limit;
    next.textContent = `Show ${count(Math.min(AT_A_TIME, fitting.length - limit))} more`;
  };
  next.addEventListener("click", () => { limit += AT_A_TIME; show(); });

  // Figures sort as numbers, whatever unit stands behind them; what has none comes last.
  const keyOf = (row, column, isNumber) => {
    const text = row.cells[column].textContent.trim();
    if (text === "" || text === "–") return null;
    return isNumber ? parseFloat(text) : text.toLowerCase();
  };
  const compare = (left, right) => (left === right ? 0 : left < right ? -1 : 1);
  const sort = (column) => {
    const head = heads[column];
    const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of heads) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
    const isNumber = head.classList.contains("n");
    const keys = new Map(rows.map((row) => [row, keyOf(row, column, isNumber)]));
    rows.sort((one, other) => {
      const [left, right] = [keys.get(one), keys.get(other)];
      if (left === null || right === null) return (left === null) - (right === null);
      return direction * compare(left, right);
    });
    filter();
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(column));
    head.replaceChildren(button);
    head.setAttribute("aria-sort", "none");
  });

  let texts = null;
  const value = (name) => {
    const control = form.querySelector(`[data-filter="${name}"]`);
    return control ? control.value : "";
  };
  const has = (list, number) => number === "" || (list || "").split(" ").includes(number);
  const filter = () => {
    const words = value("text").trim().toLowerCase();
    const [outcome, tag, issue] = [value("o"), value("t"), value("i")];
    if (words !== "" && texts === null) {
      texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    }
    fitting = rows.filter((row) => {
      const { o, t, i } = row.dataset;
      return (outcome === "" || o === outcome) && has(t, tag) && has(i, issue)
        && (words === "" || texts.get(row).includes(words));
    });
    limit = AT_A_TIME;
    show();
  };
  let waiting = 0;
  const soon = (pause) => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, pause);
  };
  form.addEventListener("input", () => soon(rows.length > AT_A_TIME ? 250 : 0));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => soon(0));
  form.hidden = false;
  show();
})();
