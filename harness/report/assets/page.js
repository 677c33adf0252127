"use strict";
// images.html: filters and sorts the rows that stand in it. Without it they are all there, red first.
(() => {
  const table = document.querySelector("table.images");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const collator = new Intl.Collator("en", {numeric: true, sensitivity: "base"});
  const valueOf = (row, column) => row.cells[column].dataset.value || row.cells[column].textContent.trim();
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const button = (text) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    return made;
  };
  let column = -1, down = false;

  function sort() {
    const sorted = [...rows];
    if (column >= 0) sorted.sort((a, b) => (down ? -1 : 1) * collator.compare(valueOf(a, column), valueOf(b, column)));
    body.append(...sorted);
    heads.forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
      head.firstChild.dataset.mark = i === column ? (down ? " ▾" : " ▴") : "";
    });
    select.value = String(column);
    turn.textContent = down ? "descending" : "ascending";
    turn.disabled = column < 0;
  }
  function by(next) {
    down = next === column && !down;
    column = next;
    sort();
  }

  const search = document.createElement("input");
  search.type = "search";
  search.placeholder = "filter: words of a name, a version, a cause";
  search.setAttribute("aria-label", "filter images");
  const count = document.createElement("span");
  count.className = "soft";
  count.setAttribute("role", "status");
  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      row.hidden = !words.every((word) => texts.get(row).includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = `${shown} of ${rows.length} images`;
  }
  search.addEventListener("input", filter);

  const select = document.createElement("select");
  select.append(new Option("red first", "-1"), ...heads.map((head, i) => new Option("by " + head.textContent, i)));
  select.setAttribute("aria-label", "sort");
  select.addEventListener("change", () => {
    down = false;
    column = Number(select.value);
    sort();
  });
  const turn = button("ascending");
  turn.addEventListener("click", () => {
    down = !down;
    sort();
  });
  heads.forEach((head, i) => {
    const press = button(head.textContent);
    press.className = "sort";
    press.addEventListener("click", () => by(i));
    head.replaceChildren(press);
  });
  const bar = document.createElement("div");
  bar.className = "bar";
  bar.append(search, select, turn, count);
  table.parentNode.before(bar);
  sort();
  filter();
})();
