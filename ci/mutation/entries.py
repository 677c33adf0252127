"""Mutations as values: one change of one source file, read from a list and applied to a tree.

A list (tests/mutations/*.txt) holds entries of this form. Lines between entries are blank or begin with a single '#'.

    ## short-id: one line, what goes wrong
    file: harness/exec/schedule/cases.cc
    tests: ^CasesTest\\.      (a ctest -R regular expression: the nearest tests; optional)
    targets: exec_test       (what must be built for them; optional)
    <<<<
    the text before, which occurs exactly once in the file
    ====
    the text after
    >>>>
"""
import dataclasses
import os
import re


class ListError(Exception):
    """A list that cannot be read; the text names file and line."""


class Stale(Exception):
    """A mutation that no longer applies to the tree; the text says why."""


@dataclasses.dataclass(frozen=True)
class Mutation:
    name: str
    what: str
    file: str  # relative to the tree, with slashes
    before: str
    after: str
    offset: int = -1  # where `before` begins; -1 in a list, where it must be the only one
    tests: str = ""  # ctest -R; empty: all tests of the targets
    targets: tuple = ()  # empty: by tests/mutations/nearest

    def place(self, text):
        """The offset of `before` in the file's text. Raises Stale."""
        if self.offset >= 0:
            if text.startswith(self.before, self.offset):
                return self.offset
            raise Stale(f"{self.file}: the text before is not at offset {self.offset}")
        count = text.count(self.before)
        if count != 1:
            raise Stale(f"{self.file}: the text before occurs {count} times, not once")
        return text.index(self.before)

    def apply(self, text):
        """The file's text after the change. Raises Stale."""
        at = self.place(text)
        return text[:at] + self.after + text[at + len(self.before):]

    def line(self, text):
        """The line, counted from 1, of the first character that changes."""
        at = self.place(text)
        common = os.path.commonprefix([self.before, self.after])
        return text.count("\n", 0, at + len(common)) + 1


_HEAD = re.compile(r"^## ([A-Za-z0-9_.-]+): (\S.*)$")
_FIELD = re.compile(r"^(file|tests|targets):[ \t]*(.*?)[ \t]*$")


class _Reader:
    def __init__(self, text, source):
        self.lines = text.split("\n")
        self.at = 0
        self.source = source

    def fail(self, why):
        raise ListError(f"{self.source}:{self.at}: {why}")

    def next(self):
        """The next line, or None at the end."""
        if self.at >= len(self.lines):
            return None
        self.at += 1
        return self.lines[self.at - 1]

    def until(self, mark):
        """The lines up to one that is `mark`, as one text."""
        block = []
        while True:
            line = self.next()
            if line is None:
                self.fail(f"no line '{mark}' ends this entry")
            if line == mark:
                return "\n".join(block)
            block.append(line)

    def fields(self):
        """The `key: value` lines up to <<<<."""
        fields = {}
        while True:
            line = self.next()
            if line == "<<<<":
                return fields
            match = _FIELD.match(line or "")
            if not match:
                self.fail(f"expected 'file:', 'tests:', 'targets:' or '<<<<', not '{line or ''}'")
            if match[1] in fields:
                self.fail(f"'{match[1]}:' stands twice")
            fields[match[1]] = match[2]

    def entry(self, head):
        fields = self.fields()
        before, after = self.until("===="), self.until(">>>>")
        if not fields.get("file"):
            self.fail("the entry names no file")
        if not before.strip():
            self.fail("the text before is empty")
        if before == after:
            self.fail("the text after is the text before")
        try:
            re.compile(fields.get("tests", ""))
        except re.error as error:
            self.fail(f"'tests:' is no regular expression: {error}")
        return Mutation(head[1], head[2], fields["file"], before, after, tests=fields.get("tests", ""),
                        targets=tuple(fields.get("targets", "").replace(",", " ").split()))


def parse(text, source):
    """The mutations of one list. Raises ListError."""
    reader, mutations = _Reader(text, source), []
    while (line := reader.next()) is not None:
        head = _HEAD.match(line)
        if head:
            mutations.append(reader.entry(head))
        elif line.strip() and not (line.startswith("#") and not line.startswith("##")):
            reader.fail(f"expected '## ID: WHAT', a comment or a blank line, not '{line}'")
    return mutations


def load(folder):
    """The mutations of all lists (*.txt) of a folder; their names are LIST/ID. Raises ListError."""
    mutations = {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".txt") or name == "CMakeLists.txt":
            continue
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            for m in parse(file.read(), path):
                full = f"{name[:-4]}/{m.name}"
                if full in mutations:
                    raise ListError(f"{path}: the id '{m.name}' stands twice")
                mutations[full] = dataclasses.replace(m, name=full)
    return list(mutations.values())


def read(tree, file):
    """A source file's text. Raises Stale."""
    try:
        with open(os.path.join(tree, file), encoding="utf-8", newline="") as source:
            return source.read()
    except OSError as error:
        raise Stale(f"{file}: {error.strerror}") from error
