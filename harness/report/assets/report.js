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

  function section(title, ...children) {
    return h("section", {}, h("h2", {}, title), ...children);
  }

  // ---- the environment: GPU, driver, toolkit, copies of cuDNN, and which subject takes which ----
  function box(x, y, width, title, all, kind) {
    const lines = all.filter(Boolean);
    const group = s("g", {},
      s("rect", {x, y, width, height: 26 + 16 * lines.length, rx: 6, class: "box " + (kind || "")}),
      s("text", {x: x + 8, y: y + 18, "font-weight": "bold"}, cut(title, 46)));
    lines.forEach((line, i) => group.append(s("text", {x: x + 8, y: y + 36 + 16 * i, class: "soft"}, cut(line, 46))));
    return group;
  }
  function environment() {
    const e = data.environment, wide = 320, gap = 24;
    const shown = e.copies.map((c) => ({...c, users: []}));
    for (const subject of e.subjects) {
      if (!subject.path) continue;
      const folder = subject.path.slice(0, subject.path.lastIndexOf("/"));
      let copy = shown.find((c) => c.path === subject.path || c.path.slice(0, c.path.lastIndexOf("/")) === folder);
      if (!copy) shown.push(copy = {path: subject.path, version: subject.cudnn, users: []});
      copy.users.push(subject);
    }
    const svg = s("svg", {role: "img", "aria-label": "which subject loads which cuDNN, on which driver and GPU"});
    let y = 0;
    const at = new Map();
    e.subjects.forEach((subject, i) => {
      at.set(subject, y + 20);
      svg.append(box(0, y, wide, "subject " + subject.name, [subject.spec || ""], ""));
      y += 42 + gap / 2;
    });
    let right = 0;
    for (const copy of shown) {
      svg.append(box(wide + 90, right, wide, "cuDNN " + (copy.version || "?"),
        [copy.path, copy.users.length ? copy.origin || "" : "no subject uses it"], ""));
      for (const user of copy.users)
        svg.append(s("path", {class: "edge", "marker-end": "url(#arrow)",
          d: `M${wide} ${at.get(user)} C${wide + 45} ${at.get(user)} ${wide + 45} ${right + 20} ${wide + 84} ${right + 20}`}));
      right += 58 + gap / 2;
    }
    const low = Math.max(y, right) + gap;
    svg.append(box(0, low, wide, "CUDA toolkit " + (e.toolkit || "not found"), [], ""));
    svg.append(box(wide + 90, low, wide, "driver " + (e.driver || "not found"),
      e.gpus.length ? e.gpus.slice(0, 8).map((g) => g.name + ": " + g.model) : ["no GPU"], ""));
    const height = low + 30 + 16 * Math.max(1, Math.min(8, e.gpus.length));
    svg.setAttribute("viewBox", `0 0 ${2 * wide + 92} ${height}`);
    svg.setAttribute("width", 2 * wide + 92);
    svg.prepend(s("defs", {}, s("marker", {id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8,
      markerHeight: 8, orient: "auto"}, s("path", {d: "M0 0L8 4L0 8", class: "edge"}))));
    return section("Environment", h("div", {class: "scroll"}, svg));
  }

  // ---- the map: one parameter against another, by outcome or by time ----
  const rank = ["failed", "errored", "not_run", "blocked", "skipped", "waived", "passed"];
  // What the colours mean, of outcomes that there are.
  function legend() {
    return h("div", {class: "bar soft"}, ...rank.filter((o) => cases.some((c) => c.outcome === o)).map((o) =>
      h("span", {}, s("svg", {width: 12, height: 12, "aria-hidden": "true"}, s("rect", {width: 12, height: 12, rx: 3, class: "f-" + o})),
        " " + o)));
  }
  const worst = (list) => rank.find((outcome) => list.some((c) => c.outcome === outcome)) || "none";
  function names() {
    const counts = new Map();
    for (const c of cases) for (const name of Object.keys(c.params)) counts.set(name, (counts.get(name) || 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  }
  function map() {
    const all = names().filter((name) => unique(cases.map((c) => c.params[name])).length > 1);
    if (all.length < 2) return null;
    const first = (wanted) => wanted.find((name) => all.includes(name));
    const rows = h("select", {"aria-label": "rows"}, ...all.map((n) => h("option", {}, n)));
    const columns = h("select", {"aria-label": "columns"}, ...all.map((n) => h("option", {}, n)));
    const by = h("select", {"aria-label": "colour"}, h("option", {}, "outcome"), h("option", {}, "time"));
    rows.value = first(["shape", "algo"]) || all[0];
    columns.value = first(["dtype"]) || all.find((n) => n !== rows.value);
    const place = h("div", {class: "scroll"});
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
      const left = 170, w = 84, high = 20;
      const time = (list) => list.reduce((sum, c) => sum + c.seconds, 0);
      const most = Math.max(1e-9, ...[...cells.values()].map(time));
      const svg = s("svg", {width: left + w * across.length, height: 24 + high * down.length, role: "group",
        "aria-label": `${rows.value} by ${columns.value}`});
      across.forEach((name, i) => svg.append(s("text", {x: left + w * i + 2, y: 14}, cut(name, 11))));
      const grid = down.map(() => across.map(() => null));
      let stop = 0;
      down.forEach((r, j) => {
        svg.append(s("text", {x: 0, y: 24 + high * j + 14}, cut(r, 26)));
        across.forEach((k, i) => {
          const list = cells.get(r + "\n" + k);
          if (!list) return;
          const outcome = worst(list), timed = by.value === "time";
          const said = `${r}, ${k}: ${list.length} cases, worst ${outcome}, ${seconds(time(list))} s`;
          const bad = outcome === "passed" ? "" : list.filter((c) => c.outcome === outcome).length + "/";
          const rect = s("rect", {x: left + w * i + 1, y: 24 + high * j + 1, width: w - 2, height: high - 2, rx: 3,
            role: "button", tabindex: stop, "aria-label": said, class: timed ? "f-passed" : "f-" + outcome,
            "fill-opacity": timed ? (0.05 + 0.5 * time(list) / most).toFixed(3) : 1,
            onclick: () => choose(r, k), onkeydown: (event) => move(event, grid, j, i)}, s("title", {}, said));
          grid[j][i] = rect;
          stop = -1;
          svg.append(rect, s("text", {x: left + w * i + w / 2, y: 24 + high * j + 14, "aria-hidden": "true",
            class: timed || outcome === "not_run" ? "cell" : "cell on"}, timed ? seconds(time(list)) : bad + list.length));
        });
      });
      place.replaceChildren(svg, ...(by.value === "time" ? [] : [legend()]));
    };
    for (const select of [rows, columns, by]) select.addEventListener("change", draw);
    draw();
    return section("Map", h("div", {class: "bar"}, "rows ", rows, " columns ", columns, " by ", by), place);
  }

  // ---- workers over time ----
  function timeline() {
    const spans = data.spans;
    if (!spans.length) return null;
    const workers = unique(spans.map((x) => x.worker));
    const shown = workers.slice(0, 120), row = new Map(shown.map((w, i) => [w, i]));
    const end = Math.max(1, ...spans.map((x) => x.to)), wide = 1000, left = 80, high = 14;
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
    const more = workers.length - shown.length;
    return section("Workers", h("div", {class: "scroll"}, svg), legend(),
      more > 0 ? h("p", {class: "soft"}, `and ${more} more workers`) : null);
  }

  // ---- every case ----
  const search = h("input", {type: "search", placeholder: "search: words, dtype=float16", "aria-label": "search cases"});
  const outcomes = rank.filter((o) => cases.some((c) => c.outcome === o));
  const outcome = h("select", {"aria-label": "outcome"}, h("option", {value: ""}, "all outcomes"),
    h("option", {value: "red"}, "red"), ...outcomes.map((o) => h("option", {value: o},
      `${o} (${cases.filter((c) => c.outcome === o).length})`)));
  const plugin = h("select", {"aria-label": "plugin"}, h("option", {value: ""}, "all plugins"),
    ...unique(cases.map((c) => c.plugin)).map((p) => h("option", {}, p)));
  const order = h("select", {"aria-label": "order"}, h("option", {value: ""}, "plan order"),
    h("option", {value: "time"}, "slowest first"), h("option", {value: "red"}, "red first"));
  const count = h("span", {class: "soft", role: "status"});
  const body = h("tbody", {});
  const more = h("button", {type: "button", onclick: () => show(PAGE)}, "show more");
  let found = [], shownRows = 0;
  // What is searched of a case, once. A parameter's very value, "i=1", is not the beginning of another's, "i=10".
  const pairs = (c) => Object.entries(c.params).map(([n, v]) => (n + "=" + v).toLowerCase());
  const texts = cases.map((c) => ` ${[c.id, c.reason, c.subject, c.layer, ...(c.flags || []), ...pairs(c)].join(" ")} `.toLowerCase());
  const values = new Set(cases.flatMap(pairs));

  function block(title, text) {
    return text ? [h("dt", {}, title), h("dd", {}, h("pre", {}, text))] : [];
  }
  function details(c) {
    const link = (path) => h("a", {href: path.split("/").map(encodeURIComponent).join("/"), rel: "noreferrer"}, path);
    return h("dl", {},
      ...Object.entries(c.params).flatMap(([n, v]) => [h("dt", {}, n), h("dd", {}, v)]),
      ...(c.findings || []).flatMap((f) => [h("dt", {}, f.severity), h("dd", {}, h("strong", {}, f.name),
        h("pre", {}, f.detail || ""), f.remedy ? h("div", {class: "soft"}, f.remedy) : null)]),
      ...block("expectations", (c.expectations || []).join("\n")), ...block("steps", (c.steps || []).join("\n")),
      ...block("evidence", c.evidence), ...block("output", c.output), ...block("waived", c.waived),
      ...(c.attachments ? [h("dt", {}, "attachments"), h("dd", {}, ...c.attachments.flatMap((a) => [link(a), " "]))] : []),
      ...block("reproduce", c.reproduce));
  }
  function rowsOf(c) {
    const open = h("tr", {hidden: true});
    const name = h("button", {type: "button", class: "name", "aria-expanded": "false", onclick: () => {
      if (!open.childNodes.length) open.append(h("td", {colspan: 5}, details(c)));
      open.hidden = !open.hidden;
      name.setAttribute("aria-expanded", String(!open.hidden));
    }}, c.id);
    return [h("tr", {}, h("td", {class: c.outcome}, c.outcome + (c.required ? "" : " (optional)")), h("td", {class: "text id"}, name),
      h("td", {class: "wide"}, c.device || ""), h("td", {class: "wide"}, seconds(c.seconds)),
      h("td", {class: "wide text"}, [c.reason || "", ...(c.flags || [])].filter(Boolean).join(", "))), open];
  }
  function show(number) {
    const next = found.slice(shownRows, shownRows + number);
    shownRows += next.length;
    body.append(...next.flatMap(rowsOf));
    more.hidden = shownRows >= found.length;
    count.textContent = `${found.length} of ${cases.length} cases`;
  }
  function refresh() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean).map((word) => (values.has(word) ? ` ${word} ` : word));
    found = cases.filter((c, i) => words.every((word) => texts[i].includes(word)) &&
      (!plugin.value || c.plugin === plugin.value) &&
      (!outcome.value || (outcome.value === "red" ? c.red : c.outcome === outcome.value)));
    if (order.value === "time") found.sort((a, b) => b.seconds - a.seconds);
    if (order.value === "red") found.sort((a, b) => b.red - a.red);
    body.replaceChildren();
    shownRows = 0;
    show(PAGE);
  }
  search.addEventListener("input", refresh);
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

  app.append(...[environment(), map(), timeline(), section("Cases",
    h("div", {class: "bar"}, search, outcome, plugin, order, theme, count),
    h("div", {class: "scroll"}, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "outcome"), h("th", {}, "case"),
      h("th", {class: "wide"}, "device"), h("th", {class: "wide"}, "s"), h("th", {class: "wide"}, "reason"))), body)), more)]
    .filter(Boolean));
  refresh();
})();
