# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A real Slurm of one machine: slurmctld, and a slurmd for each node of a tree, all of them on the loopback device.

No munge, no systemd, no database; any number of them side by side, each with ports and folders of its own. Everything is
ended by its pid, and dies with this process.
"""
import json
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import harness

PROGRAMS = ["slurmctld", "slurmd", "squeue", "sbatch", "scancel", "scontrol", "sinfo"]

CONF = """\
ClusterName=fors
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
SelectType=select/linear
TopologyPlugin=topology/tree
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=1
SchedulerParameters=batch_sched_delay=0,sched_interval=1
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdSpoolDir={spool}/%n
SlurmdPidFile={folder}/spool/%n.pid
SlurmdLogFile={folder}/spool/%n.log
"""


def missing():
    """Programs of Slurm that are not here; and slurmd wants to be root."""
    return [name for name in PROGRAMS if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")] + \
        (["root"] if os.geteuid() else [])


def free_ports(count):
    """The first of `count` ports in a row that nobody listens at, below those that the system gives away by itself."""
    base = 10000 + (os.getpid() * 37) % 15000
    for first in range(base, base + 5000, count):
        sockets = []
        try:
            for port in range(first, first + count):
                sockets.append(socket.socket())
                sockets[-1].bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise harness.HarnessError("no ports are free")


class Slurm:
    """leaves: a list of lists of node names. prolog, epilog: programs that slurmctld runs when a job begins and ends."""

    def __init__(self, folder, leaves, prolog=None, epilog=None, partitions=(), more=""):
        self.folder, self.leaves = Path(folder), leaves
        self.nodes = [node for leaf in leaves for node in leaf]
        self.processes = []
        for path in ("state", "spool", "out"):
            (self.folder / path).mkdir(parents=True)
        self.spool = tempfile.mkdtemp(prefix="slurmd-")  # a short name: those of its sockets begin with it, and have 108 bytes
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"),
                            "PATH": os.environ["PATH"] + ":/usr/sbin"}
        self.write_conf(prolog, epilog, partitions, more)
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def write_conf(self, prolog, epilog, partitions, more):
        host, port = socket.gethostname().split(".")[0], free_ports(len(self.nodes) + 1)
        text = CONF.format(host=host, port=port, folder=self.folder, spool=self.spool)
        text += f"PrologSlurmctld={prolog}\n" * bool(prolog) + f"EpilogSlurmctld={epilog}\n" * bool(epilog) + more
        for i, node in enumerate(self.nodes):
            text += f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port + 1 + i} CPUs=1 RealMemory=10\n"
        text += "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
        for name in partitions:
            text += f"PartitionName={name} Nodes=ALL MaxTime=INFINITE State=UP\n"
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "topology.conf").write_text(
            "".join(f"SwitchName=Leaf{i:02} Nodes={','.join(leaf)}\n" for i, leaf in enumerate(self.leaves)) +
            f"SwitchName=Spines Switches={','.join(f'Leaf{i:02}' for i in range(len(self.leaves)))}\n")

    def spawn(self, *command):
        self.processes.append(subprocess.Popen([*harness.DIES_WITH_US, *command], env=self.environment, stdin=subprocess.DEVNULL,
                                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def start(self):
        self.spawn("slurmctld", "-D")
        for node in self.nodes:
            self.spawn("slurmd", "-D", "-N", node)
        harness.wait_for(self.is_idle, 20 + len(self.nodes), "all nodes idle", 0.2)

    def is_idle(self):
        done = self.run("sinfo", "-h", "-N", "-o", "%T", check=False)
        return done.returncode == 0 and done.stdout.split().count("idle") >= len(self.nodes)

    def run(self, *command, check=True):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=300)
        if check and done.returncode:
            raise harness.HarnessError(f"{' '.join(command)}: {done.stderr}")
        return done

    def submit(self, nnodes, *options, before=""):
        """sbatch of a job that sleeps, and does something before that; its ID."""
        return int(self.run("sbatch", "--parsable", f"-N{nnodes}", f"--output={self.folder}/out/%j", *options,
                            "--wrap", before + "exec sleep 600").stdout.split(";")[0])

    def decided(self, job):
        """Slurm has looked at it: it runs, or waits for others."""
        done = self.run("squeue", "-h", "-o", "%T %r", "-j", str(job), check=False)
        return done.stdout.split()[:1] != ["PENDING"] or done.stdout.split()[1:] in (["Resources"], ["Priority"])

    def cancel(self, *ids):
        self.run("scancel", *map(str, ids))

    def running(self):
        """{ID: set of nodes} of the jobs that run or are about to, as squeue's own lines have them."""
        lines = self.run("squeue", "-h", "-t", "R,CF", "-o", "%A %N").stdout.split("\n")
        return {int(line.split()[0]): set(self.hosts(line.split()[1])) for line in lines if len(line.split()) == 2}

    def hosts(self, text):
        return self.run("scontrol", "show", "hostnames", text).stdout.split()

    def json(self):
        return json.loads(self.run("squeue", "--json").stdout)

    def stop(self):
        """Jobs first: their steps are processes of slurmd's, and not ours."""
        if self.processes and self.processes[0].poll() is None:
            self.run("scancel", "--user=root", check=False)
            try:
                harness.wait_for(lambda: not self.run("squeue", "-h", check=False).stdout, 15, "all jobs gone", 0.2)
            except harness.HarnessError:
                pass
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []
        shutil.rmtree(self.spool, ignore_errors=True)
