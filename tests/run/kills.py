#!/usr/bin/env python3
"""Real ends of real jobs under `oomplan run`: one a name. Exits with 77 where the machine does not allow it, and says why.

    kills.py --program build/dev/oomplan [--nvml FOLDER] NAME
"""

import argparse
import fcntl
import json
import os
import pty
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

SKIPPED = 77
MIB = 1 << 20


class Skip(Exception):
    pass


class Bench:
    """The program under test, in an empty folder."""

    def __init__(self, program, nvml, folder):
        self.program, self.nvml, self.folder = program, nvml, Path(folder)

    def words(self, *command):
        return [str(self.program), "run", "--json", str(self.folder / "diagnosis.json"), "--", *command]

    def run(self, *command, **options):
        """The finished process and the diagnosis."""
        done = subprocess.run(self.words(*command), cwd=self.folder, capture_output=True, timeout=60, **options)
        return done, self.diagnosis()

    def start(self, *command, **options):
        return subprocess.Popen(self.words(*command), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                **options)

    def diagnosis(self):
        return json.loads((self.folder / "diagnosis.json").read_text())


def expect(found, wanted, what):
    if found != wanted:
        sys.exit(f"FAILED: {what}: {found!r}, not {wanted!r}")


def expect_in(part, whole, what):
    if part not in whole:
        sys.exit(f"FAILED: {what}: no {part!r} in {whole!r}")


def cause(diagnosis):
    return diagnosis["verdict"]["cause"]


def new_cgroup(limit):
    """A memory cgroup below our own with a limit, of whichever version counts memory here."""
    name = f"oomplan-test-{os.getpid()}"
    v1, v2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
    for folder, limits in ((v1, ["memory.limit_in_bytes"]), (v2, ["memory.max", "memory.swap.max"])):
        cgroup = folder / name
        try:
            cgroup.mkdir()
        except OSError as error:
            reason = error
            continue
        try:
            (cgroup / limits[0]).write_text(str(limit))
            for swap in limits[1:]:
                if (cgroup / swap).exists():
                    (cgroup / swap).write_text("0")
            return cgroup
        except OSError as error:
            reason = error
            cgroup.rmdir()
    raise Skip(f"no memory cgroup can be made here: {reason}")


def cgroup(bench):
    group = new_cgroup(48 * MIB)
    try:
        hog = "import time; time.sleep(0.5); x = bytearray(400 << 20)"
        done, found = bench.run("bash", "-c", f"echo $$ > {group}/cgroup.procs && exec {sys.executable} -c '{hog}'")
    finally:
        group.rmdir()
    expect(done.returncode, 137, "exit code")
    expect(cause(found), "cgroup_oom", "cause")
    expect(found["verdict"]["confidence"], "proved", "confidence")
    expect(next(f["bytes"] for f in found["facts"] if f["name"] == "limit"), 48 * MIB, "limit")
    expect_in(b"cgroup_oom", done.stderr, "stderr")


def address_space(bench):
    hog = f"exec {sys.executable} -c 'import time; time.sleep(0.3); x = bytearray(1 << 31)'"
    done, found = bench.run("bash", "-c", "ulimit -v 1000000; " + hog)
    expect(done.returncode, 1, "exit code")
    expect(cause(found), "host_alloc_failed", "cause")
    expect_in("ulimit -v", " ".join(found["verdict"]["arithmetic"]), "arithmetic")


def memory_error(bench):
    done, found = bench.run(sys.executable, "-c", "x = bytearray(1 << 60)")
    expect(done.returncode, 1, "exit code")
    expect(cause(found), "host_alloc_failed", "cause")


def kill(bench):
    job = bench.start("bash", "-c", "echo $$; exec sleep 60")
    os.kill(int(job.stdout.readline()), signal.SIGKILL)
    _, errors = job.communicate(timeout=20)
    expect(job.returncode, 137, "exit code")
    expect(cause(bench.diagnosis()), "sigkill_unknown", "cause")
    expect_in(b"sigkill_unknown", errors, "stderr")


def tmpfs(bench):
    full = bench.folder / "full"
    full.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", full], capture_output=True, text=True)
    if done.returncode != 0:
        raise Skip(f"no tmpfs can be mounted here: {done.stderr.strip()}")
    try:
        write = f"open('{full}/checkpoint', 'wb').write(b'x' * {2 * MIB})"
        done, found = bench.run(sys.executable, "-c", write)
        expect(done.returncode, 1, "exit code")
        expect(cause(found), "disk_full", "cause")
        (bench.folder / "diagnosis.json").unlink()
        (full / "checkpoint").unlink()
        touch = f"""import mmap
with open('{full}/torch_1', 'w+b') as f:
    f.truncate({2 * MIB})
    m = mmap.mmap(f.fileno(), {2 * MIB})
    m[:] = b'x' * {2 * MIB}"""
        done, found = bench.run(sys.executable, "-c", touch)
        expect(done.returncode, 128 + signal.SIGBUS, "exit code of a bus error")
        expect(cause(found), "shm_exhausted", "cause of a bus error")
    finally:
        subprocess.run(["umount", full], check=True)


def file_size(bench):
    """A limit on the size of one file says nothing of the space that is left."""
    write = f"""import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({MIB}, {MIB}))
f = open('checkpoint', 'wb', buffering=0)
while True: f.write(b'x' * 65536)"""
    done, found = bench.run(sys.executable, "-c", write)
    expect(done.returncode, 1, "exit code")
    expect(cause(found), "not_oom", "cause")


def normal(bench):
    write = "import sys, os; os.write(1, bytes(range(256)) * 4096); os.write(2, b'\\r50%\\x00\\xff'); sys.stdin.read(3)"
    done, found = bench.run(sys.executable, "-c", write, input=b"abc")
    expect(done.returncode, 0, "exit code")
    expect(done.stdout, bytes(range(256)) * 4096, "stdout")
    expect(done.stderr, b"\r50%\x00\xff", "stderr")
    expect(found["out_of_memory"], False, "out of memory")


def exit_code(bench):
    done, _ = bench.run("bash", "-c", "exit 42")
    expect(done.returncode, 42, "exit code")


def interrupt(bench):
    """A shell leaves its loop only where what it ran died of the interrupt itself."""
    done, diagnosis = bench.run("bash", "-c", "kill -INT $$")
    expect(done.returncode, -signal.SIGINT, "exit code")
    expect(b"not_oom" in done.stderr, False, "a diagnosis on stderr")


def child_signal(bench):
    """Whoever started us may have ignored the word of children's ends."""
    done, _ = bench.run("bash", "-c", "exit 7", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    expect(done.returncode, 7, "exit code")


def full_disk(bench):
    """What is lost on its way is no success."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(bench.words("echo", "lost"), cwd=bench.folder, stdout=full, stderr=subprocess.PIPE, timeout=60)
    expect(done.returncode, 3, "exit code")
    expect_in(b"could not be passed on", done.stderr, "stderr")


def signals(bench):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        name = number.name[3:]
        job = bench.start("bash", "-c", f"trap 'echo {name}; exit 7' {name}; echo ready; while :; do sleep 0.05; done",
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        expect(job.stdout.readline(), b"ready\n", "first line")
        job.send_signal(number)
        output, _ = job.communicate(timeout=20)
        expect((output, job.returncode), (name.encode() + b"\n", 7), name)
        (bench.folder / "diagnosis.json").unlink()


def group(bench):
    """A signal reaches grandchildren, and no process is left."""
    job = bench.start("bash", "-c", "sleep 61 & echo $!; wait")
    grandchild = int(job.stdout.readline())
    job.terminate()
    job.communicate(timeout=20)
    expect(job.returncode, 128 + signal.SIGTERM, "exit code")
    expect(Path(f"/proc/{grandchild}").exists(), False, "grandchild")


def held_pipe(bench):
    """What outlives the job and keeps its output open is not waited for."""
    begun = time.monotonic()
    done, _ = bench.run("bash", "-c", "sleep 30 & echo done")
    expect((done.returncode, done.stdout), (0, b"done\n"), "result")
    if time.monotonic() - begun > 10:
        sys.exit("FAILED: it waited for a grandchild")


def closed_pipe(bench):
    """Where our reader goes, the job learns of it as it would have itself."""
    job = bench.start("bash", "-c", "while :; do echo line; done")
    job.stdout.readline()
    job.stdout.close()
    job.wait(timeout=20)
    expect(job.returncode, 128 + signal.SIGPIPE, "exit code")
    job.stderr.close()


class Terminal:
    """A shell's place: a session with a terminal of 33 by 77, in which `oomplan run` is the foreground job."""

    def __init__(self, words):
        self.master, slave = pty.openpty()
        subprocess.run(["stty", "rows", "33", "columns", "77"], stdin=slave, check=True)
        self.told, tell = os.pipe()
        self.shell = os.fork()
        if self.shell == 0:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            for fd in range(3):
                os.dup2(slave, fd)
            self.be_shell(words, tell)
        os.close(slave)
        os.close(tell)
        self.output = b""

    @staticmethod
    def be_shell(words, tell):
        """Starts the job; when it stops, takes the terminal, says so, and lets it go on; exits as it did."""
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execv(words[0], words)
        while True:
            _, status = os.waitpid(job, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                code = os.waitstatus_to_exitcode(status)
                os._exit(code if code >= 0 else 128 - code)
            os.tcsetpgrp(0, os.getpgrp())
            os.write(tell, b"stopped\n")
            os.tcsetpgrp(0, job)
            os.killpg(job, signal.SIGCONT)

    def read_until(self, wanted):
        while wanted not in self.output:
            try:
                self.output += os.read(self.master, 4096)
            except OSError:  # its last user has gone
                sys.exit(f"FAILED: no {wanted!r} in {self.output!r}")

    def exit_code(self):
        try:
            while piece := os.read(self.master, 4096):
                self.output += piece
        except OSError:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.shell, 0)[1])


def terminal(bench):
    """On a terminal the job has one too, of the same size, and ^C reaches it."""
    code = "import os, sys, time; print(os.isatty(1), os.get_terminal_size(1), flush=True); time.sleep(60)"
    session = Terminal(bench.words(sys.executable, "-c", code))
    session.read_until(b"True os.terminal_size(columns=77, lines=33)\r\n")
    os.write(session.master, b"\x03")
    expect(session.exit_code(), 128 + signal.SIGINT, "exit code")


def resize(bench):
    """The kernel tells the foreground, which is the job; its own terminal must have the new size then."""
    code = """import os, signal, time
signal.signal(signal.SIGWINCH, lambda *_: print("now", os.get_terminal_size(1), flush=True))
print("ready", flush=True)
while True: time.sleep(0.05)"""
    session = Terminal(bench.words(sys.executable, "-c", code))
    session.read_until(b"ready")
    fcntl.ioctl(session.master, termios.TIOCSWINSZ, struct.pack("4H", 44, 99, 0, 0))
    session.read_until(b"now os.terminal_size(columns=99, lines=44)")
    os.write(session.master, b"\x03")
    expect(session.exit_code(), 128 + signal.SIGINT, "exit code")


def one_pipe(bench):
    """What one pipe would have in order stays in order, in what comes out and in the log."""
    code = "import os\nfor i in range(2000): os.write(1 + i % 2, b'%d\\n' % i)"
    log = bench.folder / "job.log"
    words = [str(bench.program), "run", "--log", str(log), "--", sys.executable, "-c", code]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    numbers = b"".join(b"%d\n" % i for i in range(2000))
    expect(done.stdout, numbers, "output")
    expect(log.read_bytes()[:len(numbers)], numbers, "log")


def one_file(bench):
    code = "import os\nfor i in range(2000): os.write(1 + i % 2, b'%d\\n' % i)"
    out = bench.folder / "out"
    with open(out, "wb") as file:
        subprocess.run(bench.words(sys.executable, "-c", code), stdout=file, stderr=file, timeout=60, check=True)
    expect(out.read_bytes(), b"".join(b"%d\n" % i for i in range(2000)), "file")


def two_pipes(bench):
    """Two pipes stay two."""
    done, _ = bench.run(sys.executable, "-c", "import os; os.write(1, b'out'); os.write(2, b'err')")
    expect((done.stdout, done.stderr), (b"out", b"err"), "streams")


def stop(bench):
    """^Z stops both, and both go on."""
    session = Terminal(bench.words("bash", "-c", "echo ready; read line; echo got $line; exit 9"))
    session.read_until(b"ready")
    os.write(session.master, b"\x1a")
    expect(os.read(session.told, 100), b"stopped\n", "what the shell saw")
    os.write(session.master, b"hello\n")
    session.read_until(b"got hello")
    expect(session.exit_code(), 9, "exit code")


def gpu(bench):
    if not bench.nvml:
        raise Skip("no stand-in for NVIDIA's library was built")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(bench.nvml)}
    done, _ = bench.run("bash", "-c", "sleep 0.3; exit 1", env=environment)
    expect_in(b"GPU 0 used at most 22.00 GiB of 24.00 GiB", done.stderr, "stderr")


NAMES = {f.__name__: f for f in (cgroup, address_space, memory_error, kill, tmpfs, file_size, normal, exit_code, interrupt,
                                 child_signal, full_disk, signals, group, held_pipe, closed_pipe, terminal, resize, one_pipe,
                                 one_file, two_pipes, stop, gpu)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--nvml", type=Path)
    parser.add_argument("name", choices=NAMES)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        try:
            NAMES[options.name](Bench(options.program.resolve(), options.nvml, folder))
        except Skip as why:
            print(f"skipped: {why}")
            return SKIPPED
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
