"""Which files are pages of the site, and their Markdown as the site's renderer wants it.

The documents are written for whoever reads them in the repository. On the site they lie elsewhere, so links are rewritten; what is
no page and no picture cannot be linked to. Three things are Markdown on a forge and not to Python-Markdown: a title behind the
language of a block of code, a list that is indented by two blanks, and Markdown within <details>. A forge shows the <source> of a
<picture> for the reader's theme; the site, where a reader can switch, has a picture for each. A block of commands gets its language."""
import os
import pathlib
import re

from . import choices, findings_pages

SCHEMA = "matrices/matrix.schema.json"
KNOWLEDGE = "knowledge/README.md"
HEADERS = "harness/sdk/include/cudnn_ci"
LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)")
NAMED = re.compile(r"\[([\w/-]+\.md)\]\(((?:[^)#\s]*/)?\1)")  # the text is the file's name
FENCE = re.compile(r"^ *```")
TITLED = re.compile(r"^( *```\w+) (\S+)$")
ATTRIBUTE = re.compile(r'\b(src|srcset)="([^"]+)"')
PICTURE = re.compile(r"<picture>.*?</picture>", re.DOTALL)
DARK = re.compile(r"(?: and )?\(prefers-color-scheme: dark\)")
COMMAND = re.compile(r"[A-Z_]+=\S+ |(?:\./)?cudnn-ci\b|(?:\./)?ci/|(?:chmod|docker|mkdir|mv|pip|podman|python3?|sha256sum|srun) ")
NESTED = re.compile(r"^( {2,3})([-*] |\d+\. )")
SAMPLES, GALLERY = "sample-runs.md", "gallery/index.md"  # the one page follows the other, to which no document links
PICTURES = {".webp", ".png", ".svg"}


class Failure(Exception):
    """The message for the user."""


def sources(root):
    """Every document and picture of the site, as {path in the repository: path on the site}, in a fixed order."""
    found = {"README.md": "index.md", "harness/docs/README.md": "contents.md", "matrices/README.md": "matrices.md",
             "harness/DESIGN.md": "design.md", KNOWLEDGE: "knowledge-files.md"}
    for name in ("SECURITY", "CHANGELOG", "CONTRIBUTING"):
        found[f"{name}.md"] = f"{name.lower()}.md"
    docs = root / "harness/docs"
    for path in sorted(docs.rglob("*")):
        name = path.relative_to(docs).as_posix()
        if name not in ("README.md", "installed.md") and path.suffix in {".md", *PICTURES}:  # installed.md is the installed tree's
            found[f"harness/docs/{name}"] = name.replace("README.md", "index.md")
    return found


def generated(root):
    """The pages that are made of other files, as sources() has them. Where the repository has a part of a page that tells of the
    data, the site has a page that is made of them."""
    headers = sorted((root / HEADERS).iterdir())
    counts = sorted((root / choices.FOLDER).glob("*.json"))
    return {SCHEMA: "matrix-keys.md", **{f"{KNOWLEDGE}#{page[:-3]}": page for page in findings_pages.PAGES},
            **{f"{HEADERS}/{path.name}": f"sdk-{path.name.replace('.', '-')}.md" for path in headers},
            **{f"{choices.FOLDER}/{path.name}": f"choices/{path.stem}.md" for path in counts}}


def of_gallery(folder):
    """The page and the pictures that `ci/gallery draw` put into a folder, as sources() has them, by their absolute paths."""
    if folder is None:
        return {}
    folder = folder.resolve()
    if not (folder / "README.md").is_file():
        raise Failure(f"{folder} has no gallery: `ci/gallery draw` makes one")
    return {str(path): "gallery/" + path.name.replace("README.md", "index.md")
            for path in sorted(folder.iterdir()) if path.suffix in {".md", *PICTURES}}


def source_of(page, link, anchor, places):
    """What a link of a page leads to, as places have it, and the anchor there."""
    source = os.path.normpath(pathlib.PurePosixPath(page).parent / link)
    return (f"{source}{anchor}", "") if f"{source}{anchor}" in places else (source, anchor)


def target_of(page, link, anchor, places):
    """Where a link of a page leads on the site, relative to the page there."""
    source, anchor = source_of(page, link, anchor, places)
    if source not in places:
        raise Failure(f"{page}: the link to {link} leads to no page of the site")
    return os.path.relpath(places[source], pathlib.PurePosixPath(places[page]).parent) + anchor


def title_of(path):
    """The heading of a page."""
    return re.search(r"^# +(.+?) *$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1]


def themed(match):
    """A <picture> with sources for a dark theme as two, of which the theme's style shows one."""
    sources = re.findall(r"<source [^>]*>", match[0])
    image = re.search(r"<img [^>]*>", match[0])[0]
    dark = {DARK.sub("", re.search(r'media="([^"]*)"', one)[1]): one for one in sources if DARK.search(one)}
    if not dark:
        return match[0]
    made = ""
    for scheme, chosen in (("light", [one for one in sources if one not in dark.values()]), ("dark", [one for media, one in dark.items() if media])):
        one = image if scheme == "light" else re.sub(r'src="[^"]*"', "src=" + re.search(r'srcset=("[^"]*")', dark[""])[1], image)
        made += "<picture>" + "".join(DARK.sub("", source) for source in chosen) + re.sub(r'(src="[^"]*)"', rf'\1#only-{scheme}"', one) + "</picture>"
    return made


def language_of(block):
    """The language of an indented block: that of what one types, with a prompt before it or not; empty: anything else."""
    lines = [line for line in block if line]
    starts = [line for at, line in enumerate(lines) if at == 0 or not lines[at - 1].endswith("\\")]
    return "console" if block[0].startswith("$ ") else "sh" if all(COMMAND.match(line) for line in starts) else ""


def with_languages(text):
    """Markdown in which indented blocks of commands, outside of lists, are fences that name their language."""
    def fenced(match):
        block = [line[4:] for line in match[2].rstrip("\n").split("\n")]
        language = language_of(block)
        return f"{match[1]}```{language}\n" + "\n".join(block) + "\n```\n\n" if language else match[0]
    parts = re.split(r"(^ *```.*?^ *```$)", text, flags=re.MULTILINE | re.DOTALL)
    # Before the block is a line that is neither indented nor an item of a list.
    block = r"(^(?![-*] |\d+\. | ).+\n\n)((?: {4}.*\n)(?:(?: {4}.*)?\n(?=\n| {4}|\Z|\S))*)"
    return "".join(part if at % 2 else re.sub(block, fenced, part, flags=re.MULTILINE) for at, part in enumerate(parts))


def rewritten(root, page, places):
    """The Markdown of a page of the repository as a page of the site. `places`: sources() and generated() together."""
    def named(match):
        file = root / pathlib.PurePosixPath(page).parent / match[2]
        return f"[{title_of(file)}]({match[2]}" if file.is_file() else match[0]

    def link(match):
        address, anchor = match[1], match[2] or ""
        if not address or "://" in address or address.startswith("mailto:"):
            return match[0]
        return f"]({target_of(page, address, anchor, places)})"

    def attribute(match):
        address, _, anchor = match[2].partition("#")
        return match[0] if "://" in address else f'{match[1]}="{target_of(page, address, anchor and "#" + anchor, places)}"'

    lines, in_code = [], False
    for line in with_languages(PICTURE.sub(themed, (root / page).read_text(encoding="utf-8"))).split("\n"):
        if FENCE.match(line):
            if not in_code:
                line = TITLED.sub(r'\1 title="\2"', line)
            in_code = not in_code
        elif not in_code and not line.startswith("    "):
            line = ATTRIBUTE.sub(attribute, LINK.sub(link, NAMED.sub(named, line)))
            line = NESTED.sub(r"    \2", line)
            line = line.replace("<details>", '<details markdown="1">')
        lines.append(line)
    return "\n".join(lines)


def links_of(text):
    """The links of a piece of Markdown, [(text, address, anchor)], texts in one line and without backquotes."""
    found = re.findall(r"\[([^\]]+)\]\(([^)#\s]*)(#[^)\s]*)?\)", text)
    return [(" ".join(words.replace("`", "").split()), address, anchor) for words, address, anchor in found]


def navigation(root, places):
    """mkdocs' nav, by the headings and lists of harness/docs/README.md. Each page stands once: where it is linked to as a whole, or
    else where its first part is. Links behind words and a colon are a group with these words as its name. A page that this table of
    contents does not have is in a group with the first page that links to it."""
    contents = "harness/docs/README.md"
    sections = re.split(r"^## +(.+?) *$", (root / contents).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    entries = []  # [section, group, title, source, whether it is the whole page]
    for name, text in zip(sections[::2], sections[1::2]):
        for item in re.split(r"^- ", text, flags=re.MULTILINE):
            group = re.match(r"([^\[\]:]+):", item)
            for title, address, anchor in links_of(item):
                if "://" not in address:
                    source, rest = source_of(contents, address, anchor, places)
                    entries.append((name, group and " ".join(group[1].split()), title, source, not rest))
    taken = {}
    for at, (name, group, title, source, whole) in sorted(enumerate(entries), key=lambda entry: not entry[1][4]):
        if source not in places:
            raise Failure(f"{contents}: {source} is no page of the site")
        if source not in taken:
            taken[source] = (at, name, group, title if whole or source == "README.md" else None)
    tree = {name: [] for name in sections[::2]}
    for source, (_, name, group, title) in sorted(taken.items(), key=lambda entry: entry[1][0]):
        after = [page for page in places if places[page] == GALLERY] if places[source] == SAMPLES else []
        pages = [*followers(root, source, places, {*taken, contents}), *after]
        taken |= {page: (None, name, None, None) for page in pages}
        entry = {title: places[source]} if title else places[source]
        if pages:
            entry = {title or title_of(root / source): [{"Overview": places[source]}, *(places[page] for page in pages)]}
        last = tree[name][-1] if tree[name] else None
        if group and isinstance(last, dict) and group in last:
            last[group].append(entry)
        else:
            tree[name].append({group: [entry]} if group else entry)
    missing = [source for source, place in places.items() if place.endswith(".md") and source not in {*taken, contents}]
    if missing:
        raise Failure(f"{contents}: no page leads to {', '.join(missing)}")
    return [*({name: pages} for name, pages in tree.items()), {"Contents": places[contents]}]


def followers(root, source, places, known):
    """The pages that a page links to and that have no place yet."""
    if not source.endswith(".md"):
        return []
    text = (root / source).read_text(encoding="utf-8")
    linked = [os.path.normpath(pathlib.PurePosixPath(source).parent / address) for _, address, _ in links_of(text) if "://" not in address]
    return [page for page in dict.fromkeys(linked) if page in places and places[page].endswith(".md") and page not in known]
