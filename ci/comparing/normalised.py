"""What differs from one run to the next on the same machine, replaced by words that stand for it."""
import json
import re

# Of a journal and of report.json: keys whose value is a time, an id, a process or a sum over what was built.
VOLATILE = {"t_ms", "h", "run_id", "timestamp", "seconds", "pid", "sha256", "boot_id", "rss_kib", "max_rss_kib", "cpu_s"}
TEXTS = [(re.compile(pattern, re.MULTILINE), word) for pattern, word in (
    (r"\d{8}T\d{6}Z-[0-9a-f]{8}", "RUN_ID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?", "TIME"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "TIME"),
    (r'title="TIME" data-value="\d+"><div>\d+ (min|h)<', 'title="TIME" data-value="N"><div>N \1<'),  # the age of a run
    # Of the data in a page.
    (r'"(from|to|seconds|value|sha256)":[0-9.e+-]+', r'"\1":N'),
    (r"\b[0-9a-f]{64}\b", "SHA256"),
    (r"sha256 [0-9a-f]{16}\b", "sha256 SHORT"),
    (r'time="[0-9.]+"', 'time="SECONDS"'),
    (r"\b\d+(\.\d+)? (s|ms|us|MiB|KiB|GiB/s|GB/s)\b", r"N \2"),
    (r"\b(pid|process|thread) \d+", r"\1 N"),
    (r"\b0x[0-9a-f]{6,}\b", "ADDRESS"),
    (r"\.cc:\d+\b", ".cc:LINE"),
    # Frames of a backtrace: where the compiler has put what crashed.
    (r"(\n *#\d+ [^\n]*)+", "\n#FRAMES"),
    (r"; in [^\n\";]*", "; in PLACE"))]


def text(value):
    """Of the console, a summary, a page, JUnit XML."""
    for pattern, word in TEXTS:
        value = pattern.sub(word, value)
    return value


def _value(value):
    if isinstance(value, dict):
        volatile = VOLATILE | ({"value"} if "name" in value and "unit" in value else set())
        return {key: f"<{key}>" if key in volatile else _value(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_value(inner) for inner in value]
    return text(value) if isinstance(value, str) else value


def document(content):
    """Of report.json and `facts --json`: the keys stay in their order."""
    try:
        return json.dumps(_value(json.loads(content)), indent=1)
    except ValueError:
        return text(content)


def journal(content):
    """A line for each event."""
    lines = []
    for line in content.splitlines():
        try:
            lines.append(json.dumps(_value(json.loads(line))))
        except ValueError:
            lines.append(text(line))
    return "\n".join(lines)


def of_file(name, content):
    """By the name of a report's file."""
    return journal(content) if name.endswith(".jsonl") else document(content) if name.endswith(".json") else text(content)
