/* The field of the first page and of the page of errors: what a program printed, or the id of a finding, gives the cure at once.
 *
 * It finds what `cudnn-ci explain` finds (harness/cli/finding_signs.cc). What is known stands in lookup-data.js.
 */
"use strict";
(() => {
  const MOST = 3; // messages shown
  const LEAST = 6; // with fewer letters a match says nothing
  const LONGEST = 100000; // letters of a text that are read

  // Lower case, one blank for each run of white space, without quotes; with `numbers` a # for each number.
  const comparable = (text, numbers) => {
    const plain = text.toLowerCase().replace(/['"`]/g, "").replace(/\s+/g, " ").trim();
    return numbers ? plain.replace(/\d+/g, "#") : plain;
  };

  // The letters of a message that a text has in their order; "*" and "..." stand for anything.
  const letters = (text, message) => {
    let from = 0;
    let count = 0;
    for (const piece of message.split(/\*|\.\.\./)) {
      const at = text.indexOf(piece, from);
      if (at < 0) return 0;
      from = at + piece.length;
      count += piece.length;
    }
    return count;
  };

  const score = (text, message, numbers) => {
    const asked = comparable(text, numbers);
    return Math.max(0, ...message.parts.map((part) => {
      const printed = comparable(part, numbers);
      const found = letters(asked, printed) || (asked && printed.includes(asked) ? asked.length : 0);
      return found < LEAST ? 0 : found;
    }));
  };

  const lookup = (known, pasted) => {
    const text = pasted.slice(0, LONGEST).trim();
    const hits = known.messages
      .map((message) => ({ message, rank: [score(text, message, true), score(text, message, false), message.findings.length] }))
      .filter((hit) => hit.rank[0] > 0)
      .sort((a, b) => b.rank[0] - a.rank[0] || b.rank[1] - a.rank[1] || b.rank[2] - a.rank[2]);
    const id = text.toLowerCase().replace(/ /g, "-").replace(/^.*\./, "");
    const finding = known.findings.find((one) => one.id === id);
    return { finding: finding && (finding.id === text.replace(/^.*\./, "") || !hits.length) ? finding : undefined, messages: hits.slice(0, MOST).map((hit) => hit.message) };
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

  const start = () => {
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
