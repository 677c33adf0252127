"use strict";
// report.html: draws and filters what stands in #data. Texts are set as text, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const cases = data.cases;
  const app = document.getElementById("app");
  const SVG = "http://www.w3.org/2000/svg";
  const PAGE = 200;

  // h("td", {class: "x"}, "text", node, ...)
  function make(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children) if (child !== undefined && child !== null) node.append(child);
    return node;
  }
  const h = (tag, attributes, ...children) => make(document.createElement(tag), attributes, children);
  const s = (tag, attributes, ...children) => make(document.createElementNS(SVG, tag), attributes, children);
  const seconds = (t) => (t < 0.0005 ? "0" : t < 10 ? t.toFixed(3) : t.toFixed(1));
  const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
  const unique = (list) => [...new Set(list)];

  const narrow = matchMedia("(max-width: 40rem)");
  // The width that a picture may take before it scrolls.
  const room = () => Math.max(280, app.clientWidth || 1000);
  // Pictures whose form depends on the width are drawn again when it passes from narrow to wide.
  const redrawn = (place, draw) => {
    narrow.addEventListener("change", draw);
    draw();
    return place;
  };
  // What is wider than the screen scrolls in its own box, which the keyboard reaches.
  const scroller = (label) => h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label});

  // ---- a button beside each command ----
  function selected(text) {
    const area = h("textarea", {class: "away", readonly: true, "aria-hidden": "true", tabindex: -1});
    area.value = text;
    document.body.append(area);
    const before = document.activeElement;
    area.select();
    let done = false;
    try {
      done = document.execCommand("copy");
    } catch { /* not allowed here */ }
    area.remove();
    if (before) before.focus({preventScroll: true});
    return done;
  }
  // Not every browser gives a page from a file its clipboard.
  async function copy(text) {
    if (navigator.clipboard && isSecureContext) {
      try {
        await navigator.clipboard.writeText(text);
        return true;
      } catch { /* refused: the old way */ }
    }
    return selected(text);
  }
  const said = h("div", {class: "away", role: "status"});
  function copyButton(code, what) {
    const button = h("button", {type: "button", class: "copy", "aria-label": "copy " + what, onclick: async () => {
      const done = await copy(code.textContent);
      if (!done) getSelection().selectAllChildren(code);
      button.textContent = done ? "copied" : "press Ctrl+C";
      said.textContent = done ? "copied" : "marked, press Ctrl+C to copy it";
      setTimeout(() => { button.textContent = "copy"; said.textContent = ""; }, 2000);
    }}, "copy");
    return button;
  }
  // A line breaks between the words of a command, not behind the hyphens of "--case".
  const inWords = code => code.replaceChildren(
    ...code.textContent.split(" ").flatMap((word, i) => [...(i > 0 ? [" "] : []), h("span", {}, word)]));
  const command = (text, what) => {
    const code = h("code", {class: "command"}, text);
    inWords(code);
    return h("div", {class: "copied"}, code, copyButton(code, what));
  };
  for (const code of document.querySelectorAll("dd > .command")) {
    const label = code.parentNode.previousElementSibling;
    inWords(code);
    const line = h("div", {class: "copied"});
    code.replaceWith(line);
    line.append(code, copyButton(code, "the command: " + (label ? label.textContent : "")));
  }

  function section(title, ...children) {
    return h("section", {}, h("h2", {}, title), ...children);
  }

  // ---- the map: one parameter against another, by outcome or by time ----
  const rank = ["failed", "errored", "not_run", "blocked", "skipped", "waived", "passed"];
  const spoken = (o) => (o === "not_run" ? "not run" : o);
  // What the colours mean, of outcomes that there are.
  function legend() {
    return h("div", {class: "bar soft legend"}, ...rank.filter((o) => cases.some((c) => c.outcome === o)).map((o) =>
      h("span", {}, s("svg", {width: 12, height: 12, "aria-hidden": "true"}, s("rect", {width: 12, height: 12, rx: 3, class: "f-" + o})),
        " " + spoken(o))));
  }
  const worst = (list) => rank.find((outcome) => list.some((c) => c.outcome === outcome)) || "none";
  function names() {
    const counts = new Map();
    for (const c of cases) for (const name of Object.keys(c.params)) counts.set(name, (counts.get(name) || 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  }
  function map() {
    const all = names().filter((name) => unique(cases.filter((c) => name in c.params).map((c) => c.params[name])).length > 1);
    // Of checks that have none of their parameters in common no cell would be filled.
    const partner = (name) => ["dtype", ...all].find((other) =>
      other !== name && all.includes(other) && cases.some((c) => name in c.params && other in c.params));
    const row = ["shape", "algo", ...all].find((name) => all.includes(name) && partner(name));
    if (!row) return null;
    const rows = h("select", {"aria-label": "rows"}, ...all.map((n) => h("option", {}, n)));
    const columns = h("select", {"aria-label": "columns"}, ...all.map((n) => h("option", {}, n)));
    const by = h("select", {"aria-label": "colour"}, h("option", {}, "outcome"), h("option", {}, "time"));
    rows.value = row;
    columns.value = partner(row);
    const place = h("div", {class: "scroll"});
    const under = h("div", {});
    const choose = (r, k) => {
      search.value = `${rows.value}=${r} ${columns.value}=${k}`;
      refresh();
      search.scrollIntoView();
      search.focus();
    };
    // One stop of the tab key; the arrows go from cell to cell.
    const move = (event, grid, j, i) => {
      const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
      if (event.key === "Enter" || event.key === " ") event.target.dispatchEvent(new Event("click"));
      else if (!step) return;
      event.preventDefault();
      for (let y = j, x = i; step && grid[y] && x >= 0 && x < grid[y].length;) {
        [y, x] = [y + step[0], x + step[1]];
        const next = grid[y] && grid[y][x];
        if (!next) continue;
        event.target.setAttribute("tabindex", -1);
        next.setAttribute("tabindex", 0);
        next.focus();
        return;
      }
    };
    const draw = () => {
      const cells = new Map();
      for (const c of cases) {
        const r = c.params[rows.value], k = c.params[columns.value];
        if (r === undefined || k === undefined) continue;
        const key = r + "\n" + k;
        if (!cells.has(key)) cells.set(key, []);
        cells.get(key).push(c);
      }
      const keys = [...cells.keys()].map((key) => key.split("\n"));
      const down = unique(keys.map((k) => k[0])).slice(0, 200), across = unique(keys.map((k) => k[1])).slice(0, 60);
      // The names of the rows stay where they are while the cells scroll.
      const left = narrow.matches ? 112 : 170, w = by.value === "time" ? 84 : 98, high = 22;
      const time = (list) => list.reduce((sum, c) => sum + c.seconds, 0);
      const most = Math.max(1e-9, ...[...cells.values()].map(time));
      const heads = s("svg", {class: "heads", width: left, height: 24 + high * down.length, "aria-hidden": "true"});
      const svg = s("svg", {width: w * across.length, height: 24 + high * down.length, role: "group",
        "aria-label": `${rows.value} by ${columns.value}`});
      across.forEach((name, i) => svg.append(s("text", {x: w * i + 2, y: 14}, s("title", {}, name), cut(name, 14))));
      const grid = down.map(() => across.map(() => null));
      let stop = 0;
      down.forEach((r, j) => {
        heads.append(s("text", {x: 0, y: 24 + high * j + 15}, s("title", {}, r), cut(r, narrow.matches ? 17 : 26)));
        across.forEach((k, i) => {
          const list = cells.get(r + "\n" + k);
          if (!list) return;
          const outcome = worst(list), timed = by.value === "time";
          const label = `${r}, ${k}: ${list.length} cases, worst ${spoken(outcome)}, ${seconds(time(list))} s`;
          // What is no pass says so in words: no number and no colour alone may look like one.
          const some = list.filter((c) => c.outcome === outcome).length;
          const words = outcome === "passed" ? String(list.length) :
            `${some < list.length ? some + "/" : ""}${list.length} ${spoken(outcome)}`;
          const rect = s("rect", {x: w * i + 1, y: 24 + high * j + 1, width: w - 2, height: high - 2, rx: 3,
            role: "button", tabindex: stop, "aria-label": label, class: timed ? "f-passed" : "f-" + outcome,
            "fill-opacity": timed ? (0.05 + 0.5 * time(list) / most).toFixed(3) : 1,
            onclick: () => choose(r, k), onkeydown: (event) => move(event, grid, j, i)}, s("title", {}, label));
          grid[j][i] = rect;
          stop = -1;
          svg.append(rect, s("text", {x: w * i + w / 2, y: 24 + high * j + 15, "aria-hidden": "true",
            class: timed || outcome === "not_run" ? "cell" : "cell on"}, timed ? seconds(time(list)) : words));
        });
      });
      place.replaceChildren(h("div", {class: "map"}, heads, svg));
      under.replaceChildren(...(by.value === "time" ? [] : [legend()]));
    };
    for (const select of [rows, columns, by]) select.addEventListener("change", draw);
    return section("Map", h("div", {class: "bar"}, h("label", {}, "rows ", rows), h("label", {}, "columns ", columns),
      h("label", {}, "by ", by)), redrawn(place, draw), under);
  }

  // ---- workers over time ----
  function timeline() {
    const spans = data.spans;
    if (!spans.length) return null;
    const workers = unique(spans.map((x) => x.worker));
    const shown = workers.slice(0, 120), row = new Map(shown.map((w, i) => [w, i]));
    const end = spans.reduce((most, x) => Math.max(most, x.to), 1), left = 80, high = 14;
    const place = scroller("workers over time");
    const draw = () => {
      const wide = Math.min(1000, room() - left - 10);
      const svg = s("svg", {viewBox: `0 0 ${left + wide + 10} ${high * shown.length + 24}`, width: left + wide + 10,
        role: "img", "aria-label": "workers over time"});
      for (const w of shown)
        svg.append(s("text", {x: 0, y: high * row.get(w) + 11, class: "soft"}, "worker " + w));
      for (const x of spans) {
        if (!row.has(x.worker)) continue;
        svg.append(s("rect", {x: (left + wide * x.from / end).toFixed(2), y: high * row.get(x.worker) + 1,
          width: Math.max(1, wide * (x.to - x.from) / end).toFixed(2), height: high - 3, class: "f-" + x.outcome},
        s("title", {}, `${x.id}: ${x.outcome}, ${((x.to - x.from) / 1000).toFixed(3)} s`)));
      }
      for (let i = 0; i <= 4; ++i)
        svg.append(s("text", {x: left + wide * i / 4 - (i === 4 ? 34 : 0), y: high * shown.length + 18, class: "soft"},
          (end * i / 4000).toFixed(1) + " s"));
      place.replaceChildren(svg);
    };
    const more = workers.length - shown.length;
    return section("Workers", redrawn(place, draw), legend(),
      more > 0 ? h("p", {class: "soft"}, `and ${more} more workers`) : null);
  }

  // ---- tables that checks attached ----
  // Each in a box that opens; its rows are made when it does, the first of a run at once.
  function tables() {
    const all = cases.flatMap((c) => (c.tables || []).map((table) => ({c, table})));
    if (!all.length) return null;
    const cell = (one) => h("td", {class: one.state ? "state s-" + one.state : one.text.length > 24 ? "text" : undefined}, one.text);
    const draw = (place, table) => {
      const box = scroller(table.title);
      box.append(h("table", {class: "attached"}, h("thead", {}, h("tr", {}, ...table.columns.map((c) => h("th", {}, c)))),
        h("tbody", {}, ...table.rows.map((row) => h("tr", {}, ...row.map(cell))))));
      place.append(box);
      if (table.left_out) place.append(h("p", {class: "soft"}, `and ${table.left_out} more rows in the attachment`));
    };
    return section("Tables", ...all.map(({c, table}, i) => {
      const place = h("div", {});
      const box = h("details", {open: i === 0, ontoggle: () => {
        if (box.open && !place.childNodes.length) draw(place, table);
      }}, h("summary", {}, h("strong", {}, table.title), ` ${table.rows.length} rows, `,
        h("a", {href: "#case=" + encodeURIComponent(c.id)}, c.id)), place);
      if (i === 0) draw(place, table);
      return box;
    }));
  }

  // ---- every case ----
  const search = h("input", {type: "search", placeholder: "search: words, dtype=float16", "aria-label": "search cases"});
  const outcomes = rank.filter((o) => cases.some((c) => c.outcome === o));
  const outcome = h("select", {"aria-label": "outcome"}, h("option", {value: ""}, "all outcomes"),
    h("option", {value: "red"}, "red"), ...outcomes.map((o) => h("option", {value: o},
      `${spoken(o)} (${cases.filter((c) => c.outcome === o).length})`)));
  const plugin = h("select", {"aria-label": "plugin"}, h("option", {value: ""}, "all plugins"),
    ...unique(cases.map((c) => c.plugin)).map((p) => h("option", {}, p)));
  const order = h("select", {"aria-label": "order"}, h("option", {value: ""}, "plan order"),
    h("option", {value: "time"}, "slowest first"), h("option", {value: "red"}, "red first"));
  const count = h("span", {class: "soft", role: "status"});
  const body = h("tbody", {});
  const more = h("button", {type: "button", onclick: () => show(PAGE)}, "show more");
  const earlier = h("button", {type: "button", onclick: () => list(Math.max(0, firstRow - PAGE))}, "show earlier");
  let found = [], firstRow = 0, shownRows = 0, opened = null;
  const caseOf = new Map(cases.map((c) => [c.id, c]));
  const address = (id) => "#case=" + encodeURIComponent(id);
  // What is searched of a case, once. A parameter's very value, "i=1", is not the beginning of another's, "i=10".
  const pairs = (c) => Object.entries(c.params).map(([n, v]) => (n + "=" + v).toLowerCase());
  const texts = cases.map((c) => ` ${[c.id, c.reason, c.subject, c.layer, ...(c.flags || []), ...pairs(c)].join(" ")} `.toLowerCase());
  const values = new Set(cases.flatMap(pairs));

  function block(title, text) {
    return text ? [h("dt", {}, title), h("dd", {}, h("pre", {}, text))] : [];
  }
  // The name of a finding leads to what it means, further down.
  function finding(name) {
    const anchor = "finding-" + name.replace(/[^A-Za-z0-9._-]/g, "_");
    return h("strong", {}, document.getElementById(anchor) ? h("a", {href: "#" + anchor}, name) : name);
  }
  function reason(c) {
    const by = "blocked by ", other = c.reason && c.reason.startsWith(by) ? c.reason.slice(by.length) : "";
    return caseOf.has(other) ? [by, h("a", {href: address(other)}, other)] : [c.reason];
  }
  function details(c) {
    const link = (path) => h("a", {href: path.split("/").map(encodeURIComponent).join("/"), rel: "noreferrer"}, path);
    return h("dl", {},
      ...(c.reason ? [h("dt", {}, "reason"), h("dd", {}, ...reason(c))] : []),
      ...Object.entries(c.params).flatMap(([n, v]) => [h("dt", {}, n), h("dd", {}, v)]),
      h("dt", {}, "time"), h("dd", {}, seconds(c.seconds) + " s" + (c.device ? " on " + c.device : "")),
      ...(c.findings || []).flatMap((f) => [h("dt", {}, f.severity), h("dd", {}, finding(f.name),
        h("pre", {}, f.detail || ""), f.remedy ? h("div", {class: "soft"}, f.remedy) : null,
        f.command ? h("div", {class: "soft"}, f.place + ":", command(f.command, "the command: " + f.place)) : null)]),
      ...block("expectations", (c.expectations || []).join("\n")), ...block("steps", (c.steps || []).join("\n")),
      ...block("evidence", c.evidence), ...block("output", c.output), ...block("waived", c.waived),
      ...(c.attachments ? [h("dt", {}, "attachments"), h("dd", {}, ...c.attachments.flatMap((a) => [link(a), " "]))] : []),
      ...(c.reproduce ? [h("dt", {}, "reproduce"), h("dd", {}, command(c.reproduce, "the command: reproduce"))] : []));
  }
  function rowsOf(c) {
    const open = h("tr", {hidden: true});
    const name = h("button", {type: "button", class: "name", "aria-expanded": "false", onclick: () => {
      if (!open.childNodes.length) open.append(h("td", {colspan: 5}, details(c)));
      open.hidden = !open.hidden;
      name.setAttribute("aria-expanded", String(!open.hidden));
    }}, c.id);
    const row = h("tr", {}, h("td", {class: c.outcome}, spoken(c.outcome) + (c.required ? "" : " (optional)")),
      h("td", {class: "text id"}, name, h("a", {class: "anchor", href: address(c.id), "aria-label": "link to this case"}, "#")),
      h("td", {class: "wide"}, c.device || ""), h("td", {class: "wide"}, seconds(c.seconds)),
      h("td", {class: "wide text"}, [c.reason || "", ...(c.flags || [])].filter(Boolean).join(", ")));
    if (c === opened) {
      row.classList.add("linked");
      name.click();
    }
    return [row, open];
  }
  function show(number) {
    const next = found.slice(shownRows, shownRows + number);
    shownRows += next.length;
    body.append(...next.flatMap(rowsOf));
    more.hidden = shownRows >= found.length;
    earlier.hidden = firstRow === 0;
    count.textContent = `${found.length} of ${cases.length} cases`;
  }
  // The rows from `first` on.
  function list(first) {
    body.replaceChildren();
    firstRow = shownRows = first;
    show(PAGE);
  }
  // "#case=..." of the address: the case, opened and marked, whatever is filtered and however far down it is.
  function follow() {
    if (!location.hash.startsWith("#case=")) return;
    let id = "";
    try {
      id = decodeURIComponent(location.hash.slice(6));
    } catch { /* no address of ours */ }
    if (!caseOf.has(id)) {
      count.textContent = "the case in the address is not in this report";
      return;
    }
    opened = caseOf.get(id);
    if (!found.includes(opened)) {
      search.value = outcome.value = plugin.value = "";
      refresh();
    }
    list(PAGE * Math.floor(found.indexOf(opened) / PAGE));
    const row = body.querySelector("tr.linked");
    row.querySelector("button.name").focus({preventScroll: true});
    row.scrollIntoView({block: "center"});
  }
  function refresh() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean).map((word) => (values.has(word) ? ` ${word} ` : word));
    found = cases.filter((c, i) => words.every((word) => texts[i].includes(word)) &&
      (!plugin.value || c.plugin === plugin.value) &&
      (!outcome.value || (outcome.value === "red" ? c.red : c.outcome === outcome.value)));
    if (order.value === "time") found.sort((a, b) => b.seconds - a.seconds);
    if (order.value === "red") found.sort((a, b) => b.red - a.red);
    list(0);
  }
  search.addEventListener("input", refresh);
  // What the chain says of a check leads to its cases.
  for (const place of document.querySelectorAll("[data-find]")) {
    const lead = () => {
      outcome.value = plugin.value = "";
      search.value = place.dataset.find;
      refresh();
      search.scrollIntoView();
      search.focus({preventScroll: true});
    };
    place.addEventListener("click", lead);
    place.classList.add("leads");
  }
  for (const select of [outcome, plugin, order]) select.addEventListener("change", refresh);

  const root = document.documentElement;
  const theme = h("button", {type: "button", onclick: () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  }}, "light / dark");
  document.addEventListener("keydown", (event) => {
    const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement.tagName);
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    search.focus();
  });

  app.append(...[said, map(), tables(), timeline(), section("Cases",
    h("div", {class: "bar"}, search, outcome, plugin, order, theme, count), earlier,
    h("div", {class: "scroll"}, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "outcome"), h("th", {}, "case"),
      h("th", {class: "wide"}, "device"), h("th", {class: "wide"}, "s"), h("th", {class: "wide"}, "reason"))), body)), more)]
    .filter(Boolean));
  refresh();
  addEventListener("hashchange", follow);
  follow();
})();
