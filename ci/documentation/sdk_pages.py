"""A page for each header of the SDK, of its declarations and their comments."""
import html
import re

from . import headers

INTRODUCTION = "From `{path}`, as it is installed: `#include <cudnn_ci/{name}>`."


def inline(text):
    """The words of a comment as HTML: names of code in code."""
    parts = re.split(r"`([^`\n]+)`|\b((?:CCI_|cci_|host->)\w+\*?|\w+\(\))", " ".join(text.split()))
    pieces = []
    for at in range(0, len(parts), 3):
        pieces.append(html.escape(parts[at], quote=False))
        if at + 1 < len(parts):
            pieces.append(f"<code>{html.escape(parts[at + 1] or parts[at + 2], quote=False)}</code>")
    return "".join(pieces)


def is_code(line):
    return line.startswith("  ") and not re.match(r" +\(\d+\) ", line)


def blocks(text):
    """A comment's text as HTML: paragraphs, a numbered item as its own paragraph, and code, which is indented."""
    found, item = [], False
    for paragraph in re.split(r"\n\s*\n|\n(?= *\(\d+\) )", text):
        item = bool(re.match(r" *\(\d+\) ", paragraph)) or (item and paragraph.startswith("  "))
        words, code = [], []

        def flush():
            if words:
                found.append(f"<p>{inline(' '.join(words))}</p>")
            if code:
                found.append(f"<pre><code>{html.escape(headers.dedented(chr(10).join(code)), quote=False)}</code></pre>")
            words.clear()
            code.clear()
        for line in paragraph.split("\n"):
            if is_code(line) and not item:
                code.append(line)
            else:
                if code:
                    flush()
                words.append(line.strip())
        if words and code:  # words before their code
            last, code[:] = list(code), []
            flush()
            code.extend(last)
        flush()
    return "\n".join(found)


def definitions(members):
    """The members of a struct, the macros of a group: <dl>. One without words belongs to the words before it."""
    lines, words = ["<dl>"], []

    def flush():
        if words:
            lines.append(f"<dd>{' '.join(words)}</dd>")
        words.clear()
    for member in members:
        if member.comments or member.behind or member.gap:
            flush()
        if not member.code:
            continue
        lines.append(f"<dt><code>{html.escape(headers.signature(member.code), quote=False)}</code></dt>")
        told = [blocks(comment) for comment in member.comments]
        if member.behind:
            told.append(f"<p>{inline(member.behind)}</p>")
        words += told
        if member.behind:
            flush()
    flush()
    return "\n".join([*lines, "</dl>"])


def is_internal(item):
    """What an author does not use: helpers of the macros, names declared ahead, definitions of what a class declares."""
    return item.name.endswith("_") or bool(re.match(r"(?:struct|class) \w+;$|inline ", item.code))


def groups(items):
    """The items without the internal ones, in groups without an empty line between. What was said before an internal one is said of
    the next in its group."""
    found, kept = [], []
    for item in items:
        if item.gap or not found:
            found.append([])
            kept = []
        if item.code and is_internal(item):
            kept += item.comments
            continue
        item.comments = kept + item.comments
        kept = []
        found[-1].append(item)
    return [group for group in found if group]


def section(item, level="##", owner=""):
    """A struct, class or enum with its members, and the classes within it as sections of their own."""
    name = owner + item.name
    members = headers.members_of(item)
    inner = [member for member in members if member.code and member.body is not None]
    flat = [member for member in members if member not in inner]
    kind = re.search(r"\b(struct|class|enum)\b", item.code)[1]
    parts = [f"{level} {name}", f"<p><code>{kind} {name}</code></p>", *(blocks(comment) for comment in item.comments), definitions(flat)]
    return "\n\n".join(parts + [section(member, level + "#", f"{name}::") for member in inner])


def group_section(group):
    """A group of declarations under one heading: the name of the only one, or the first sentence about them."""
    first = group[0]
    if not first.code:
        return "\n\n".join(blocks(comment) for comment in first.comments)
    if any(item.body is not None for item in group):
        return "\n\n".join(section(item) if item.body is not None else group_section([item]) for item in group)
    if len(group) == 1 or not first.comments:
        return f"## {first.name}\n\n{definitions(group)}"
    title, _, rest = first.comments[0].partition(".")
    about = [blocks(rest.strip())] if rest.strip() else []
    first.comments = first.comments[1:]
    return "\n\n".join([f"## {' '.join(title.split())}", *about, definitions(group)])


def page_of(path, text):
    """The Markdown of the page of a header, of its path in the repository and its text."""
    name = path.rpartition("/")[2]
    parts = [group_section(group) for group in groups(headers.parsed(text))]
    return "\n\n".join([f"# {name}", INTRODUCTION.format(path=path, name=name), *parts]) + "\n"
