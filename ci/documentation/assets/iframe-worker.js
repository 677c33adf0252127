/* The search without a server, and for error messages.
 *
 * A browser starts no worker from a file: address. There the page's worker is an iframe without an address, which loads the same
 * script; the theme's worker knows this case by the name IFrameWorker.
 *
 * In the theme's query language a colon, a caret, a tilde and a leading plus or minus have meanings; in a message that is pasted they
 * are marks, and become blanks on the way to the worker. The theme takes every word for the beginning of one. Of a message, which has
 * four words or more, whole words are looked for, names and numbers (libcudart, CUDNN_STATUS_..., 804) before others.
 */
(() => {
  const QUERY = 2; // the theme's type of message for a search
  const MESSAGE = 4; // words
  const isName = (word) => /[_\d]|^lib|^[A-Z]{3,}$/.test(word);

  const asQuery = (text) => {
    const words = text.replace(/[:^~*"'`()\[\]{}<>|,;=]|(^|\s)[+-]+|\.(?=\s|$)/g, " ").split(/\s+/).filter(Boolean);
    if (words.length < MESSAGE) return words.join(" ");
    return words.filter((word) => word.length > 2 || isName(word)).map((word) => `${word}^${isName(word) ? 9 : 1}`).join(" ");
  };
  const plain = (message) =>
    message && message.type === QUERY && typeof message.data === "string" ? { ...message, data: asQuery(message.data) } : message;

  if (location.protocol !== "file:") {
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (message, ...rest) {
      return post.call(this, plain(message), ...rest);
    };
    return;
  }

  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      // What the worker posts goes to the page, as from a worker.
      this.frame.srcdoc =
        "<script>postMessage = (message) => parent.postMessage(message, '*')</" + 'script><script src="' + String(url) + '"></' + "script>";
      this.frame.addEventListener("load", () => {
        this.ready = true;
        for (const message of this.waiting.splice(0)) this.postMessage(message);
      });
      window.addEventListener("message", (event) => {
        if (event.source === this.frame.contentWindow) this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      });
      document.documentElement.append(this.frame);
    }
    postMessage(message) {
      if (!this.ready) this.waiting.push(message);
      else this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: plain(message) }));
    }
    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
})();
