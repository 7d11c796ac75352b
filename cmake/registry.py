"""Fetches a library's headers or sources out of a package of PyPI or npm: registry.py NAME FOLDER prints where they are.

Wheels and source archives are only unpacked: nothing of a package is built, nor run but what pip asks a source archive for its name. pip and npm take them from where they are set
up to (PIP_INDEX_URL, a mirror, a folder of files); one whose SHA-256 is not in registry.json is refused. docs/install.md says
which package stands for which library.
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

# NAME: the package and its version, the files that may come, what of them is wanted, and whether a wheel of another
# machine does too, since only headers are taken from it.
PACKAGES = json.loads((pathlib.Path(__file__).parent / "registry.json").read_text())


def pip_arguments(package):
    if package["kind"] == "source":
        return [f"--no-binary={package['name']}"]
    if package.get("any_machine"):
        return ["--only-binary=:all:", "--platform=manylinux_2_28_x86_64", "--python-version=3.13"]
    return ["--only-binary=:all:"]


def command_for(package, folder):
    if package["kind"] == "npm":
        return ["npm", "pack", "--silent", "--pack-destination", folder, f"{package['name']}@{package['version']}"]
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--disable-pip-version-check"]
    return [*pip, *pip_arguments(package), "-d", folder, f"{package['name']}=={package['version']}"]


def downloaded(package, folder):
    subprocess.run(command_for(package, folder), check=True, stdout=sys.stderr)
    (file,) = pathlib.Path(folder).iterdir()
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if digest not in package["sha256"]:
        sys.exit(f"{file.name} has the SHA-256 {digest}, which is none of those in cmake/registry.json")
    return file


def members(file):
    """The names and bytes of what an archive has."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            for name in archive.namelist():
                yield name, archive.read(name)
        return
    with tarfile.open(file) as archive:
        for member in archive:
            if member.isfile():
                yield member.name.partition("/")[2], archive.extractfile(member).read()


def unpack(file, prefix, to):
    for name, data in members(file):
        if not name.startswith(prefix) or ".." in name.split("/"):
            continue
        path = to / name[len(prefix) :]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    package = PACKAGES[name]
    target = folder / f"{name}-{package['version']}"
    if not target.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            scratch = pathlib.Path(scratch)
            (scratch / "file").mkdir()
            unpack(downloaded(package, scratch / "file"), package["within"], scratch / "new")
            (scratch / "new").rename(target)
    print(target, end="")


if __name__ == "__main__":
    main()
