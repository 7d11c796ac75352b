"""The wheel in a clean virtual environment: what it brings, needs and weighs. Building takes minutes, so ctest does not run it.

    tests/python/wheel_test.py [--wheel FILE] [--python python3.10] [--registry]

Without --wheel pip builds one first; --registry takes all libraries from packages of PyPI, as where the system has none.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST = 6_000_000
# Of every Linux with glibc.
LIBRARIES = {"libz.so.1", "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def run(*words, **more):
    print("$", *words, flush=True)
    return subprocess.run([str(word) for word in words], check=True, text=True, **more)


def built(python, registry, where):
    more = ["--config-settings=cmake.define.OOMPLAN_REGISTRY=ON"] if registry else []
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", where, *more, ROOT)
    (wheel,) = where.glob("oomplan-*.whl")
    return wheel


def check_files(wheel):
    size = wheel.stat().st_size
    names = zipfile.ZipFile(wheel).namelist()
    print(f"{wheel.name}: {size / 1e6:.2f} MB, {len(names)} files")
    assert size < MOST, f"the wheel has {size} bytes"
    reader = ("oomplan/oomplan-data", "oomplan/liboomplan_reader.so")
    for wanted in ("oomplan/py.typed", "oomplan/__init__.pyi", "oomplan/_core.pyi", "oomplan/transformers.py", *reader):
        assert wanted in names, f"{wanted} is not in the wheel"


def needed_by(path):
    dynamic = run("readelf", "-d", path, capture_output=True).stdout
    return {line.split("[")[1].split("]")[0] for line in dynamic.splitlines() if "(NEEDED)" in line}


def check_libraries(wheel, where):
    """The reader's C++ library is the one that Arrow's are linked with."""
    with zipfile.ZipFile(wheel) as archive:
        binaries = [name for name in archive.namelist() if name.endswith(("/oomplan-data", ".so"))]
        archive.extractall(where, binaries)
    for name in binaries:
        beside = set() if name.startswith("oomplan/_core.") else {"liboomplan_reader.so", "libstdc++.so.6", "libgcc_s.so.1"}
        foreign = {one for one in needed_by(where / name) - LIBRARIES - beside if not (beside and one.startswith(("libarrow.", "libparquet.")))}
        assert not foreign, f"{name} needs {sorted(foreign)} of the system"


def check_reader(programs, wheel):
    run(programs / "pip", "install", "--quiet", wheel)
    read = run(programs / "oomplan", "stream", "examples/data/chat-2.csv", cwd=ROOT, capture_output=True)
    assert "2 rows" in read.stdout, read.stdout
    script = "import oomplan; print(sum(len(batch['id']) for batch in oomplan.streaming_dataset_reader('examples/data/chat-2.csv', 'csv')))"
    assert run(programs / "python", "-c", script, cwd=ROOT, capture_output=True).stdout == "2\n"


def check_installed(python, wheel, where):
    run(python, "-m", "venv", where / "venv")
    programs = where / "venv" / "bin"
    run(programs / "pip", "install", "--quiet", "--no-index", wheel)
    example = "examples/axolotl/llama-3.1-8b-qlora.yml"
    found = run(programs / "oomplan", "estimate", example, "--gpu", "rtx-4090", "-q", cwd=ROOT, capture_output=True)
    assert found.stdout.startswith("fits on ONE NVIDIA GeForce RTX 4090"), found.stdout
    run(programs / "oomplan", "self-check")
    missing = subprocess.run([programs / "oomplan", "stream", "examples/data/chat-2.csv"], cwd=ROOT, capture_output=True, text=True)
    assert missing.returncode == 3 and "pip install 'oomplan[data]'" in missing.stderr, missing
    check_reader(programs, f"{wheel}[data]")
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(where), "OOMPLAN_PROGRAM": str(programs / "oomplan")}
    run(programs / "python", ROOT / "tests/python/api_test.py", env=environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--registry", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(folder)
        wheel = asked.wheel or built(asked.python, asked.registry, where)
        check_files(wheel)
        check_libraries(wheel, where)
        check_installed(asked.python, wheel, where)
    print("the wheel is as it should be")


if __name__ == "__main__":
    main()
