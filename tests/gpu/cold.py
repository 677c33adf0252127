"""First runs, as a pipeline has them: the driver's kernel cache is empty, the page cache dropped, few processors.

Every row runs its programs in turn, so that a slow minute of the machine meets all of them; it shows medians and ratios.
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

from gate import Gate, row

# PyTorch's three convolutions: the yardstick that everybody can run. Forward and both gradients, in the first type that users take.
TORCH = ("import torch\nx = torch.randn(8, 64, 56, 56, device='cuda', dtype=torch.half, requires_grad=True)\n"
         "w = torch.randn(64, 64, 3, 3, device='cuda', dtype=torch.half, requires_grad=True)\n"
         "torch.nn.functional.conv2d(x, w, padding=1).sum().backward()\ntorch.cuda.synchronize()\n")


def drop_caches():
    """Whether the kernel forgot the contents of files, so that libraries are read from the disk again."""
    try:
        os.sync()
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("3\n", encoding="ascii")
        return True
    except OSError:
        return False


def on(processors):
    """A command in front of another that leaves it so many processors; none if there are no more."""
    own = sorted(os.sched_getaffinity(0))
    return [] if processors >= len(own) else ["taskset", "-c", ",".join(map(str, own[:processors]))]


def timed(run, processors, cache, drop):
    """Seconds and exit status of run(before, env): with an empty kernel cache in a new folder, or with `cache`; and whether the page
    cache is as it was to be: dropped before, if `drop`."""
    folder = cache or tempfile.mkdtemp(prefix="kernels-")
    dropped = drop_caches() if drop else True
    try:
        start = time.monotonic()
        code = run(on(processors), {"CUDA_CACHE_PATH": folder, "CUDA_CACHE_MAXSIZE": "1073741824"})
        return time.monotonic() - start, code, dropped
    finally:
        if not cache:
            shutil.rmtree(folder, ignore_errors=True)


def measure(gate, args):
    programs = {}

    def add(name, g, *arguments):
        programs[name] = lambda before, env, label: g(*arguments, name=f"cold-{label}", before=before, env=env)[0]

    rest = ["--filter", "*:-nccl.*"]  # whose releases differ in what they get wrong
    add("cu13", gate, "--matrix", "cu13", *rest)
    add("first", gate, "--matrix", "first")
    if args.against:
        add("cu13 of the other tree", Gate(args.against, gate.out / "other"), "--matrix", "cu13", *rest)
    if subprocess.run([str(args.python), "-c", "import torch"], capture_output=True, check=False).returncode == 0:
        programs["PyTorch's convolutions"] = lambda before, env, label: subprocess.run(
            [*before, str(args.python), "-c", TORCH], env={**os.environ, **env}, capture_output=True, check=False).returncode
    here = len(os.sched_getaffinity(0))
    for processors in sorted({here, min(4, here)}, reverse=True):
        for state in ("empty", "empty, page cache too", "full"):
            with tempfile.TemporaryDirectory(prefix="kernels-") as kept:
                cache = kept if state == "full" else None
                seconds, codes, dropped = {name: [] for name in programs}, {name: set() for name in programs}, True
                if cache:
                    for name, run in programs.items():
                        timed(lambda before, env, run=run: run(before, env, "fill"), processors, cache, False)
                for i in range(args.pairs):
                    for name, run in programs.items():
                        label = f"{processors}-{state}-{name}-{i}".replace(", ", "-").replace(" ", "-")
                        s, code, forgot = timed(lambda before, env, run=run, label=label: run(before, env, label), processors, cache,
                                                "page" in state)
                        seconds[name].append(s)
                        codes[name].add(code)
                        dropped = dropped and forgot
            first = statistics.median(seconds["cu13"])
            for name, all_of in seconds.items():
                middle = statistics.median(all_of)
                row(f"{name}, {processors} processors, kernel cache {state}", codes[name] == {0},
                    f"median {middle:.2f} s of {len(all_of)} ({min(all_of):.2f} to {max(all_of):.2f}), {middle / first:.2f} of cu13's, "
                    f"exits {sorted(codes[name])}{'' if dropped else ', page cache not dropped'}")
