#!/usr/bin/env python3
"""ci/slurm/gate.sbatch and nodes.sbatch in a real Slurm on this machine: three nodes, each a daemon of its own, and no GPU.

usage: slurm_test.py --tree BUILD/stage --plugins DIR --fakes DIR    as root, after ci/deps slurm
"""
import argparse
import json
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "ci/slurm/gate.sbatch"
NODES_SCRIPT = ROOT / "ci/slurm/nodes.sbatch"
NODES = 3
OPTIONS = None

CONFIGURATION = """ClusterName=cudnn-ci-test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={dir}/munge.socket
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/linear
SlurmctldPort={controller}
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool-%n
SlurmctldPidFile={dir}/controller.pid
SlurmdPidFile={dir}/%n.pid
SlurmctldLogFile={dir}/controller.log
SlurmdLogFile={dir}/%n.log
SlurmdTimeout=10
KillWait=5
ReturnToService=2
MailProg=/bin/true
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def until(what, condition, seconds=120):
    """Waits for a condition; a machine under load is slow, so the time is only there to end the test."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.2)


class Cluster:
    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="cudnn-ci-slurm-"))
        # Below it munge and other users' files are looked at.
        self.dir.chmod(0o755)
        self.daemons = []
        self.env = {**{k: v for k, v in os.environ.items() if not k.startswith("SLURM")}, "SLURM_CONF": str(self.dir / "slurm.conf")}
        controller, *ports = free_ports(1 + NODES)
        nodes = "\n".join(f"NodeName=n{i} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={port} CPUs=1 State=UNKNOWN"
                          for i, port in enumerate(ports, 1))
        (self.dir / "slurm.conf").write_text(CONFIGURATION.format(host=socket.gethostname(), dir=self.dir, controller=controller, nodes=nodes))
        (self.dir / "state").mkdir()
        key = self.dir / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)

    def start(self):
        self.daemon("munged", "--foreground", f"--key-file={self.dir}/munge.key", f"--socket={self.dir}/munge.socket",
                    f"--pid-file={self.dir}/munge.pid", f"--log-file={self.dir}/munge.log", f"--seed-file={self.dir}/munge.seed", "--force")
        until("munge answers", (self.dir / "munge.socket").exists)
        self.daemon("slurmctld", "-D")
        self.nodes = {}
        for i in range(1, NODES + 1):
            (self.dir / f"spool-n{i}").mkdir()
            self.nodes[f"n{i}"] = self.daemon("slurmd", "-D", "-N", f"n{i}")
        until("all nodes are idle", lambda: self.ask("sinfo", "-h", "-o", "%T %D") == f"idle {NODES}")

    def daemon(self, *words):
        with open(self.dir / f"{words[0]}.out", "ab") as log:
            process = subprocess.Popen(words, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.daemons.append(process)
        return process

    def ask(self, *words):
        return subprocess.run(words, env=self.env, capture_output=True, text=True, timeout=60).stdout.strip()

    def steps_of(self, job):
        """The step daemons of a job and what they started: processes of this cluster alone."""
        found = []
        for proc in pathlib.Path("/proc").iterdir():
            try:
                environment = (proc / "environ").read_bytes().split(b"\0") if proc.name.isdigit() else []
                name = (proc / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            ours = f"SLURM_CONF={self.dir}/slurm.conf".encode() in environment
            if ours and (name.startswith(f"slurmstepd: [{job}.") or f"SLURM_JOB_ID={job}".encode() in environment):
                found.append(int(proc.name))
        return found

    def stop(self):
        for process in reversed(self.daemons):
            if process.poll() is None:
                process.terminate()
        for process in self.daemons:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(self.dir, ignore_errors=True)


class Slurm(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster()
        self.addCleanup(self.cluster.stop)
        self.cluster.start()
        self.dir = self.cluster.dir
        self.out = self.dir / "out"
        self.matrix = self.dir / "matrix.json"
        self.matrix.write_text(json.dumps({"schema": "cudnn-ci/matrix/1", "name": "shards", "checks": [
            {"check": "fixture.noop", "axes": {"i": list(range(24))}}]}))

    def tool(self, before=""):
        """The program, with something to do before it."""
        path = self.dir / "tool"
        path.write_text(f'#!/bin/sh\n{before}\nexec "{OPTIONS.tree}/bin/cudnn-ci" "$@"\n')
        path.chmod(0o755)
        return {"CUDNN_CI": str(path)}

    def submit(self, *words, env=None):
        process = subprocess.run(["sbatch", "--parsable", *words], env={**self.cluster.env, **(env or {})}, capture_output=True, text=True, timeout=180)
        return process.returncode, process.stdout.strip().split(";")[0], process.stderr

    def shards(self, env):
        code, job, error = self.submit(f"--array=1-{NODES}", str(SCRIPT), str(self.out), "--matrix", str(self.matrix),
                                       "--plugin-dir", str(OPTIONS.plugins), env=env)
        self.assertEqual(code, 0, error)
        return job

    def merge(self, job, env):
        code, _, error = self.submit(f"--dependency=afterany:{job}", "--wait", str(SCRIPT), "--merge", str(self.out), job, str(NODES), env=env)
        log = (self.out / job / "merged/log.txt").read_text()
        return code, json.loads((self.out / job / "merged/report.json").read_text()), log + error

    def test_the_shards_are_one_verdict(self):
        env = self.tool()
        job = self.shards(env)
        code, report, log = self.merge(job, env)
        self.assertEqual(code, 0, log)
        self.assertEqual(report["verdict"], "passed")
        self.assertEqual(report["totals"]["planned"], 24)
        self.assertEqual(len(report["run"]["merged"]["parts"]), NODES)

    def test_the_shard_of_a_node_that_is_lost_is_red(self):
        # The second shard waits until its node is gone; the others do not.
        env = self.tool(f'if [ "${{SLURM_ARRAY_TASK_ID-}}" = 2 ]; then : >"{self.dir}/waiting"; sleep 600; fi')
        job = self.shards(env)
        until("the second shard runs", (self.dir / "waiting").exists)
        node, number = self.cluster.ask("squeue", "-h", "-r", "-j", f"{job}_2", "-o", "%N %A").split()
        self.cluster.nodes[node].send_signal(signal.SIGKILL)
        killed = self.cluster.steps_of(number)
        self.assertTrue(killed)
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        until("the others have ended", lambda: all((self.out / job / f"shard-{i}/report.json").exists() for i in (1, 3)))
        code, report, log = self.merge(job, env)
        self.assertEqual(code, 6, log)
        self.assertEqual(report["root_cause"]["slug"], "part-missing")
        self.assertIn("shard 2/3 is missing", report["root_cause"]["detail"])
        self.assertFalse((self.out / job / "shard-2/report.json").exists(), "--no-requeue")

    def nodes(self, env, before=""):
        """The verdict of a task on each of the three nodes, a GPU each, that join one communicator of the fake NCCL."""
        self.matrix.write_text(json.dumps({"schema": "cudnn-ci/matrix/1", "name": "nodes", "checks": [
            {"check": "nccl.nodes", "params": {"extent": "least", "limit_s": 2, "join_s": 20}}]}))
        libraries = ":".join(str(OPTIONS.fakes / name) for name in ("libcuda", "nvml", "cudart13", "nccl"))
        # The nodes' names are known to this Slurm alone.
        env = {"LD_LIBRARY_PATH": libraries, "FAKE_NCCL_HOSTS": "1", "MASTER_ADDR": "127.0.0.1", **env,
               **self.tool('export FAKE_UUID="${SLURM_PROCID:-0}00" CUDNN_CI_PLUGIN_PATH=; ' + before)}
        code, job, error = self.submit("--wait", f"--nodes={NODES}", "--ntasks-per-node=1", str(NODES_SCRIPT), str(self.out),
                                       "--matrix", str(self.matrix), env=env)
        log = (self.out / job / "merged/log.txt").read_text()
        reports = [json.loads(path.read_text()) for path in sorted((self.out / job).glob("task-*/report.json"))]
        return code, json.loads((self.out / job / "merged/report.json").read_text()), reports, log + error

    def test_ranks_of_all_nodes_are_one_case(self):
        code, report, _, log = self.nodes({})
        self.assertEqual(code, 0, log)
        self.assertEqual(report["verdict"], "passed")
        self.assertEqual(report["run"]["merged"]["by"], "nodes")
        self.assertEqual(len(report["run"]["merged"]["parts"]), NODES)
        self.assertEqual([m["value"] for c in report["cases"] if c["check"] == "nccl.nodes" for m in c["measurements"]], [9])

    def test_a_rank_of_one_node_that_is_wrong_is_one_finding_of_all(self):
        code, report, tasks, log = self.nodes({"FAKE_NCCL_FAULT": "missing", "FAKE_NCCL_AT": "2", "FAKE_NCCL_LOST": "1"})
        self.assertEqual(code, 6, log)
        self.assertEqual(report["root_cause"]["slug"], "nodes-wrong")
        self.assertIn("rank 2 (task 2 on ", report["root_cause"]["detail"])
        self.assertIn("rank 1 is missing", report["root_cause"]["detail"])
        self.assertEqual([task["root_cause"]["detail"] for task in tasks], [report["root_cause"]["detail"]] * NODES)
        self.assertEqual(len([f for c in report["cases"] for f in c["findings"] if f["slug"] == "nodes-wrong"]), 1)

    def test_a_node_whose_task_does_not_come_is_named(self):
        code, report, tasks, log = self.nodes({}, 'if [ "${SLURM_PROCID-}" = 1 ] && [ "$1" != report ]; then exit 9; fi')
        self.assertEqual(code, 3, log)
        self.assertEqual(len(tasks), NODES - 1)
        self.assertEqual(report["root_cause"]["slug"], "nodes-missing")
        self.assertIn("task 1 of 3 did not come", report["root_cause"]["detail"])
        self.assertIn("missing 1 (2/3)", log)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--plugins", type=pathlib.Path, required=True)
    parser.add_argument("--fakes", type=pathlib.Path, required=True)
    OPTIONS = parser.parse_args()
    # Debian's daemons lie in sbin.
    os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    missing = [name for name in ("slurmctld", "slurmd", "sbatch", "munged") if not shutil.which(name)]
    if missing or os.geteuid() != 0:
        print(f"skipped: {', '.join(missing) or 'not root'}: run ci/deps slurm, as root")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
