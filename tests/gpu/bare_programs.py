"""The bare programs that warm workers are measured against: how they are compiled, and cases as they read them."""
import pathlib
import statistics
import subprocess
import time

from gate import events, row, seconds_of_steps, values

HERE = pathlib.Path(__file__).resolve().parent
CUDA = pathlib.Path("/usr/local/cuda")
DRIVER = ["-lcuda"]
PROGRAMS = {
    "conv": (["bare_conv.cc", "bare_graph.cc"], [*DRIVER, "-l:libcudnn.so.9"]),
    # What cudnn-frontend calls beside cuDNN; of NVRTC nothing, for these graphs.
    "attention": (["bare_attention.cc"], [*DRIVER, "-l:libcudnn.so.9", "-lcudart", "-lnvrtc"]),
    "gemm": (["bare_gemm.cc"], [*DRIVER, "-lcublasLt", "-lcublas"]),
}
FRONTEND = ["-DNV_CUDNN_FRONTEND_DISABLE_LOGGING", "-DCUDNN_FRONTEND_SKIP_JSON_LIB", "-isystem"]
ROUNDS = 3


def build(name, out, frontend=None):
    """The program of a plugin, compiled for the libraries of this machine."""
    sources, libraries = PROGRAMS[name]
    program = out / f"bare_{name}"
    more = [*FRONTEND, str(frontend)] if name == "attention" else []
    subprocess.run(["g++", "-O2", "-std=c++17", *(str(HERE / source) for source in sources), "-o", str(program), f"-I{CUDA}/include", *more,
                    f"-L{CUDA}/lib64", f"-L{CUDA}/lib64/stubs", f"-Wl,-rpath,{CUDA}/lib64", *libraries], check=True)
    return program


def run(program, lines):
    """Seconds, and what it says."""
    cases = program.with_name(f"{program.name}-cases.txt")
    cases.write_text("\n".join(lines) + "\n")
    start = time.monotonic()
    p = subprocess.run([str(program), str(cases)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = p.stdout.strip().splitlines()
    return time.monotonic() - start, said[-1] if said and p.returncode == 0 else f"ended with {p.returncode}: {' '.join(said[-1:])}"


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


LINES = {"attention": attention_line, "gemm": gemm_line}


def seconds_of_cases(folder, plugin):
    """From the begin of a plugin's first case to the end of its last; a context that its worker has made before is not in it."""
    times = [e["t_ms"] for e in events(folder) if e["ev"] in ("AttemptStarted", "AttemptFinished") and e["id"].startswith(plugin + ".")]
    return (max(times) - min(times)) / 1000


def against(gate, plugin, program):
    """cu13's cases of a plugin by one worker, in turn with a program that makes the same calls and compares nothing. Neither time has the
    context."""
    def gate_run(name):
        code, _, _, report, folder = gate("--matrix", str(gate.tree / "matrices/cu13.json"), "--filter", f"{plugin}.*", "--workers-per-gpu", "1",
                                          name=f"{plugin}-{name}")
        return code, report, folder
    code, report, _ = gate_run("warm")  # fills the caches
    lines = [LINES[plugin](c) for c in report["cases"] if c["check"].startswith(plugin + ".") and c["outcome"] == "passed"]
    run(program, lines)
    bares, warms, wholes, codes, said = [], [], [], {code}, set()
    for i in range(ROUNDS):
        seconds, text = run(program, lines)
        words = text.split(", ")
        said.add(", ".join(words[:2]))
        wholes.append(seconds)
        bares.append(float(words[-1].split()[0]) if text.endswith(" s") else float("nan"))
        code, _, folder = gate_run(str(i))
        codes.add(code)
        warms.append(seconds_of_cases(folder, plugin))
    bare, warm = statistics.median(bares), statistics.median(warms)
    # The program says how many of its cases the library took: all that the gate has verified.
    same = len(said) == 1 and len(lines) > 0 and [word.split()[0] for word in min(said).split(", ")] == [str(len(lines))] * 2
    steps = sorted(seconds_of_steps(events(folder), plugin + ".").items(), key=lambda item: -item[1])
    row(f"cu13's cases of {plugin} against a bare program", codes == {0} and same and warm <= 1.25 * bare,
        f"{len(lines)} cases: bare {bare:.2f} s ({min(bares):.2f} to {max(bares):.2f}; {'; '.join(sorted(said))}; with its context "
        f"{statistics.median(wholes):.2f}), warm {warm:.2f} s ({min(warms):.2f} to {max(warms):.2f}), ratio {warm / bare:.2f} (at most 1.25); "
        f"exits {sorted(codes)}; where the time goes: " + ", ".join(f"{step} {t:.2f}" for step, t in steps[:8]))
