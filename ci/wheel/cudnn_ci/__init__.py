"""cudnn-ci as a Python package: the program, which pip puts among the scripts, and ways to start it. For Python 3.8 and later."""
import os
import sys
import sysconfig


def program():
    """The path of cudnn-ci: where pip put it for this package. Where it is in none of these places, the first is named."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    user = "posix_user" if "posix_user" in sysconfig.get_scheme_names() else None
    places = [sysconfig.get_path("scripts"),
              os.path.join(package, "bin"),  # pip install --target
              os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(package))), "bin")]  # pip install --prefix
    places += [sysconfig.get_path("scripts", user)] if user else []
    found = [os.path.join(place, "cudnn-ci") for place in places]
    return next(filter(os.path.isfile, found), found[0])


def environment():
    """This process's environment, with VIRTUAL_ENV by which `--auto` finds the interpreter that this package is installed for. An
    active environment stays the one that is looked at first."""
    return {"VIRTUAL_ENV": sys.prefix, **os.environ}


def start(*words):
    path = program()
    try:
        os.execve(path, [path, *words] + sys.argv[1:], environment())
    except OSError as error:
        print("%s: %s: %s; install the package cudnn-ci again" % ("cudnn-ci", path, error.strerror), file=sys.stderr)
        return 2


def main():
    return start()


def run_main():
    return start("run")
