"""The field of the site's first page that takes an error's text and shows the cure, and what it and the theme's search know."""
import html
import json
import re

EXAMPLES = ["libcudnn_cnn_infer.so.8: cannot open shared object file", "CUDNN_STATUS_NOT_INITIALIZED", "no kernel image is available",
            "Unable to find a valid cuDNN algorithm", "undefined symbol: ncclCommSplit", "libcudart.so.12: cannot open shared object file",
            "Failed to find C compiler", "CUDA driver version is insufficient"]
TITLES = {"index.md": "What did your program print?", "errors.md": "Find a message"}  # of the pages that have the field
BELOW = {"index.md": "</pre>", "errors.md": "</h1>"}  # it stands below the first of these: on the first page, what the tool is and how to start it come before it


def known(files):
    """What lookup.js searches: the messages of other programs, and the findings."""
    messages, findings = [], []
    for finding in [finding for file in files.values() for finding in file["findings"]]:
        findings.append({key: finding[key] for key in ("id", "summary", "remedy", "command") if key in finding})
        for row in finding.get("messages", []):
            messages.append({"text": row["text"], "fix": row["fix"], "parts": re.findall(r"`([^`]*)`", row["text"]),
                             "findings": [finding["id"], *row.get("also", [])]})
    return {"messages": messages, "findings": findings}


def script_of(data):
    """lookup-data.js of what known() gives."""
    return f"window.cudnnCiKnown = {json.dumps(data, ensure_ascii=True, separators=(',', ':'))};\n"


def data_of(files):
    """lookup-data.js."""
    return script_of(known(files))


def words_of(message):
    """The words of a message, by which its row is found, however it is marked up."""
    return re.sub(r"[^a-z0-9]+", " ", message.lower()).strip()


def with_field(page, content):
    """The HTML of a page, with the field if it is to have it."""
    if page not in BELOW:
        return content
    head, end, rest = content.partition(BELOW[page])
    inner = re.match(r"(?:</\w+>)*", rest)[0]
    return head + end + inner + field(page) + rest[len(inner):]


def field(page):
    """The field and its examples, as HTML."""
    examples = "".join(f'<button type="button" class="cci-example">{html.escape(text)}</button>' for text in EXAMPLES)
    return (f'<section class="cci-front" data-search-exclude><p class="cci-title" id="cci-title">{TITLES[page]}</p>'
            '<textarea id="cci-text" rows="1" spellcheck="false" autocomplete="off" aria-labelledby="cci-title" '
            'placeholder="Paste an error message, or the id of a finding"></textarea>'
            f'<ul id="cci-results" aria-live="polite"></ul><div class="cci-examples"><span>Often looked up:</span>{examples}</div></section>\n')
