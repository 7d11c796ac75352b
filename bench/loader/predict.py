#!/usr/bin/env python3
"""Predicts the host memory of real torch DataLoaders, and measures it.

    python3 -m venv .venv && .venv/bin/pip install torch numpy pyarrow pandas
    .venv/bin/python bench/loader/predict.py --program build/release/oomplan [--save FILE] [--case "ARGUMENTS OF job.py"]
    python3 bench/loader/predict.py --program build/release/oomplan --measured tests/data/loader/measured.json
    .venv/bin/python bench/loader/predict.py --bases

Each case is a fresh process (job.py) with its workers, looked at every 20 ms from outside: RAM is what all its processes
hold of anonymous memory (PSS, so that pages which a fork shares count once), the pages of files of the one that has
most, and what /dev/shm grew by, touched or not; the most of the sum. Of /dev/shm alone it is the most that two looks in a
row saw. Nothing else on the machine may use /dev/shm
meanwhile. The prediction is the program's, from a config, and from a profile that `oomplan measure` made of the same
rows as Parquet. With --measured nothing is run: the measured figures are those of an earlier run.

--bases prints what models/libraries and models/runtimes hold.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

WORKERS = ["--workers 0", "--workers 2", "--workers 4", "--workers 2 --start spawn", "--workers 4 --start spawn"]
CASES = [f"--rows-as {form} {workers}" for form in ("numpy", "list", "arrow") for workers in WORKERS] + [
    "--rows-as numpy --workers 0 --batch 512 --tokens 4096 --rows 3000",
    "--rows-as numpy --workers 1 --batch 512 --tokens 2048 --rows 5120",
    "--rows-as numpy --workers 2 --batch 256 --tokens 2048 --rows 6000",
    "--rows-as numpy --workers 2 --prefetch 4 --batch 64 --tokens 4096 --rows 3000",
    "--rows-as numpy --workers 4 --prefetch 8 --batch 128 --tokens 2048 --rows 8192",
    "--rows-as numpy --workers 4 --prefetch 4 --batch 64 --tokens 2048 --rows 300",
    "--rows-as numpy --workers 3 --prefetch 3 --batch 100 --tokens 1000 --rows 9000",
    "--rows-as numpy --workers 2 --batch 512 --tokens 1024 --rows 20000 --start spawn",
    "--rows-as numpy --workers 2 --tokens 1024 --rows 20000 --start spawn --persistent --epochs 2",
    "--rows-as numpy --workers 2 --start forkserver",
    "--rows-as numpy --values int16 --workers 2 --batch 256 --tokens 4096 --rows 20000",
    "--rows-as numpy --values bytes --workers 2 --batch 512 --tokens 8192 --rows 20000",
    "--rows-as arrow --workers 4 --prefetch 4 --batch 128 --tokens 1024 --rows 10000",
    "--rows-as arrow --values int32 --workers 2 --batch 256 --tokens 2048 --rows 10000 --start spawn",
    "--rows-as list --workers 0 --batch 256 --tokens 1024 --rows 8000",
    "--rows-as list --workers 2 --tokens 64 --rows 100000 --batch 64",
    "--rows-as list --workers 2 --no-shuffle",
    "--rows-as list --workers 2 --persistent --epochs 3",
    "--rows-as list --workers 4 --batch 128 --tokens 1024 --rows 8000",
    "--rows-as list --values bytes --workers 2 --tokens 2000 --rows 60000 --batch 64",
    "--rows-as list --values bytes --workers 4 --tokens 16000 --rows 8000 --batch 32",
    "--rows-as list --values bytes --workers 2 --tokens 2000 --rows 60000 --batch 64 --start spawn",
]


# ---- What is measured ------------------------------------------------------------------------------------------------


def shm_used():
    state = os.statvfs("/dev/shm")
    return (state.f_blocks - state.f_bfree) * state.f_frsize


def tree(pid):
    found = [pid]
    for process in found:
        try:
            for thread in os.listdir(f"/proc/{process}/task"):
                found += map(int, Path(f"/proc/{process}/task/{thread}/children").read_text().split())
        except OSError:
            pass  # It is over.
    return found


def held(pid):
    """Anonymous bytes, shared ones in proportion; bytes of files."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0, 0
    kib = {line.split(":")[0]: int(line.split()[1]) for line in lines + [s for s in status if s.startswith("Rss")]}
    return kib.get("Pss_Anon", 0) * 1024, kib.get("RssFile", 0) * 1024


def watch(command):
    before = shm_used()
    most = {"ram": 0, "shm": 0, "anonymous": 0, "files": 0}
    last = 0
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    while process.poll() is None:
        parts = [held(pid) for pid in tree(process.pid)]
        shm = shm_used() - before
        anonymous, files = sum(part[0] for part in parts), max(part[1] for part in parts)
        if anonymous + files + shm > most["ram"]:
            most.update(ram=anonymous + files + shm, anonymous=anonymous, files=files)
        # A batch that takes another's place is there beside it for less than a look.
        most["shm"] = max(most["shm"], min(shm, last))
        last = shm
        time.sleep(0.02)
    if process.returncode != 0:
        sys.exit(f"{shlex.join(command)}\n{process.stderr.read().decode()}")
    return most


# ---- What is predicted -----------------------------------------------------------------------------------------------


def read_arguments(text):
    sys.path.insert(0, str(HERE))
    import job

    sys.argv = ["job.py", *shlex.split(text)]
    return job.arguments()


def profile_of(given, program, folder):
    """The rows as a dataset on the disk, measured by the program."""
    import numpy
    import pyarrow
    import pyarrow.parquet

    if given.values == "bytes":
        rows = pyarrow.array([b"x" * given.tokens] * given.rows)
    else:
        row = numpy.arange(1000, 1000 + given.tokens).astype(given.values)
        flat = pyarrow.array(numpy.tile(row, given.rows))
        rows = pyarrow.FixedSizeListArray.from_arrays(flat, given.tokens)
    path = folder / "rows.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"rows": rows}), path, row_group_size=2000)
    out = subprocess.run([program, "measure", "--json", str(path)], capture_output=True, text=True, check=True).stdout
    profile = json.loads(out)
    return {key: profile[key] for key in ("schema", "oomplan", "verdict", "read", "row_bytes", "rows_per_second",
                                          "diagnostics")} | {"read": profile["read"] | {"first_files": []}}


def config_of(given):
    libraries = {"list": "torch", "numpy": "torch", "arrow": "torch, pandas"}[given.rows_as]
    return f"""model: openai-community/gpt2
micro_batch_size: {given.batch}
sequence_length: 1024
loader_workers: {given.workers}
loader_prefetch: {given.prefetch}
loader_start: {given.start}
loader_persistent: {str(given.persistent).lower()}
loader_epochs: {given.epochs}
loader_shuffle: {str(not given.no_shuffle).lower()}
loader_rows_as: {given.rows_as}
loader_values: {given.values}
loader_libraries: [{libraries}]
"""


def predict(program, text, profile):
    with tempfile.TemporaryDirectory() as folder:
        config, loader = Path(folder) / "config.yaml", Path(folder) / "profile.json"
        config.write_text(config_of(read_arguments(text)))
        loader.write_text(json.dumps(profile))
        run = subprocess.run([program, "estimate", config, "--loader", loader, "--json"], capture_output=True, text=True)
    host = json.loads(run.stdout)["host"]
    if host is None:
        sys.exit(run.stdout)
    return host


def measure(program, text):
    given = read_arguments(text)
    with tempfile.TemporaryDirectory() as folder:
        profile = profile_of(given, program, Path(folder))
    return {"case": text, "profile": profile, "measured": watch([sys.executable, str(HERE / "job.py"), *shlex.split(text)])}


# ---- The table -------------------------------------------------------------------------------------------------------

# A /dev/shm of less than this is not held to a percentage: pages of 4 KiB and a batch that is being made weigh more.
SMALL_SHM = 4 << 20


def off(predicted, measured):
    return 100 * (predicted - measured) / max(measured, 1)


def row_of(one, host):
    measured = one["measured"]
    ram, shm = off(host["ram"], measured["ram"]), off(host["shm"], measured["shm"])
    counts = measured["shm"] >= SMALL_SHM
    print(f"| `{one['case']}` | {measured['ram'] / 1e6:.1f} | {host['ram'] / 1e6:.1f} | {ram:+.1f} % "
          f"| {measured['shm'] / 1e6:.1f} | {host['shm'] / 1e6:.1f} | {f'{shm:+.1f} %' if counts else '–'} |", flush=True)
    return max(abs(ram), abs(shm) if counts else 0)


def table(cases, program):
    print("| case | RAM measured, MB | predicted | off | /dev/shm measured, MB | predicted | off |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    worst = [row_of(one, predict(program, one["case"], one["profile"])) for one in cases]
    within = sum(one <= 10 for one in worst)
    print(f"\n{within} of {len(worst)} within 10 %, worst {max(worst):.1f} %")
    return within


def bases():
    empty = "import torch; from torch.utils.data import DataLoader; list(DataLoader(torch.zeros(64, 8), batch_size=4))\n"
    imports = ["", "import pyarrow", "import pandas", "import datasets", "import transformers; transformers.Trainer; "
               "transformers.AutoTokenizer", "import trl; trl.SFTTrainer"]
    for i, last in enumerate(imports):
        code = empty + "\n".join(imports[: i + 1]) + "\nimport time; time.sleep(0.5)"
        most = watch([sys.executable, "-c", code])
        print(f"{last or 'torch':60} {most['anonymous'] / 2**20:8.1f} MiB {most['files'] / 2**20:8.1f} MiB of files")
    for form in ("numpy", "list"):
        none, two, four = (watch([sys.executable, str(HERE / "job.py"), *f"--rows-as {form} --rows 640 --tokens 8 "
                                  f"--workers {workers}".split()])["anonymous"] for workers in (0, 2, 4))
        print(f"a forked worker, {form:43} {(two - none) / 2**21:8.1f} MiB of two {(four - none) / 2**22:8.1f} MiB of four")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program")
    parser.add_argument("--measured", help="figures of an earlier run")
    parser.add_argument("--save", help="write what was measured")
    parser.add_argument("--case", action="append", help="this one instead, in the arguments of job.py (repeatable)")
    parser.add_argument("--least", type=int, default=0, help="fail where fewer than this are within 10 %%")
    parser.add_argument("--bases", action="store_true")
    options = parser.parse_args()
    if options.bases:
        return bases()
    if options.measured:
        cases = json.loads(Path(options.measured).read_text())
    else:
        cases = (measure(options.program, text) for text in options.case or CASES)
    cases = list(cases)
    if options.save:
        Path(options.save).write_text("[\n" + ",\n".join(map(json.dumps, cases)) + "\n]\n")
    if table(cases, options.program) < options.least:
        sys.exit(f"fewer than {options.least} are within 10 %")


if __name__ == "__main__":
    main()
