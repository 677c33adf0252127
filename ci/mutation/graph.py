"""What a changed source can reach, as the build knows it: objects, and what is made of them; and how it is compiled."""
import os
import re
import shlex


def objects_with(deps, build, source):
    """The objects compiled from `source`, or with it where it is a header. `deps`: what `ninja -t deps` prints."""
    found, target, source = set(), "", os.path.realpath(source)
    for line in deps.splitlines():
        if line and not line.startswith(" "):
            target = line.split(": ", 1)[0]
        elif line and os.path.normpath(os.path.join(build, line.strip())) == source:
            found.add(target)
    return found


def optimised(database, build, source, output):
    """The command that compiles `source` optimised into `output`, as a list; None where nothing compiles it (a header).
    `database`: the parsed compile_commands.json. What is written there for the build's own bookkeeping is left out."""
    source = os.path.realpath(source)
    for entry in database:
        if os.path.realpath(os.path.join(build, entry["file"])) != source:
            continue
        command, skip = [], False
        for argument in shlex.split(entry["command"]):
            if skip or argument in ("-o", "-MF", "-MT"):
                skip = not skip
            elif argument != "-MD" and not re.fullmatch(r"-O\w?|-g\d?", argument):
                command.append(argument)
        return [*command, "-O2", "-o", output]
    return None
