# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A Slurm of two nodes on this machine, in a folder of its own, for a test: munge, a controller, two slurmd."""
import contextlib
import glob
import os
import shutil
import signal
import socket
import subprocess
import time

import rig

NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sbatch")
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"

# Two nodes have one host, and so different ports. Cores are shared, since there may be two of them.
CONFIGURATION = """ClusterName=tapml
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdSpoolDir={folder}/spool.%n
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=8 State=UNKNOWN
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def find(program):
    return shutil.which(program, path=PATH)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def run(environment, *words, code=0, timeout=600, **more):
    """Runs a program of Slurm, which must end with `code`."""
    done = subprocess.run([find(words[0]), *words[1:]], env=environment, capture_output=True, text=True, timeout=timeout,
                          check=False, stdin=subprocess.DEVNULL, **more)
    return done if code is None else rig.check(done, code)


def _write(folder):
    with open(os.path.join(folder, "munge.key"), "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(os.urandom(1024))
    with open(os.path.join(folder, "slurm.conf"), "w", encoding="utf-8") as file:
        file.write(CONFIGURATION.format(folder=folder, host=socket.gethostname().split(".")[0], ports=free_ports(3)))
    for name in ("state", "spool.one", "spool.two"):
        os.mkdir(os.path.join(folder, name))


def _end(folder):
    for path in sorted(glob.glob(os.path.join(folder, "*.pid")), key=lambda path: "munged" in path):
        with open(path, encoding="utf-8") as file, contextlib.suppress(ProcessLookupError, ValueError):
            os.kill(int(file.read()), signal.SIGTERM)
    time.sleep(1)


@contextlib.contextmanager
def cluster(folder):
    """Starts all of it and gives the environment in which its programs find it."""
    for program in NEEDED:
        rig.need("slurm", find(program))
    if os.geteuid() != 0:
        raise rig.Skip("slurmd needs to be root")
    _write(folder)
    environment = {**os.environ, "SLURM_CONF": os.path.join(folder, "slurm.conf"), "TAPML_HOST": rig.HOST}
    try:
        run(environment, "munged", "--force", *(f"--{what}={folder}/{name}" for what, name in (
            ("key-file", "munge.key"), ("socket", "munge.socket"), ("pid-file", "munged.pid"), ("log-file", "munged.log"),
            ("seed-file", "munged.seed"))))
        run(environment, "slurmctld")
        for node in ("one", "two"):
            run(environment, "slurmd", "-N", node)
        for _ in range(60):
            if "idle" in run(environment, "sinfo", "-h", "-o", "%t %D", code=None).stdout.replace("idle 1", ""):
                break
            time.sleep(1)
        yield environment
    finally:
        _end(folder)
