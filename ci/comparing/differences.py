"""What differs between two answers, and which of it is intended."""
import difflib
import fnmatch
import json
import re

from . import machine

# A document on one line: of a journal, or the data in a page.
ONE_LINE = re.compile(r"(?:<script[^>]*>)?(\{.*\})(?:</script>)?")
RULE = re.compile(r"(?P<key>\S+)\s+(?:/(?P<line>.+?)/\s+)?(?P<reason>[^/\s].*)")


def name_of(entry):
    """What tells an entry of a list from the others, whatever its place."""
    return next((entry[key] for key in ("id", "slug", "name") if isinstance(entry.get(key), str)), "") if isinstance(entry, dict) else ""


def values(value, place):
    """A line for each value of a document, behind its keys and the names of entries."""
    if isinstance(value, dict) and value:
        return [line for key, inner in value.items() for line in values(inner, f"{place}.{key}" if place else key)]
    if isinstance(value, list) and value:
        return [line for inner in value for line in values(inner, f"{place}[{name_of(inner)}]")]
    return [f"{place}: {json.dumps(value, ensure_ascii=False)}"]


def of_document(text):
    """Its values; None if the text is no JSON object."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    # Each kind of event of a journal has its own keys.
    return values(document, str(document.get("ev", ""))) if isinstance(document, dict) else None


def lines_of(text):
    """The lines of an answer, with those of a JSON document replaced by its values."""
    found, waiting = [], []
    for line in text.splitlines():
        if waiting or line == "{":
            waiting.append(line)
            if not line.startswith("}"):
                continue
            found += of_document("\n".join(waiting)) or waiting
            waiting = []
            continue
        single = ONE_LINE.fullmatch(line)
        found += (of_document(single[1]) if single else None) or [line]
    return found + waiting


def between(old, new):
    """The lines of a diff of two answers that differ, without its head."""
    if old is None or new is None:
        return [f"only {'NEW' if old is None else 'OLD'} has an answer"]
    lines = [line for line in difflib.unified_diff(lines_of(old), lines_of(new), "OLD", "NEW", n=0, lineterm="")
             if not line.startswith(("--- ", "+++ ", "@@"))]
    return lines or ["the same lines and values, written differently"]


class Allowed:
    """The rules of a file for --allow, and what each has excused."""

    def __init__(self, path=None):
        self.rules = []
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path else [], 1):
            if not line.strip() or line.startswith("#"):
                continue
            rule = RULE.fullmatch(line.strip())
            try:
                expression = re.compile(rule["line"]) if rule and rule["line"] else None
            except re.error as error:
                raise machine.Missing(f"{path}:{number}: {error}") from error
            if not rule:
                raise machine.Missing(f"{path}:{number}: a reason is expected after {line.strip()}")
            self.rules.append((rule["key"], expression, rule["reason"]))
        self.keys, self.lines = [set() for _ in self.rules], [0] * len(self.rules)

    def excuse(self, key, lines):
        """The reasons why these lines of an answer may differ, and the lines that may not."""
        of_key = [i for i, (pattern, _, _) in enumerate(self.rules) if fnmatch.fnmatchcase(key, pattern)]
        reasons, left = [], []
        for line in lines:
            rule = next((i for i in of_key if not self.rules[i][1] or self.rules[i][1].search(line)), None)
            if rule is None:
                left.append(line)
                continue
            self.keys[rule].add(key)
            self.lines[rule] += 1
            reasons.append(self.rules[rule][2])
        return list(dict.fromkeys(reasons)), left

    def counts(self):
        """[(reason, answers, lines)] of what was excused."""
        found = {}
        for (_, _, reason), keys, lines in zip(self.rules, self.keys, self.lines):
            keys_there, lines_there = found.get(reason, (set(), 0))
            found[reason] = (keys_there | keys, lines_there + lines)
        return [(reason, len(keys), lines) for reason, (keys, lines) in found.items()]

    def unneeded(self):
        return [f"{pattern} /{line.pattern}/" if line else pattern for (pattern, line, _), keys in zip(self.rules, self.keys) if not keys]
