"""Several processes of cudnn_ci_runner.py at the same time, for an adapter whose implementations name them."""
import ctypes
import os
import resource
import select
import signal
import sys
import time


class Child:
    """A process that is forked from this one, which has imported nothing of the image yet, and its output."""

    def __init__(self, name, answer):
        self.answer, self.mark, self.rest = answer, ("[%s] " % name if name else "").encode("ascii"), b""
        self.file, theirs = os.pipe()
        runner, self.pid = os.getpid(), os.fork()
        if not self.pid:
            ctypes.CDLL(None).prctl(1, int(signal.SIGKILL))  # PR_SET_PDEATHSIG
            if os.getppid() != runner:
                os.kill(os.getpid(), signal.SIGKILL)
            os.dup2(theirs, 1)
            os.dup2(theirs, 2)
        os.close(theirs)
        os.set_blocking(self.file, False)

    def copy_output(self):
        """What is there to read now, as whole lines that name the process; False: there will be no more."""
        for _ in range(16):
            try:
                data = os.read(self.file, 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            lines = (self.rest + data).split(b"\n")
            self.rest = lines.pop()
            self.write(lines)
            if len(self.rest) > 1 << 16:
                self.write_rest()
        return True

    def write(self, lines):
        text = b"".join(self.mark + line + b"\n" for line in lines)
        while text:
            text = text[os.write(1, text):]

    def write_rest(self):
        rest, self.rest = self.rest, b""
        self.write([rest] if rest else [])

    def has_ended(self):
        """Whether it has; then all of its output is copied, and its answer says how it ended."""
        pid, self.status = os.waitpid(self.pid, os.WNOHANG)
        if not pid:
            return False
        self.copy_output()
        self.write_rest()
        killed = os.WTERMSIG(self.status) if os.WIFSIGNALED(self.status) else 0
        if killed == signal.SIGKILL:
            time.sleep(0.1)  # who ends all of them ends this process too, which then does not say that this one died
        self.answer.say("left", {"signal": killed, "status": -1 if killed else os.WEXITSTATUS(self.status)})
        return True


def run_together(job, answer, run_calls):
    """The processes of a job, at the same time. Returns in each of them; this process waits for all, and ends as the first one did that
    ended badly."""
    children, first = [], 0
    for number, process in enumerate(job["processes"]):
        children.append(Child(process["name"], answer.of_process(number)))
        if not children[-1].pid:
            run_calls(job, process["calls"], children[-1].answer)
            return children[-1].answer.say("end", True)
    silent = set()
    while children:
        poll = select.poll()
        for child in children:
            if child not in silent:
                poll.register(child.file, select.POLLIN)
        ready = [file for file, _ in poll.poll(20)]
        for child in children:
            if child.file in ready:
                silent |= set() if child.copy_output() else {child}
            elif not ready:
                child.write_rest()
        for child in [c for c in children if c.has_ended()]:
            children.remove(child)
            first = first or child.status
    end_as(first)


def end_as(status):
    """As a process with this status of wait(2) did, without a core of this one, or the trace that python -X faulthandler prints."""
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if os.WTERMSIG(status) != signal.SIGKILL:
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    sys.exit(os.WEXITSTATUS(status))
