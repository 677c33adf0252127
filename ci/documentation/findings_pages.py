"""The pages that are made of knowledge/findings: all findings, errors by their text, and failure modes."""
import json
import re

FOLDER = "knowledge/findings"
# The files in the order of the stack, and who declares the findings of those that are no plugin's.
FILES = ["driver", "harness", "toolkit", "cudnn", "conv", "gemm", "attention", "nccl", "framework", "kernels", "image", "exec", "launcher"]
DECLARED_BY = {"harness": "cudnn-ci", "launcher": "cudnn-ci-run"}
PLACES = {"image": "In the Dockerfile", "host": "On the host", "matrix": "In the matrix"}

FINDINGS = """# Findings

Every finding of cudnn-ci and its plugins: what is wrong, who is at fault, and what to do.
`cudnn-ci explain --all` lists them and `cudnn-ci explain FINDING` shows one, without a network. To
start from the message of another tool, see [errors](errors.md).

An error makes its case red; a warning and a note do not. If the case's layer or the site of a crash
says more, a report blames accordingly ([design](design.md#4-verdict-and-blame)).

| finding | what it means | severity | blame | component |
|---|---|---|---|---|
"""

ERRORS = """# Errors, by their text

Paste the message that your program, your framework or the container engine printed into the field,
or look it up in the tables. Each row gives the finding by which cudnn-ci names the cause, and the fix
in short. `cudnn-ci explain 'MESSAGE'` gives the same, without a network, and `cudnn-ci explain FINDING`
the whole remedy.

One message often has several causes. Run the gate in the container that fails: it tests the driver
first, then the toolkit, cuDNN and the frameworks, and names the first that is broken. Of several
messages in a log, look up the first one: the later ones follow from it.

The same knowledge sorted by cause is in [failure modes](failure-modes.md).
"""

# By the name that messages give as their group: the heading, and what is said below it.
GROUPS = {
    "loader": ("The loader: a library is missing or damaged", ""),
    "cuda": ("CUDA errors, by number", "The driver API and the runtime API use the same numbers, with few exceptions."),
    "nvml": ("nvidia-smi and NVML", ""),
    "cudnn": ("cuDNN errors, by status", "cuDNN 9 adds a number. PyTorch prints the name after `cuDNN error:`."),
    "cudnn-stderr": ("What cuDNN prints to stderr", ""),
    "exit": ("Exit status and signals", ""),
    "toolkit": ("NVRTC and cuBLAS", ""),
    "pytorch": ("PyTorch", ""),
    "jit": ("Kernels that are compiled at run time", ""),
    "xla": ("TensorFlow, JAX and XLA", ""),
    "other-frameworks": ("ONNX Runtime, CTranslate2 and CuPy", ""),
    "nccl": ("NCCL", "With `NCCL_DEBUG=WARN` it prints more: the line before the error names the call that failed."),
    "engine": ("The container engine and the launcher", ""),
    "silent": ("No message at all", "These faults print nothing that helps. Only a check of the results or of the install shows\nthem."),
}

MODES = """# Failure modes

What goes wrong between driver, CUDA toolkit, cuDNN and frameworks in containers: how each fault shows
without cudnn-ci, and the finding that names it. To start from a message, use [errors](errors.md).
[Findings](findings.md) says who is at fault and what to do. If a fault has several findings, the
circumstances decide, most of all whether the matrix promises what is missing.

At least one broken environment, of fake or real libraries, shows each mode (tests/faults, tests/gpu).
The tests count by the names in the first column.
"""


def read(root):
    """The files by name, in FILES' order."""
    return {name: json.loads((root / FOLDER / f"{name}.json").read_text(encoding="utf-8")) for name in FILES}


def text_of(words):
    """As text of Markdown in a table's cell."""
    for special in "\\|*_<>[]`":
        words = words.replace(special, "\\" + special)
    return words


def capital(words):
    """With a capital first letter, unless the first word is a name that has one within, as cuDNN has."""
    first = words.partition(" ")[0]
    return words if any(letter.isupper() or letter in "._/" for letter in first) else words[:1].upper() + words[1:]


def link_to(finding):
    return f"[{finding}](findings.md#{finding})"


def links(finding, row):
    return ", ".join(link_to(name) for name in [finding["id"], *row.get("also", [])])


def table(heads, rows):
    """A table of Markdown of cells that are Markdown."""
    lines = [heads, ["---"] * len(heads), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines).replace("| --- " * len(heads) + "|", "|---" * len(heads) + "|", 1)


def page_of_findings(files):
    found = sorted(({**finding, "of": DECLARED_BY.get(name, name)} for name, file in files.items() for finding in file["findings"]),
                   key=lambda finding: finding["id"])
    rows = [f"| [{f['id']}](#{f['id']}) | {text_of(f['summary'])} | {f['severity']} | {f['blame']} | {f['of']} |\n" for f in found]
    return FINDINGS + "".join(rows) + "".join(section_of(finding) for finding in found)


def section_of(finding):
    """What the page of findings says of one: how bad it is, what it means, what to do, and what shows it."""
    parts = [f"## {finding['id']}",
             f'<p class="cci-facts" data-search-exclude><span class="cci-{finding["severity"]}">{finding["severity"]}</span> blame: {finding["blame"]} · component: {finding["of"]}</p>',
             f"{capital(text_of(finding['summary']))}.", f"**What to do.** {text_of(finding['remedy'])}"]
    if "command" in finding:
        parts.append(f"{PLACES[finding['where']]}:\n\n```sh\n{finding['command']}\n```")
    if "link" in finding:
        parts.append(f"<{finding['link']}>")
    if "messages" in finding:
        # Not in the search: the row of the page of errors is, with its fix.
        parts.append('<div class="cci-printed" data-search-exclude markdown="1">\n\nWhat programs print ([all errors](errors.md)):\n\n' +
                     "".join(f"- {message['text']}\n" for message in finding["messages"]) + "\n</div>")
    return "".join(f"\n{part}\n" for part in parts)


def page_of_errors(files):
    rows = {group: [] for group in GROUPS}
    for file in files.values():
        for finding in file["findings"]:
            for message in finding.get("messages", []):
                rows[message["group"]].append([message["text"], links(finding, message), message["fix"]])

    def number(row):  # those by number in its order, the others after them
        found = re.match(r"\d+", row[0])
        return int(found[0]) if found else 1 << 30
    return ERRORS + "".join(f"\n## {title}\n\n" + (f"{words}\n\n" if words else "") +
                            table(["message", "finding", "fix"], sorted(rows[group], key=number)) for group, (title, words) in GROUPS.items())


def page_of_modes(files):
    declared = {finding["id"]: finding for file in files.values() for finding in file["findings"]}
    broken, launcher, known = [], [], []
    for name, file in files.items():
        for finding in file["findings"]:
            for mode in finding.get("failure_modes", []):
                row = [mode["name"], mode["shows"], links(finding, mode)]
                blames = dict.fromkeys(declared[other]["blame"] for other in [finding["id"], *mode.get("also", [])])
                if name == "launcher":
                    launcher.append(row)
                elif finding["severity"] == "error":
                    broken.append([*row, ", ".join(blames)])
                else:
                    known.append(row)
        broken += [[mode["name"], mode["shows"], "the matrix is refused (exit 2)", "matrix"] for mode in file.get("refused", [])]
    sound = [[environment["name"], environment["what"]] for file in files.values() for environment in file.get("sound", [])]
    return (MODES + "\n## Broken: the gate is red\n\n" + table(["failure mode", "how it shows itself", "finding", "at fault"], broken) +
            "\n## No verdict: what the launcher says\n\n`cudnn-ci-run` writes these into junit.xml, with the engine's own words, if the run left no finished\nreport.\n\n" +
            table(["what happened", "how it shows itself", "finding"], launcher) +
            "\n## Worth knowing: a warning or a note, never red\n\n" + table(["what", "how it shows itself", "finding"], known) +
            "\n## Sound: nothing may be accused\n\n" + table(["environment", "what it is"], sound))


# By their places on the site.
PAGES = {"findings.md": page_of_findings, "errors.md": page_of_errors, "failure-modes.md": page_of_modes}
