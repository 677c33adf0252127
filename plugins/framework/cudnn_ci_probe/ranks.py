"""A process for each rank, which is the script once more. They end together."""
import os
import subprocess
import sys
import time

GRACE = 0.5  # seconds for the others to tell of the same, behind the first that failed


def run(ranks, folder, answer):
    command = [sys.executable, "-B", "-X", "faulthandler", *sys.argv[:-1]]
    processes = [subprocess.Popen(command + [os.path.join(folder, "answer.%d" % rank), str(rank)]) for rank in range(ranks)]
    ended, until = {}, None
    while len(ended) < ranks and (until is None or time.monotonic() < until):
        for rank, process in enumerate(processes):
            if rank not in ended and process.poll() is not None:
                ended[rank] = process.returncode
                answer.say("rank_ended", {"rank": rank, "status": process.returncode})
                if process.returncode != 0 and until is None:
                    until = time.monotonic() + GRACE
        time.sleep(0.02)
    for rank, process in enumerate(processes):
        if rank not in ended:
            process.kill()
            process.wait()
