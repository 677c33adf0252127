"""The file of answers, and values as it can hold them."""
import json
import os

MOST_TEXT = 1000  # characters of one text; the rest of the bounds are the reader's
MOST_FILES = 100
MOST_CAUSES = 4


class Answer:
    """The file of answers. One write a line."""

    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.failed = False  # it has told of an exception

    def say(self, key, value):
        # A name of a file may hold bytes that are no text.
        os.write(self.file, (json.dumps({key: value}, ensure_ascii=False) + "\n").encode("utf-8", "replace"))

    def step(self, name):
        self.say("step", name)

    def result(self, mode, **arrays):
        self.say("result", {"mode": mode, "arrays": {name: numbers(array) for name, array in arrays.items()}})

    def error(self, error):
        """The last line of the traceback, and those of what caused it."""
        self.failed = True
        texts, seen = [], set()
        while error is not None and len(texts) < MOST_CAUSES and id(error) not in seen:
            seen.add(id(error))
            texts.append(clip("%s: %s" % (type(error).__name__, error)))
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        self.say("error", texts)


def clip(text):
    return " ".join(str(text).split())[:MOST_TEXT]


def flat(value):
    """The elements of nested lists, last axis fastest."""
    return [e for part in value for e in flat(part)] if isinstance(value, (list, tuple)) else [value]


def numbers(array):
    """An array's elements as JSON can hold them: one that is no number, or no finite one, is text."""
    elements = []
    for e in flat(array.tolist() if hasattr(array, "tolist") else array):
        if not isinstance(e, (int, float)) or e != e or e in (float("inf"), float("-inf")):
            elements.append(clip(repr(e)))
        else:
            elements.append(int(e) if e == int(e) else e)
    return elements
