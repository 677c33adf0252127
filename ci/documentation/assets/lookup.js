/* What a program printed, or the id of a finding, gives the cure at once: in the field of the first page and of the page of errors, and
 * as the first hit of the theme's search, which looks for words alone.
 *
 * It finds what `cudnn-ci explain` finds (harness/cli/finding_signs.cc). What is known stands in lookup-data.js.
 */
"use strict";
(() => {
  const MOST = 3; // messages shown
  const LEAST = 6; // with fewer letters a match says nothing
  const LONGEST = 100000; // letters of a text that are read, from its end, where the error is
  const BLAMES = ["image", "runner", "harness", "matrix", "undetermined"];

  // Lower case, one blank for each run of white space, without quotes; with `numbers` a # for each number.
  const comparable = (text, numbers) => {
    const plain = text.toLowerCase().replace(/['"`]/g, "").replace(/\s+/g, " ").trim();
    return numbers ? plain.replace(/\d+/g, "#") : plain;
  };
  const formsOf = (text) => [comparable(text, true), comparable(text, false)];
  const formsOfParts = new Map();
  const formsOfPart = (part) => formsOfParts.get(part) ?? formsOfParts.set(part, formsOf(part)).get(part);

  // Whether no word goes across this place of a text; # stands for a number.
  const isBorder = (text, at) => !/^[a-z0-9_#]{2}$/.test(text.slice(Math.max(0, at - 1), at + 1));

  // The letters of a message that a text has in their order, as whole words; "*" and "..." stand for anything.
  const letters = (text, message) => {
    const pieces = message.split(/\*|\.\.\./);
    let from = 0;
    let count = 0;
    for (const [i, piece] of pieces.entries()) {
      const fits = (at) => !piece || ((i > 0 || isBorder(text, at)) && (i < pieces.length - 1 || isBorder(text, at + piece.length)));
      let at = text.indexOf(piece, from);
      while (at >= 0 && !fits(at)) at = text.indexOf(piece, at + 1);
      if (at < 0) return 0;
      from = at + piece.length;
      count += piece.length;
    }
    return count;
  };

  // How much of a message a text is, and how well: 3 the message itself, 2 it has the message's words, 1 it begins words of the message.
  const scoreOf = (asked, printed) => {
    if (asked === printed) return [asked.length, 3];
    const found = letters(asked, printed);
    if (found) return [found, 2];
    let at = asked ? printed.indexOf(asked) : -1;
    while (at > 0 && !isBorder(printed, at)) at = printed.indexOf(asked, at + 1);
    return at < 0 ? [0, 0] : [asked.length, isBorder(printed, at + asked.length) ? 2 : 1];
  };
  const better = (a, b) => b[0] - a[0] || b[1] - a[1];
  const score = (asked, message, form) =>
    message.parts.map((part) => scoreOf(asked[form], formsOfPart(part)[form])).filter(([found]) => found >= LEAST).sort(better)[0] ?? [0, 0];

  // The first finding whose id is a word of a text: one with hyphens, or one that a report puts behind its blame.
  const named = (known, text) => {
    const byId = new Map(known.findings.map((finding) => [finding.id, finding]));
    let before = "";
    for (const word of text.toLowerCase().split(/([^a-z0-9_-]+)/)) {
      if (byId.has(word) && (word.includes("-") || BLAMES.some((blame) => before === `${blame}.`))) return byId.get(word);
      before = word === "." ? `${before}.` : word;
    }
    return undefined;
  };

  const lookup = (known, pasted) => {
    const text = pasted.slice(-LONGEST).trim();
    const id = text.toLowerCase().replace(/ /g, "-").replace(/^.*\./, "");
    const whole = known.findings.find((one) => one.id === id);
    const certain = named(known, text) ?? (whole && whole.id === text.replace(/^.*\./, "") ? whole : undefined);
    if (certain) return { finding: certain, messages: [] };
    const asked = formsOf(text);
    const hits = known.messages
      .map((message) => ({ message, rank: [score(asked, message, 0), score(asked, message, 1)] }))
      .filter((hit) => hit.rank[0][0] > 0)
      .sort((a, b) => b.rank[0][0] - a.rank[0][0] || b.rank[1][0] - a.rank[1][0] || b.rank[1][1] - a.rank[1][1] || b.rank[0][1] - a.rank[0][1] ||
        b.message.findings.length - a.message.findings.length);
    return { finding: hits.length ? undefined : whole, messages: hits.slice(0, MOST).map((hit) => hit.message) };
  };

  if (typeof module !== "undefined") {
    module.exports = { lookup };
    return;
  }

  const make = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  // Text with `code` in it.
  const marked = (text) => text.split("`").map((part, at) => (at % 2 ? make("code", {}, part) : part));
  const linked = (ids) => ids.slice(0, 4).flatMap((id, at) => [at ? ", " : "", make("a", { href: `findings.html#${id}` }, id)]);
  const card = (title, cure, below) => make("li", {}, make("p", { class: "cci-message" }, ...title), make("p", { class: "cci-cure" }, ...cure), make("p", { class: "cci-more" }, ...below));

  const shown = ({ finding, messages }) => [
    ...(finding ? [card([make("strong", {}, finding.id), ": ", ...marked(finding.summary)], [...marked(finding.remedy), ...(finding.command ? [" ", make("code", {}, finding.command)] : [])],
      ["More: ", ...linked([finding.id])])] : []),
    ...messages.map((one) => card(marked(one.text), marked(one.fix), ["cudnn-ci names the cause: ", ...linked(one.findings), one.findings.length > 4 ? " and others" : ""])),
  ];

  // Whether a text is a topic: one word of a language, which says nothing of what was printed.
  const isTopic = (text) => /^[A-Z]?[a-z]*$/.test(text);

  // The first hit of the theme's search, as the theme has hits; undefined without one. `base`: where the site begins.
  const hitOf = ({ finding, messages: [message] }, base) => {
    if (!finding && !message) return undefined;
    const [address, title, text] = message ? [message.row, message.text, message.fix] : [`findings.html#${finding.id}`, finding.id, `${finding.summary}. ${finding.remedy}`];
    return make("li", { class: "md-search-result__item cci-hit" },
      make("a", { href: new URL(address, base).href, class: "md-search-result__link", tabindex: "-1" },
        make("article", { class: "md-search-result__article md-typeset", "data-md-score": "1e9" }, make("h2", {}, ...marked(title)), make("p", {}, ...marked(text)))));
  };

  const startSearch = () => {
    const query = document.querySelector("input[name=query]");
    const list = document.querySelector(".md-search-result__list");
    if (!query || !list) return;
    const base = new URL(`${JSON.parse(document.getElementById("__config").textContent).base}/`, location.href);
    let asked = "";
    let hit;
    // The theme makes the list anew for each letter.
    const show = () => {
      const text = query.value.trim();
      if (text !== asked) {
        list.querySelector(".cci-hit")?.remove();
        asked = text;
        hit = text && !isTopic(text) ? hitOf(lookup(window.cudnnCiKnown, text), base) : undefined;
      }
      if (hit && list.firstChild !== hit) list.prepend(hit);
    };
    new MutationObserver(show).observe(list, { childList: true });
    query.addEventListener("input", show);
  };

  const start = () => {
    startSearch();
    const field = document.getElementById("cci-text");
    const results = document.getElementById("cci-results");
    if (!field) return;
    const show = () => {
      const text = field.value.trim();
      field.style.height = "auto";
      field.style.height = `${Math.min(field.scrollHeight + 4, 200)}px`;
      const cards = text ? shown(lookup(window.cudnnCiKnown, text)) : [];
      results.replaceChildren(...(cards.length || text.length < LEAST ? cards :
        [make("li", {}, make("p", {}, "No known message is like this one. Run the gate where it fails: ", make("code", {}, "./cudnn-ci run IMAGE"), " tests the driver first, then the toolkit, cuDNN and the frameworks, and names what is broken."))]));
    };
    field.addEventListener("input", show);
    for (const one of document.querySelectorAll(".cci-example"))
      one.addEventListener("click", () => {
        field.value = one.textContent;
        show();
        field.focus();
      });
    show();
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
