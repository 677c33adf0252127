"""Reads the SDK's headers: their declarations, with the comments that stand before and behind them.

No compiler: the headers have one style (.clang-format), and tests/site holds that every public name of theirs is found."""
import re

PIECE = re.compile(r'(//[^\n]*|/\*.*?\*/)|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.DOTALL)  # a comment, or a literal


class Item:
    """One declaration: the `comments` before it, its `code`, and the comment `behind` it; `gap`: an empty line stands before all. Comments
    that belong to no declaration have no code."""

    def __init__(self, comments, code, behind, gap):
        self.comments, self.code, self.behind, self.gap = comments, code, behind, gap

    @property
    def name(self):
        """What is declared."""
        for pattern in (r"^#define (\w+)", r"^typedef struct (?:\w+ )?\{?.*?(\w+);$", r"^(?:template <[^>]*>\s*)?(?:enum|struct|class) (\w+)",
                        r"^[^(]*\(\*(\w+)\)", r"(\w+)\s*\(", r"(\w+)(?:\[\w*\])?\s*(?:=|;|,|$)"):
            found = re.search(pattern, self.code, flags=re.DOTALL)
            if found:
                return found[1]
        return self.code

    @property
    def body(self):
        """What stands between the braces of a struct, class or enum; None: it is none, or its fields are not told."""
        if not re.match(r"(?:template <[^>]*>\s*)?(?:typedef )?(?:struct|class|enum)\b", self.code) or "{" not in self.code:
            return None
        return self.code[self.code.index("{") + 1:self.code.rindex("}")]


def comment_text(raw):
    """The words of a comment, or of several // lines."""
    if raw.startswith("/*"):
        lines = [re.sub(r"^\s*\* ?", "", line) for line in raw[2:-2].split("\n")]
        lines[0] = lines[0].lstrip()
    else:
        lines = [re.sub(r"^\s*// ?", "", line) for line in raw.split("\n")]
    return "\n".join(line.rstrip() for line in lines).strip()


def without_frame(text):
    """A header without its guard, its includes, its namespaces, and what only a C++ compiler sees of a C header."""
    text = re.sub(r"^#ifdef __cplusplus\n.*?^#endif[^\n]*\n", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^namespace detail \{\n.*?^\}  // namespace detail\n", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?:namespace cudnn_ci \{|\}  // namespace cudnn_ci)\n", "", text, flags=re.MULTILINE)
    return re.sub(r"^#(?:(?:ifndef|endif|include)\b[^\n]*|define \w+_HP{0,2}_)\n", "", text, flags=re.MULTILINE)


def without_comments(code):
    return PIECE.sub(lambda piece: piece[2] or "", code)


def is_complete(code):
    """Whether a declaration ends with these lines."""
    if code.startswith("#"):
        return not code.endswith("\\")
    text = PIECE.sub(lambda piece: '""' if piece[2] else "", code).rstrip()
    if sum(text.count(c) for c in "({[") != sum(text.count(c) for c in ")}]") or "/*" in text:
        return False
    return text.endswith((";", "}", ",", ":")) or text == ""


def split_behind(code):
    """(the declaration, the words of the comment at its end)."""
    comments = [piece for piece in PIECE.finditer(code) if piece[1]]
    if not comments or comments[-1].end() != len(code):
        return code, ""
    return code[:comments[-1].start()].rstrip(), comment_text(comments[-1][1])


def items_of(text):
    """The declarations of a text, at its own depth."""
    found, comments, code, gap = [], [], "", False
    for line in text.split("\n"):
        start = line.strip()
        if code:
            code += "\n" + line
        elif comments and comments[-1].startswith("/*") and not comments[-1].endswith("*/"):
            comments[-1] += "\n" + start
            continue
        elif start.startswith("/*"):
            comments.append(start)
            continue
        elif start.startswith("//"):
            comments[-1:] = [f"{comments[-1]}\n{start}"] if comments else [start]
            continue
        elif not start:
            if comments:
                found.append(Item([comment_text(comment) for comment in comments], "", "", gap))
            comments, gap = [], True
            continue
        else:
            code = start
        if is_complete(code):
            code, behind = split_behind(code.rstrip()) if code.startswith("#") or "\n" not in code else (code.rstrip(), "")
            found.append(Item([comment_text(comment) for comment in comments], code, behind, gap))
            comments, code, gap = [], "", False
    if code or comments:  # the last enumerator has no comma
        code, behind = split_behind(code.rstrip())
        found.append(Item([comment_text(comment) for comment in comments], code, behind, gap))
    return found


def dedented(text):
    lines = text.split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[indent:] for line in lines)


def members_of(item):
    """The public members of a struct or class, the enumerators of an enum."""
    members, public = [], not re.match(r"(?:template <[^>]*>\s*)?class\b", item.code)
    for member in items_of(dedented(re.sub(r"^ (public|private):", r"\1:", item.body, flags=re.MULTILINE))):
        if member.code in ("public:", "private:"):
            public = member.code == "public:"
        elif public and "= delete;" not in member.code:
            members.append(member)
    return members


def signature(code):
    """A declaration without the body of a function or of a macro with arguments, in one line."""
    text, depth = without_comments(code), 0
    macro = re.match(r"#define (\w+\([^)]*\))", text)
    if macro:
        return macro[1]
    if not text.startswith("#"):
        for at, letter in enumerate(text):
            depth += (letter in "(<") - (letter in ")>" and text[at - 1] != "-")
            if letter == "{" and depth == 0:
                text = text[:at]
                break
        text = re.sub(r"\)\s*:\s.*$", ")", text, flags=re.DOTALL)
    return re.sub(r" ([,;])", r"\1", " ".join(text.replace("\\\n", " ").split())).rstrip(",")


def parsed(text):
    """The items of a whole header."""
    return items_of(re.sub(r"\n{3,}", "\n\n", without_frame(text)))
