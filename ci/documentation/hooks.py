"""What the site does beyond mkdocs, called by it: the anchors of a forge, tables for a narrow screen, and an entry of the search for
every row of the tables in which a reader looks up an error."""
import html
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))  # mkdocs loads this file by its path

from documentation import front  # noqa: E402: found by the line above

LOOKED_UP = {"errors.md", "failure-modes.md"}  # pages whose rows are found by the search
# The weight of a page in the search: 1, or that of its part of the navigation, or of where it lies. Guides come before explanations. A word
# stands often in the changes, in records of runs and in what explains details, and few look for it there.
PARTS = {"Design": 0.3, "Contributing": 0.3}
PLACES = {"changelog.md": 0.1, "measurements.md": 0.1, "checks-in-detail.md": 0.3, "reports-in-detail.md": 0.3, "gallery/": 0.1, "choices/": 0.1, "sdk-": 0.3, "findings.md": 1.6}
LONG = 60  # characters of a cell from which on a table becomes a list on a narrow screen
SHORT = 14  # characters of the longest cell of a column whose cells then stand side by side
rows = []  # entries of the search


def slug(text, separator):
    """The anchor that GitHub and GitLab give to a heading."""
    return re.sub(r"[^\w\- ]", "", html.unescape(re.sub(r"<[^>]+>", "", text)).lower()).strip().replace(" ", separator)


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = slug
    rows.clear()
    return config


def on_page_markdown(markdown, page, config, files):
    weight = PARTS.get(page.parent.title if page.parent else "", 1)
    for start, lower in PLACES.items():
        if page.file.src_uri.startswith(start):
            weight = lower
    page.meta["search"] = {"boost": weight}


def plain(cell):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", cell)).split())


def labelled(table):
    """A table whose cells say what column they are in, if some are long."""
    heads = [html.escape(plain(cell)) for cell in re.findall(r"<th\b[^>]*>(.*?)</th>", table, flags=re.DOTALL)]
    cells = re.findall(r"<td\b[^>]*>(.*?)</td>", table, flags=re.DOTALL)
    if len(heads) < 2 or max((len(plain(cell)) for cell in cells), default=0) < LONG:
        return table

    longest = [max((len(plain(cell)) for cell in cells[at::len(heads)]), default=0) for at in range(len(heads))]
    marks = [f'<td data-label="{head}"' + (' class="short"' if 0 < at and most <= SHORT else "") for at, (head, most) in enumerate(zip(heads, longest))]

    def row(match):
        marked = iter(marks)
        return re.sub(r"<td\b", lambda found: next(marked, found[0]), match[0])
    return re.sub(r"<tr>.*?</tr>", row, table, flags=re.DOTALL).replace("<table>", '<table class="stacked">', 1)


def with_anchors(table, page, heading, taken):
    """A table in which every row can be linked to, and is found by the search instead of the table. The heading above it is a part of
    each row's title there: a message comes with "CUDA error:" before it, or "cuDNN error:", which the row itself does not repeat."""
    def row(match):
        cells = [plain(cell) for cell in re.findall(r"<td\b[^>]*>(.*?)</td>", match[0], flags=re.DOTALL)]
        if not cells:
            return match[0]
        anchor = "row-" + (re.sub(r"[^a-z0-9]+", "-", cells[0].lower()).strip("-")[:60].strip("-") or "x")
        taken[anchor] = taken.get(anchor, 0) + 1
        anchor += f"-{taken[anchor]}" if taken[anchor] > 1 else ""
        messages = [plain(code) for code in re.findall(r"<code>(.*?)</code>", match[0].partition("</td>")[0], flags=re.DOTALL)]
        rows.append({"messages": messages, "location": f"{page.url}#{anchor}", "title": html.escape(f"{cells[0]} ({heading})", quote=False),
                     "text": "<p>" + html.escape(". ".join(cells[1:]), quote=False) + "</p>"})
        return match[0].replace("<tr>", f'<tr id="{anchor}">', 1)
    return re.sub(r"<tr>.*?</tr>", row, table, flags=re.DOTALL).replace("<table", "<table data-search-exclude", 1)


def on_page_content(content, page, config, files):
    taken, heading = {}, [""]

    def part(match):
        if match[1] is not None:
            heading[0] = plain(re.sub(r'<a class="headerlink".*?</a>', "", match[1], flags=re.DOTALL))
            return match[0]
        text = labelled(match[0])
        return with_anchors(text, page, heading[0], taken) if page.file.src_uri in LOOKED_UP else text
    made = re.sub(r"<h[1-6]\b[^>]*>(.*?)</h[1-6]>|<table>.*?</table>", part, content, flags=re.DOTALL)
    # A wide picture is too small on a phone: a touch shows it whole.
    made = re.sub(r'<p>(<img [^>]*?src="([^"]+)"[^>]*>)</p>', r'<p><a class="cci-picture" href="\2">\1</a></p>', made)
    return front.with_field(page.file.src_uri, made)


def put_names_before_longer_ones():
    """The search takes a word for the beginning of others, and a rare one for the better hit: CUDNN_STATUS_NOT_SUPPORTED would find the
    row of CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH first."""
    names = {name for row in rows for name in re.findall(r"\b[A-Z]+_\w+", row["title"])}
    beginnings = {name for name in names if any(other.startswith(f"{name}_") for other in names)}
    titles = [(row, messages) for row in rows if (messages := row.pop("messages"))]
    for row in rows:
        if not beginnings.isdisjoint(re.findall(r"\w+", row["title"])):
            row["boost"] = 2
    for row, messages in titles:
        # As much for a message that another row has a part of: "driver version is insufficient", and what NCCL prints before it.
        if any(message in other for message in messages for row_of, others in titles if row_of is not row for other in others):
            row["boost"] = 1.3


def add_rows_to_lookup(path):
    """The row of the page of errors to each message that lookup.js knows: the theme's search leads there."""
    begin, end = front.data_of({}).split("{", 1)[0], ";\n"
    known = json.loads(path.read_text(encoding="utf-8")[len(begin):-len(end)])
    places = {}
    for row in rows:
        if row["location"].startswith("errors.html#"):
            places.setdefault(front.words_of(html.unescape(row["title"]).rpartition(" (")[0]), row["location"])
    for message in known["messages"]:
        message["row"] = places[front.words_of(message["text"])]
    path.write_text(front.script_of(known), encoding="utf-8")


def on_post_build(config):
    add_rows_to_lookup(pathlib.Path(config.site_dir) / "assets/lookup-data.js")
    put_names_before_longer_ones()
    path = pathlib.Path(config.site_dir) / "search/search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    index["docs"] += rows
    path.write_text(json.dumps(index, separators=(",", ":")), encoding="utf-8")
