"""The bare libraries that warm workers are measured against: how they are compiled, and cases as they read them."""
import collections
import pathlib
import statistics
import subprocess

from gate import events, row, seconds_of_steps, values

HERE = pathlib.Path(__file__).resolve().parent
CUDA = pathlib.Path("/usr/local/cuda")
LIBRARIES = {
    "conv": (["bare_conv.cc", "bare_graph.cc"], ["-l:libcudnn.so.9"]),
    # What cudnn-frontend calls beside cuDNN; of NVRTC nothing, for these graphs.
    "attention": (["bare_attention.cc"], ["-l:libcudnn.so.9", "-lcudart", "-lnvrtc"]),
    "gemm": (["bare_gemm.cc"], ["-lcublasLt", "-lcublas"]),
}
FRONTEND = ["-DNV_CUDNN_FRONTEND_DISABLE_LOGGING", "-DCUDNN_FRONTEND_SKIP_JSON_LIB", "-isystem"]
ROUNDS = 3
Bare = collections.namedtuple("Bare", "ran supported seconds")


def compile_for_this_machine(sources, target, *options):
    subprocess.run(["g++", "-O2", "-std=c++17", *(str(HERE / source) for source in sources), "-o", str(target), f"-I{CUDA}/include", f"-L{CUDA}/lib64",
                    f"-L{CUDA}/lib64/stubs", f"-Wl,-rpath,{CUDA}/lib64", *options, "-lcuda"], check=True)
    return target


class Program:
    """bare_run and the libraries of some plugins, compiled for the libraries of this machine."""

    def __init__(self, plugins, out, frontend=None):
        self.run = compile_for_this_machine(["bare_run.cc"], out / "bare_run", "-ldl")
        self.libraries = {}
        for plugin in plugins:
            sources, needed = LIBRARIES[plugin]
            more = [*FRONTEND, str(frontend)] if plugin == "attention" else []
            self.libraries[plugin] = compile_for_this_machine(sources, out / f"bare_{plugin}.so", "-shared", "-fPIC", *more, *needed)

    def __call__(self, lines):
        """What ran of each plugin, and the seconds of all, without those of the context; of nothing where a call failed."""
        words = []
        for plugin, text in lines.items():
            cases = self.run.with_name(f"bare_{plugin}-cases.txt")
            cases.write_text("\n".join(text) + "\n")
            words += [str(self.libraries[plugin]), str(cases)]
        p = subprocess.run([str(self.run), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = [line.split() for line in p.stdout.splitlines()]
        if p.returncode != 0:
            row("the bare program ends well", False, f"exit {p.returncode}: {p.stdout.strip()[-300:]}")
            return {plugin: Bare(0, 0, float("nan")) for plugin in lines}, float("nan")
        return {plugin: Bare(int(ran), int(supported), float(seconds)) for plugin, (ran, supported, seconds) in zip(lines, said)}, float(said[-1][0])


def conv_line(case):
    """A convolution of report.json as bare_conv.cc reads it."""
    p = case["params"]
    x, w = values(p, "shape.x"), values(p, "shape.w")
    axes = len(x) - 2
    spread = [v if len(v) == axes else v * axes for v in (values(p, f"shape.{name}") for name in ("pad", "stride", "dilation"))]
    words = [case["check"].split(".")[1], p["api"], p["dtype"], p["layout"], p["algo"], axes, *x[:2], w[0], *values(p, "shape.groups"),
             *x[2:], *w[2:], *sum(spread, [])]
    return " ".join(map(str, words))


def attention_line(case):
    """An attention as bare_attention.cc reads it."""
    p = case["params"]
    q, kv = values(p, "shape.q"), values(p, "shape.kv")
    words = [case["check"].split(".")[1], p["dtype"], p["layout"], p["mask"], p["window"], p.get("statistics", "yes"),
             p.get("deterministic", "no"), *q, *kv[:2], kv[2] if len(kv) > 2 else q[3]]
    return " ".join(map(str, words))


def gemm_line(case):
    """Products as bare_gemm.cc reads them."""
    p = case["params"]
    if case["check"] == "gemm.grouped":
        groups = values(p, "groups")
        return " ".join(["grouped", p["dtype"], p["math"], str(len(groups)), *(group_words(group, p["trans"]) for group in groups)])
    words = ["matmul", p["dtype"], p["math"], p["epilogue"], p["scales"], p["workspace"], p["trans"], p["size"].replace("x", " "), p["padding"],
             p["batch"], p["alpha"], p["beta"]]
    return " ".join(map(str, words))


def group_words(text, trans):
    """"17x19x23*3 nt alpha=-1" as a product of bare_gemm.cc."""
    size, *more = text.split()
    size, _, products = size.partition("*")
    named = dict(word.partition("=")[::2] for word in more)
    for word in more:
        trans = word if "=" not in word else trans
    return " ".join([trans, size.replace("x", " "), named.get("padding", "0"), products or "1", named.get("alpha", "1"), named.get("beta", "0")])


LINES = {"conv": conv_line, "attention": attention_line, "gemm": gemm_line}


def is_of(plugin, check):
    """Fusions are not among what the bare programs know."""
    return check.startswith(plugin + ".") and not check.startswith("conv.fused")


def seconds_of_cases(lines):
    """Of each plugin the seconds of its cases; and those of all, from the begin of the first to the end of the last. `lines` are the events of
    a run by one worker. A context that the worker has made before is in neither."""
    of, started, times = collections.Counter(), {}, []
    for e in lines:
        if e["ev"] not in ("AttemptStarted", "AttemptFinished"):
            continue
        plugin = next((plugin for plugin in LINES if is_of(plugin, e["id"])), None)
        if not plugin:
            continue
        times.append(e["t_ms"] / 1000)
        if e["ev"] == "AttemptStarted":
            started[e["id"]] = times[-1]
        else:
            of[plugin] += times[-1] - started.pop(e["id"])
    return of, max(times) - min(times)


def spread(values):
    return f"{statistics.median(values):.2f} s ({min(values):.2f} to {max(values):.2f})"


def against(gate, plugins, frontend):
    """cu13's cases of these plugins by one worker, in turn with a program that makes the same calls and compares nothing. Neither time has the
    context; both have what loading the libraries takes."""
    def gate_run(name):
        wanted = ":".join(f"{plugin}.*" for plugin in plugins) + "-conv.fused.*"
        code, _, _, report, folder = gate("--matrix", str(gate.tree / "matrices/cu13.json"), "--filter", wanted, "--workers-per-gpu", "1",
                                          name=f"bare-{name}")
        return code, report, folder
    program = Program(plugins, gate.out, frontend)
    code, report, _ = gate_run("warm")  # fills the caches
    lines = {plugin: [LINES[plugin](c) for c in report["cases"] if is_of(plugin, c["check"]) and c["outcome"] == "passed"] for plugin in plugins}
    program(lines)
    bares, warms, codes, same = [], [], {code}, True
    for i in range(ROUNDS):
        bares.append(program(lines))
        # All that the gate has verified must have run.
        same = same and all(bares[-1][0][plugin][:2] == (len(lines[plugin]),) * 2 and lines[plugin] for plugin in plugins)
        code, _, folder = gate_run(str(i))
        codes.add(code)
        warms.append(seconds_of_cases(events(folder)))
    for plugin in plugins:
        bare, warm = [of[plugin].seconds for of, _ in bares], [of[plugin] for of, _ in warms]
        steps = sorted(seconds_of_steps(events(folder), plugin + ".").items(), key=lambda item: -item[1])
        row(f"cu13's cases of {plugin}", same, f"{len(lines[plugin])} cases: bare {spread(bare)}, warm {spread(warm)}, ratio "
            f"{statistics.median(warm) / statistics.median(bare):.2f}; where the time goes: " + ", ".join(f"{step} {t:.2f}" for step, t in steps[:8]))
    bare, warm = [s for _, s in bares], [s for _, s in warms]
    ratio = statistics.median(warm) / statistics.median(bare)
    row("cu13 by one worker against a bare program", codes == {0} and same and ratio <= 1.25,
        f"{sum(map(len, lines.values()))} cases: bare {spread(bare)}, warm {spread(warm)}, ratio {ratio:.2f} (at most 1.25); exits {sorted(codes)}")
