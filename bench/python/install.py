"""Installing as someone without root and without development packages: the two commands of the README, in a fresh virtual
environment, with all libraries from the packages of the registry.

    bench/python/install.py [--user nobody] [--wheel FILE] [--keep]

Run by root it becomes `user` first (setpriv). Prints how long the build took, how large the wheel and what is installed are,
and how long the import takes; OFF, and exit code 1, where one is more than it may be. It compiles everything: 10 to 20 minutes
on two cores.
"""

import argparse
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST = {"wheel MB": 6, "import ms": 20}
EXAMPLE = "examples/axolotl/llama-3.1-8b-qlora.yml"
FITS = f"import oomplan; print(oomplan.estimate('{EXAMPLE}', gpu='rtx-4090').fits())"
IMPORT = "import time; begin = time.perf_counter(); import oomplan; print((time.perf_counter() - begin) * 1e3)"


def run(user, where, *words, cwd=None):
    """What it prints. Of this process's environment only what pip needs to find packages is handed on, and how many jobs build."""
    wanted = ("PIP_", "CMAKE_BUILD_PARALLEL_LEVEL")
    kept = {name: value for name, value in os.environ.items() if name.startswith(wanted) or name.lower().endswith("_proxy")}
    environment = {**kept, "PATH": f"{where}/venv/bin:/usr/local/bin:/usr/bin:/bin", "HOME": str(where), "TMPDIR": str(where)}
    become = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"] if os.geteuid() == 0 else []
    done = subprocess.run([*become, *map(str, words)], cwd=cwd or where, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def copied(where):
    """The tree as git has it: a build writes nothing beside it that only root could write."""
    source = where / "source"
    source.mkdir()
    archive = subprocess.run(["git", "-C", ROOT, "archive", "HEAD"], check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", source], check=True, input=archive)
    return source


def built(user, where, source):
    """The wheel, and how many seconds it took."""
    begin = time.perf_counter()
    registry = ["--config-settings=cmake.define.OOMPLAN_REGISTRY=ON"]
    run(user, where, "pip", "wheel", "--no-deps", *registry, "--wheel-dir", where / "wheels", ".", cwd=source)
    (wheel,) = (where / "wheels").glob("oomplan-*.whl")
    return wheel, time.perf_counter() - begin


def measured(user, where, python, wheel):
    source = copied(where)
    if wheel:
        wheel = pathlib.Path(shutil.copy(wheel, where))
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", f"{user.pw_uid}:{user.pw_gid}", where], check=True)
    run(user, where, python, "-m", "venv", where / "venv")
    found = {}
    if not wheel:
        wheel, found["build seconds"] = built(user, where, source)
    run(user, where, "pip", "install", "--no-index", wheel)
    said = run(user, where, "oomplan", "estimate", EXAMPLE, "--gpu", "rtx-4090", "-q", cwd=source)
    assert said.startswith("fits on ONE NVIDIA GeForce RTX 4090"), said
    assert run(user, where, "python", "-c", FITS, cwd=source) == "True\n"
    print(run(user, where, "oomplan", "self-check", cwd=source), end="")
    (package,) = (where / "venv/lib").glob("python*/site-packages/oomplan")
    return found | {
        "wheel MB": wheel.stat().st_size / 1e6,
        "installed MB": sum(path.stat().st_size for path in package.rglob("*") if path.is_file()) / 1e6,
        "import ms": min(float(run(user, where, "python", "-c", IMPORT)) for _ in range(10)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--user", default="nobody", help="who builds, where root runs this")
    parser.add_argument("--python", default=sys.executable, help="one that this user may run")
    parser.add_argument("--wheel", type=pathlib.Path, help="one that is built; without it pip builds one, all libraries from the registry")
    parser.add_argument("--keep", action="store_true", help="leave the folder, and say where it is")
    asked = parser.parse_args()
    user = pwd.getpwnam(asked.user) if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    where = pathlib.Path(tempfile.mkdtemp(prefix="oomplan-install-"))
    where.chmod(0o755)
    try:
        found = measured(user, where, asked.python, asked.wheel)
    finally:
        print(where) if asked.keep else shutil.rmtree(where, ignore_errors=True)
    print(f"as {user.pw_name}, with {asked.python}:")
    for name, value in found.items():
        print(f"  {name:14} {value:8.2f}{' OFF' if value > MOST.get(name, value) else ''}")
    return int(any(found[name] > most for name, most in MOST.items()))


if __name__ == "__main__":
    sys.exit(main())
