"""The documentation as a site: Markdown pages from docs/, models/ and rules/, and the program's own list of error codes.

    scripts/site [--render]           (builds the program first)
    site/build.py --program build/release/oomplan [--folder build/site] [--render]

Writes FOLDER/docs and FOLDER/mkdocs.yml, and says which links lead nowhere: exit code 1. --render makes FOLDER/html of them
with mkdocs-material, strictly: a warning of mkdocs is an error.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "scripts")]
import codes  # noqa: E402
import documents  # noqa: E402
import links  # noqa: E402
import models  # noqa: E402
import others  # noqa: E402
import rules  # noqa: E402
from data import ROOT  # noqa: E402


def pages(program):
    """{path: text} of all pages that are made of data."""
    out = {}
    for some in (models.families(codes.played_families(program)), models.cards(), rules.messages(), rules.causes(), rules.fixes(),
                 codes.codes(program), others.folders(), documents.pages()):
        twice = out.keys() & some.keys()
        assert not twice, f"two sources write {sorted(twice)}"
        out |= some
    return out


def write(program, folder):
    """The pages that there are."""
    shutil.rmtree(folder, ignore_errors=True)
    docs = folder / "docs"
    docs.mkdir(parents=True)
    documents.copy_files(docs)
    made = pages(program)
    for path, text in made.items():
        (docs / path).parent.mkdir(parents=True, exist_ok=True)
        (docs / path).write_text(text)
    shutil.copy(ROOT / "site/mkdocs.yml", folder / "mkdocs.yml")
    return docs


def render(folder):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", folder / "mkdocs.yml", "-d", "html"]
    return subprocess.run([str(word) for word in command], check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/site")
    parser.add_argument("--render", action="store_true", help="with mkdocs-material of this Python")
    asked = parser.parse_args()
    docs = write(asked.program, asked.folder)
    found = links.broken(docs)
    for one in found:
        print(one, file=sys.stderr)
    print(f"{docs}: {sum(1 for _ in docs.rglob('*.md'))} pages, {len(found)} broken links")
    return int(bool(found)) or (render(asked.folder) if asked.render else 0)


if __name__ == "__main__":
    sys.exit(main())
