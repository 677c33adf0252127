"""The pages that are made of what the program says of itself: all options, from its manual page, and all checks with their parameters,
from `plugins --json`."""
import json
import re
import subprocess

OPTIONS, CHECKS = "harness/docs/command-line.md#options", "matrices/README.md#checks"  # where the repository's pages link to
PLACES = {OPTIONS: "options.md", CHECKS: "checks.md"}

OPTIONS_HEAD = """# All options

Every command and option, as `cudnn-ci --help` and `man cudnn-ci` print them. [Commands](reference.md) tells which one to use, [the
command line in detail](command-line.md) how they act together.
"""
CHECKS_HEAD = """# All checks

Every check that comes with cudnn-ci, with its parameters, as `cudnn-ci plugins --json` prints them. [The format of a
matrix](matrices.md) tells how a matrix lists checks, [how checks decide](checks-in-detail.md) how each reaches its verdict.
"""
DEVICES = {"none": "uses no GPU", "one": "runs on each GPU", "all": "runs on all GPUs together", "environment": "runs with the job's own variables"}
FLAGS = {"per_subject": "for each subject", "shareable": "in a process that others may share", "concurrent": "also beside others on one GPU"}


def cell(words):
    """As text of Markdown, in a table's cell too."""
    return re.sub(r"([\\|*_<>\[\]`#])", r"\\\1", " ".join(words.split()))


def code(words):
    return f"`{words}`"  # in which the renderer takes a | for no border of a cell


def plain(roff):
    """A line of roff without its fonts and escapes."""
    text = re.sub(r"\\f[BIR]", "", roff).replace("\\-", "-").replace("\\&", "")
    for name, letter in (("(aq", "'"), ("(ga", "`"), ("(dq", '"'), ("e", "\\")):
        text = text.replace("\\" + name, letter)
    return text


def options_page(roff):
    """The Markdown of a manual page: a heading for each command, a table of its options."""
    out, option, words = [OPTIONS_HEAD, "## cudnn-ci"], None, []

    def flush():
        if option is not None:
            out.append(f"| {code(option)} | {cell(' '.join(words))} |")
        elif words:
            out.extend(["", cell(" ".join(words))])
        words.clear()
    lines = iter(roff.partition("\n.SH OPTIONS\n")[2].partition("\n.SH EXIT STATUS\n")[0].split("\n"))
    for line in lines:
        if line == ".TP":
            flush()
            if option is None:
                out.extend(["", "| option | meaning |", "|---|---|"])
            option = plain(next(lines))
        elif line.startswith((".SS ", ".SH ", ".PP")):
            flush()
            option = None
            if line.startswith(".SS "):
                out.extend(["", f"## cudnn-ci {plain(line[4:])}"])
        elif not line.startswith("."):
            words.append(plain(line))
    flush()
    return "\n".join(out) + "\n"


def sentence(words):
    text = cell(words)
    return text[:1].upper() + text[1:] + "."


def value_of(parameter):
    """What a parameter takes: its type or its allowed values, and its default."""
    allowed = parameter.get("allowed")
    words = ", ".join(code(str(value)) for value in allowed) if allowed else parameter["type"]
    if allowed and parameter["type"].startswith("list"):
        words = f"list of {words}"
    default = parameter.get("default")
    if default is None:
        return f"{words}; required"
    return words if default in ("", []) else f"{words}; default {code(default if isinstance(default, str) else json.dumps(default))}"


def table_of(parameters, head):
    lines = ["", f"| {head} | value | meaning |", "|---|---|---|"]
    for parameter in parameters:
        meaning = parameter.get("summary") or ("the name of a shape of the matrix; its fields are below" if parameter["type"] == "shape" else "")
        lines.append(f"| `{parameter['name']}` | {value_of(parameter)} | {cell(meaning)} |")
    return lines


def check_of(check, known):
    """The Markdown of one check. `known`: the check that first had its parameters, by these; it is added to."""
    runs = [words for flag, words in FLAGS.items() if check.get(flag)]
    about = [sentence(check["summary"]), f"It {DEVICES[check['devices']]}{''.join(f', {words}' for words in runs)}."]
    for key, words in (("requires", "It requires"), ("judges", "It proves the promise")):
        if check.get(key):
            about.append(f"{words} {', '.join(code(name) for name in check[key])}.")
    lines = ["", f"### {check['name']}", "", " ".join(about)]
    first = known.setdefault(json.dumps(check["params"]), check["name"])
    if first != check["name"] and check["params"]:
        return [*lines[:-1], f"{lines[-1]} Its parameters are those of [{first}](#{first.replace('.', '')})."]
    if check["params"]:
        lines += table_of(check["params"], "parameter")
    for parameter in check["params"]:
        if parameter.get("fields"):
            lines += ["", f"Fields of `{parameter['name']}`:", *table_of(parameter["fields"], "field")]
    return lines


def checks_page(text):
    """The Markdown of what `plugins --json` prints."""
    lines, known = [CHECKS_HEAD.rstrip("\n")], {}
    for plugin in json.loads(text)["plugins"]:
        lines += ["", f"## {plugin['name']}", "", sentence(plugin["summary"])]
        for check in plugin["checks"]:
            lines += check_of(check, known)
    return "\n".join(lines) + "\n"


def written_by(program):
    """The pages by their source, of the program of an installed tree."""
    def said(*words):
        return subprocess.run([program, *words], stdout=subprocess.PIPE, check=True).stdout.decode("utf-8")
    return {OPTIONS: options_page(said("manual", "man")), CHECKS: checks_page(said("plugins", "--json"))}
