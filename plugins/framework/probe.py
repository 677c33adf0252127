"""Says what a framework of this interpreter sees and computes. It judges nothing: cudnn-ci judges what it says.

    python3 probe.py versions|FRAMEWORK PROBLEM FRAMEWORKS ANSWER [RANK]

PROBLEM is a JSON file with the inputs of one small convolution, or with what to send in collectives, FRAMEWORKS one with what is known of frameworks. ANSWER gets a line of JSON for each thing as it becomes known, so that
a crash leaves what was said before it; nothing that a library prints can come between. For Python 3.8 and later; older ones get as far
as to say their version. Nothing is imported but the framework that is asked for and what it imports itself.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)  # which Python may have been told not to do by itself
from cudnn_ci_probe import arrays, collectives, inference, memory, packages, ranks, training  # noqa: E402
from cudnn_ci_probe.answer import Answer, clip  # noqa: E402
del sys.path[0]

PROBES = {"torch": training.torch, "tensorflow": training.tensorflow, "jax": training.jax,
          "onnxruntime": inference.onnxruntime, "ctranslate2": inference.ctranslate2, "cupy": arrays.cupy}


def load(names):
    """Libraries by their names, as the loader finds them; whether it does is seen from outside."""
    for name in names:
        import ctypes
        try:
            ctypes.CDLL(name)
        except OSError:
            pass


def probe(name, problem, answer):
    import importlib
    said = packages.package(name)
    if said is None:
        return answer.say("absent", packages.FRAMEWORKS[name]["module"])
    answer.say("packages", {name: said})
    if packages.is_for_the_cpu(said["distribution"]):
        answer.say("packages_beside", {other: packages.package(other) for other in packages.FRAMEWORKS if other != name})
    answer.say("cudnn_packages", packages.cudnn_packages())
    load(problem.get("load", []))
    try:
        answer.step("import")
        framework = importlib.import_module(packages.FRAMEWORKS[name]["module"])
        answer.say("imported", clip(getattr(framework, "__version__", "")))
        (collectives.PROBES if "collectives" in problem else PROBES)[name](framework, problem, answer)
    except BaseException as error:  # what a library raises is an answer, SystemExit too
        answer.error(error)
    answer.step("maps")
    files = memory.mapped()
    answer.say("mapped", files)
    try:
        answer.say("cudnn", memory.loaded_cudnn(files))
    except (OSError, AttributeError) as error:
        answer.say("cudnn_unknown", clip(error))
    return None


def main():
    what, problem, frameworks, answer = sys.argv[1], sys.argv[2], sys.argv[3], Answer(sys.argv[4])
    # Python looks for modules beside the script first, where none is to be found.
    if sys.path and os.path.realpath(sys.path[0]) == HERE:
        del sys.path[0]
    answer.say("python", {"version": ".".join(str(n) for n in sys.version_info[:3]), "executable": sys.executable})
    if sys.version_info < (3, 8):
        return
    with open(frameworks, encoding="ascii") as file:
        packages.know(json.load(file))
    if what == "versions":
        answer.say("packages", {name: packages.package(name) for name in packages.FRAMEWORKS})
        answer.say("cudnn_packages", packages.cudnn_packages())
        answer.say("library_folders", packages.library_folders())
    else:
        with open(problem, encoding="ascii") as file:
            p = json.load(file)
        job, rank = p.get("collectives", {}), sys.argv[5:]
        if job.get("processes", 1) > 1 and not rank:
            ranks.run(job["processes"], job["folder"], answer)
        else:
            p["rank"] = int(rank[0]) if rank else 0
            probe(what, p, answer)
            if rank and answer.failed:
                os._exit(1)  # at once: what NCCL has begun may never end
    answer.say("end", True)


if __name__ == "__main__":
    main()
