"""What a tree is asked, and its answers by key: "GROUP WHAT"."""
import json

from . import machine, mistakes, normalised, runs

GROUPS = ("list", "list-json", "plugins", "facts", "init", "version", "help", "manual", "explain-all", "explain", "wrong-line", "broken-matrix", "run",
          "rebuilt")
COMMANDS = ("", "run", "list", "plugins", "facts", "init", "explain", "copy-to", "self-test", "report", "compare", "waive", "manual")
TWO_GPUS = {"FAKE_DEVICE_COUNT": "2", "FAKE_NAME": "NVIDIA Fake"}


def group(key):
    return key.split(" ")[0]


def order(key):
    return GROUPS.index(group(key)), key


def matrices(tree):
    """The names of those that come with the tree."""
    names = []
    for path in sorted(tree.glob("matrices/*.json")):
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            document = {"schema": "cudnn-ci/matrix/1"}  # with comments
        if document.get("schema") == "cudnn-ci/matrix/1":
            names.append(path.stem)
    return names


def write_environment(folder):
    """A Python environment and a conda prefix, as records of packages alone; returns the environment's interpreter."""
    site = folder / "venv/lib/python3.12/site-packages"
    for package in ("torch-2.11.0", "nvidia_cudnn_cu13-9.19.0.56", "nvidia_cublas-13.1.0.3", "triton-3.6.0", "jax-0.9.0", "onnxruntime_gpu-1.24.1"):
        name, version = package.rsplit("-", 1)
        (site / f"{package}.dist-info").mkdir(parents=True)
        (site / f"{package}.dist-info/METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
        (site / f"{package}.dist-info/RECORD").write_text("", encoding="utf-8")
    (folder / "venv/bin").mkdir()
    (folder / "venv/pyvenv.cfg").write_text("home = /nowhere/bin\nversion = 3.12.3\n", encoding="utf-8")
    (folder / "venv/bin/python3.12").write_text("", encoding="utf-8")
    (folder / "venv/bin/python").symlink_to("python3.12")
    meta = folder / "conda/conda-meta"
    meta.mkdir(parents=True)
    for name, version in (("python", "3.12.3"), ("pytorch", "2.10.0"), ("cudnn", "9.14.0.64"), ("cuda-version", "12.9")):
        (meta / f"{name}-{version}-0.json").write_text(json.dumps({"name": name, "version": version, "build": "0", "files": []}), encoding="utf-8")
    return folder / "venv/bin/python"


class Questions:
    """Collects futures under their keys."""

    def __init__(self, place):
        self.place, self.waiting = place, {}

    def ask(self, key, words, normalise=None, **how):
        future = self.place.start(key.replace("/", "_"), words, **how)
        self.waiting[key] = (future, normalise)

    def answers(self):
        found = {}
        for key, (future, normalise) in self.waiting.items():
            answer = future.result()
            if normalise:
                answer = machine.Answer(answer.code, normalise(answer.out), answer.err)
            found[key] = answer.text()
        return found


def ask_lists(questions, form):
    words = ["--json"] if form == "list-json" else []
    for name in matrices(questions.place.tree):
        fakes = machine.OF_CUDA_12 if name in ("cu11", "cu12") else machine.HEALTHY
        questions.ask(f"{form} {name}", ["list", *words, "--matrix", name], fakes=fakes)
        questions.ask(f"{form} {name} static", ["list", *words, "--matrix", name, "--stage", "static"], fakes=())
    questions.ask(f"{form} cu13 two-gpus", ["list", *words, "--matrix", "cu13", "--device", "all"], variables=TWO_GPUS)
    questions.ask(f"{form} cu13 shard", ["list", *words, "--matrix", "cu13", "--shard", "2/3"])
    questions.ask(f"{form} nightly filter", ["list", *words, "--matrix", "nightly", "--filter", "conv.*-*nhwc*", "--disturb"])
    questions.ask(f"{form} without-a-matrix", ["list", *words])
    questions.ask(f"{form} auto", ["list", *words, "--auto"])
    questions.ask(f"{form} auto cu12", ["list", *words, "--auto"], fakes=machine.OF_CUDA_12)


def ask_facts(questions):
    python = questions.place.kept / "image/venv/bin/python"
    if not python.exists():
        write_environment(questions.place.kept / "image")
    image = {"VIRTUAL_ENV": str(python.parent.parent), "CONDA_PREFIX": str(questions.place.kept / "image/conda")}
    for name, words in (("json", ["--json"]), ("screen", []), ("all", ["--all"]), ("matrix", ["--matrix", "cu13"])):
        normalise = normalised.document if name == "json" else normalised.text
        questions.ask(f"facts {name}", ["facts", *words], normalise)
        questions.ask(f"facts {name} environments", ["facts", *words], normalise, variables=image)
    questions.ask("facts json two-gpus", ["facts", "--json"], normalised.document, variables=TWO_GPUS)
    questions.ask("facts json cuda-12", ["facts", "--json"], normalised.document, fakes=machine.OF_CUDA_12)
    questions.ask("facts json bare", ["facts", "--json"], normalised.document, fakes=())


def ask_init(questions):
    questions.ask("init stdout", ["init", "-"])
    questions.ask("init named", ["init", "-", "--name", "team"], fakes=machine.OF_CUDA_12)


def ask_plugins(questions):
    questions.ask("plugins text", ["plugins"])
    questions.ask("plugins json", ["plugins", "--json"])
    questions.ask("plugins check", ["plugins", "--check"])
    for broken in sorted(questions.place.fixtures.glob("broken/*")):
        # One of them does not return, and one stops for a time.
        if not broken.name.endswith("hang"):
            questions.ask(f"plugins broken {broken.name}", ["plugins", "--check", "--plugin-dir", str(broken)], normalised.text)


def ask_help(questions):
    for command in COMMANDS:
        questions.ask(f"help {command or 'cudnn-ci'}", [*([command] if command else []), "--help"])


def ask_manual(questions):
    for form in ("man", "bash"):
        questions.ask(f"manual {form}", ["manual", form])


def ask_mistakes(questions, form):
    if form == "wrong-line":
        for name, words in mistakes.LINES.items():
            folder = questions.place.here / f"wrong-line {name}"
            (folder / "folder").mkdir(parents=True)
            questions.ask(f"wrong-line {name}", words, files={"matrix.json": mistakes.SOUND})
    else:
        for name, text in mistakes.MATRICES.items():
            questions.ask(f"broken-matrix {name}", ["list", "--matrix", "matrix.json"], files={"matrix.json": text})


def ask_findings(questions):
    """One answer for each finding that this tree knows."""
    everything = questions.place.start("findings", ["explain", "--all", "--json"]).result()
    try:
        ids = sorted({finding["slug"] for finding in json.loads(everything.out)["findings"]})
    except (ValueError, KeyError, TypeError):
        ids = []
    for slug in ids:
        questions.ask(f"explain {slug}", ["explain", slug])
    questions.ask("explain image.crashed", ["explain", "image.crashed"])
    questions.ask("explain crashed --json", ["explain", "crashed", "--json"])


def ask_all(place, tree, groups):
    """The answers of a tree, by key."""
    place.put(tree)
    questions = Questions(place)
    if {"run", "rebuilt", "list", "list-json", "facts", "plugins"} & set(groups):
        place.needs_fakes()
    told = runs.run_all(place) if "run" in groups or "rebuilt" in groups else {}
    for form in groups:
        if form in ("list", "list-json"):
            ask_lists(questions, form)
        elif form in ("wrong-line", "broken-matrix"):
            ask_mistakes(questions, form)
        elif form == "version":
            questions.ask("version number", ["--version"])
        elif form == "explain-all":
            questions.ask("explain-all text", ["explain", "--all"])
            questions.ask("explain-all json", ["explain", "--all", "--json"])
        elif form not in ("run", "rebuilt"):
            {"plugins": ask_plugins, "facts": ask_facts, "init": ask_init, "help": ask_help, "manual": ask_manual, "explain": ask_findings}[form](questions)
    found = questions.answers()
    if "run" in groups:
        found.update(told)
    if "rebuilt" in groups:
        found.update(runs.rebuild_all(place))
    return found
