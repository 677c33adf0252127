"""Fresh mutations: small slips a programmer makes, at places drawn at random from the code of a tree.

Comments, preprocessor lines, and the insides of strings and characters are never changed. A draw takes each line with at
least one place with equal chance, then one place in it, so that long files and lines are not favoured beyond
their share of the code.

Not drawn are changes that ask no question of a test, as published practice has it (Petrovic and Ivankovic, "State of Mutation
Testing at Google", 2018, calls such code arid): one more or less of a large number (a limit of 512 characters may as well be
511), how long something waits, sizes of buffers and room made in advance.
"""
import os
import random
import re

from .entries import Mutation

SOURCES = ("harness", "plugins")

# What is replaced by what. Spaces around < and > keep template brackets out.
_SWAPS = [
    (r" == ", [" != "]), (r" != ", [" == "]), (r" < ", [" <= ", " >= "]), (r" <= ", [" < ", " > "]),
    (r" > ", [" >= ", " <= "]), (r" >= ", [" > ", " < "]), (r" && ", [" || "]), (r" \|\| ", [" && "]),
    (r" \+ ", [" - "]), (r" - ", [" + "]), (r" \* ", [" / "]), (r" / ", [" * "]), (r" % ", [" / "]),
    (r" \+= ", [" -= ", " = "]), (r" -= ", [" += "]), (r" \|= ", [" &= ", " = "]), (r" & ", [" | "]), (r" \| ", [" & "]),
    (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]), (r"\bcontinue;", ["break;"]), (r"\bbreak;", ["continue;"]),
    (r"\+\+(?=\w)", ["--"]), (r"(?<=[(!&|] )!(?=[\w(])", [""]), (r"(?<=\()!(?=[\w(])", [""]),
    (r"(?<=return )!(?=[\w(])", [""]), (r"\bstd::min\b", ["std::max"]), (r"\bstd::max\b", ["std::min"]),
    (r"\.front\(\)", [".back()"]), (r"\.back\(\)", [".front()"]), (r"nullptr\b(?=;)", []),
]
_SWAPS = [(re.compile(pattern), after) for pattern, after in _SWAPS if after]
_NUMBER = re.compile(r"(?<![\w.'])(\d+)(?![\w.'])")
_IF = re.compile(r"\b(?:if|while) \(")
# A whole statement on a line: a call, an assignment, an increment. Declarations, returns and jumps are none.
_STATEMENT = re.compile(r"^\s*((?:[\w:]+(?:\(\))?(?:\.|->|::))*[\w:\[\]]+(?:\(.*\)|\s(?:=|\+=|-=|\|=)\s.*)|\+\+[\w.>-]+);\s*$")
_NO_STATEMENT = re.compile(r"^\s*(return|break|continue|throw|using|goto|case|delete|static_assert)\b")
# Changes of these lines are as good as none: sizes of buffers, room made in advance, pure virtual functions.
_POINTLESS = re.compile(r"^\s*(?:(?:static |constexpr )*char \w+\[|virtual .* = 0;|.*\.reserve\(|static_assert\b|\(void\))")
# From here on a number counts something large, and is a limit that may as well be one more or less.
_LARGE = 50
# Numbers of these lines are time.
_TIME = re.compile(r"[Ss]econds|[Tt]imeout|[Dd]eadline|\d(?:s|ms|us)\b|\bsleep")


def masked(text):
    """`text` with comments, literals and preprocessor lines blanked, character for character."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    pattern = (r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*(?:.|\n)*?\*/'
               r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*")
    return re.sub(pattern, blank, text, flags=re.MULTILINE)


def _closing(line, opening):
    """The offset of the parenthesis that closes the one at `opening`; -1 if it is not on the line."""
    depth = 0
    for i in range(opening, len(line)):
        depth += (line[i] == "(") - (line[i] == ")")
        if depth == 0:
            return i
    return -1


def _conditions(line):
    for match in _IF.finditer(line):
        opening = match.end() - 1
        closing = _closing(line, opening)
        # A declaration or initialiser in the condition cannot be negated as a whole.
        condition = line[opening + 1:closing]
        if closing < 0 or ";" in condition or re.search(r"[^=!<>]=[^=]", condition):
            continue
        yield opening + 1, closing, "!(%s)"
        if match[0].startswith("if"):
            yield opening + 1, closing, "(%s) && false"
            yield opening + 1, closing, "(%s) || true"


def places(line):
    """The changes possible in one masked line: (begin, end, replacement or format with the original text)."""
    if _POINTLESS.match(line):
        return []
    found = []
    for pattern, afters in _SWAPS:
        found += [(m.start(), m.end(), after) for m in pattern.finditer(line) for after in afters]
    for m in _NUMBER.finditer(line):
        if int(m[1]) >= _LARGE or _TIME.search(line):
            continue
        found.append((m.start(), m.end(), str(int(m[1]) + 1)))
        if int(m[1]) > 1:
            found.append((m.start(), m.end(), str(int(m[1]) - 1)))
    found += _conditions(line)
    statement = _STATEMENT.match(line)
    if statement and not _NO_STATEMENT.match(line):
        found.append((statement.start(1), statement.end(1) + 1, ";"))
    return found


def _code_lines(tree):
    """(file, its text, offset of the line, the masked line) of every line that can be changed, in one order."""
    lines = []
    for top in SOURCES:
        for folder, folders, files in os.walk(os.path.join(tree, top)):
            folders.sort()
            for name in sorted(files):
                if not name.endswith((".cc", ".c", ".h", ".hpp")):
                    continue
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8", newline="") as source:
                    text = source.read()
                offset = 0
                for line in masked(text).split("\n"):
                    if places(line):
                        lines.append((os.path.relpath(path, tree), text, offset, line))
                    offset += len(line) + 1
    return lines


def draw(tree, seed):
    """Mutations of the tree without end (until no line is left), the same for one seed and one tree."""
    source = random.Random(seed)
    lines = _code_lines(tree)
    seen = set()
    number = 0
    for _ in range(100 * len(lines)):
        file, text, offset, line = source.choice(lines)
        begin, end, after = source.choice(places(line))
        if (file, offset + begin, end, after) in seen:
            continue
        seen.add((file, offset + begin, end, after))
        number += 1
        before = text[offset + begin:offset + end]
        changed = after.replace("%s", before)
        # The whole line, so that what is printed can be read.
        whole = text[offset:offset + len(line)]
        mutated = whole[:begin] + changed + whole[end:]
        yield Mutation(f"random-{seed}-{number}", f"{whole.strip()}  =>  {mutated.strip()}", file, whole, mutated, offset)
