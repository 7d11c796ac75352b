"""README.md and docs/ as pages: as they are, but that links lead to where the site has what they name."""

import re
import shutil

from data import ROOT

import messages_doc

# What has a page elsewhere: README.md is the first page.
MOVED = {"README.md": "index.md"}


def moved(text, folder):
    """`folder` is where the text stands: links of the README lead into docs/, which is the site's root."""

    def target(found):
        path, mark, anchor = found[1].partition("#")
        if folder == "" and path.startswith("docs/"):
            path = path[len("docs/") :]
        elif folder == "docs" and path.startswith("../"):
            path = path[len("../") :]
            path = MOVED.get(path, path)
        return f"]({path}{mark}{anchor})"

    return re.sub(r"\]\((?!\w+:)([^)\s]+)\)", target, text)


def pages():
    out = {"index.md": moved((ROOT / "README.md").read_text(), ""), "CHANGELOG.md": moved((ROOT / "CHANGELOG.md").read_text(), "")}
    for path in sorted((ROOT / "docs").glob("*.md")):
        out[path.name] = moved(path.read_text(), "docs")
    out["messages.md"] = messages_doc.page(lambda file, name: f"[`{name}`](messages/{file}/{name}.md)")
    return out


def copy_files(docs):
    """Schemas and pictures, which pages link to."""
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.is_file() and path.suffix != ".md":
            to = docs / path.relative_to(ROOT / "docs")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to)
