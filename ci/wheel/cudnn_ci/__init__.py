"""cudnn-ci as a Python package: the tree of a release archive, and ways to start its programs. For Python 3.8 and later."""
import os
import sys

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


def program(name="cudnn-ci"):
    """The path of one of the programs: "cudnn-ci" or "cudnn-ci-run"."""
    return os.path.join(TREE, "bin", name)


def environment():
    """This process's environment, with VIRTUAL_ENV by which `--auto` finds the interpreter that this package is installed for. An
    active environment stays the one that is looked at first."""
    return {"VIRTUAL_ENV": sys.prefix, **os.environ}


def start(name):
    path = program(name)
    try:
        os.execve(path, [path] + sys.argv[1:], environment())
    except OSError as error:
        print("%s: %s: %s; install the package cudnn-ci again" % (name, path, error.strerror), file=sys.stderr)
        return 2


def main():
    return start("cudnn-ci")


def run_main():
    return start("cudnn-ci-run")
