#!/usr/bin/env python3
"""scripts/messages_doc.py [--check]: docs/messages.md from rules/messages.

One table a file: each sentence with what it says, from which versions, and the file that prints it where that was looked up.
--check only says whether the page is what it would write."""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "site"))
from data import read, remark  # noqa: E402

PAGE = ROOT / "docs/messages.md"
HEAD = """# Messages

What `oomplan diagnose` knows, by file of `rules/messages`. Written by `scripts/messages_doc.py`; a test holds this page against
the rules. What a sentence says is explained in [diagnose.md](diagnose.md). "Source" names the file that prints the sentence where
it was looked up there; without one, the wording comes from logs and from the documents that the file's first lines name.
"""


def sentences(path):
  """What the page says of each entry. Blanks count: a sentence may end with one."""
  wanted = ("id", "says", "versions", "source", "text")
  return [{key: one[key].translate({9: " ", 10: " "}) for key in wanted if key in one} for one in read(path)["sentences"]]


def cell(text, most=110):
  text = text if len(text) <= most else text[: most - 1] + "…"
  return text.replace("|", "\\|")


def code(text, most=90):
  text = text if len(text) <= most else text[: most - 1] + "…"
  return "`" + text.replace("|", "\\|").replace("`", "'") + "`"


def page(shown=lambda file, name: f"`{name}`"):
  """`shown` is what stands for a sentence's name."""
  out, all_of, with_source = [HEAD], 0, 0
  tables = []
  for path in sorted((ROOT / "rules/messages").glob("*.yaml")):
    rows = sentences(path)
    all_of += len(rows)
    with_source += sum("source" in row for row in rows)
    tables.append(f"\n## {path.stem}\n\n{remark(path)}\n\n| sentence | says | text | versions | source |\n| --- | --- | --- | --- | --- |")
    for row in rows:
      versions = "" if row.get("versions", "any") == "any" else cell(row["versions"])
      tables.append(f"| {shown(path.stem, row['id'])} | {row['says']} | {code(row['text'])} | {versions} | {cell(row.get('source', ''))} |")
  out.append(f"{all_of} sentences; {with_source} name the file that prints them.")
  return "\n".join(out + tables) + "\n"


def main():
  text = page()
  if "--check" in sys.argv:
    if PAGE.is_file() and PAGE.read_text() == text:
      return 0
    print("docs/messages.md is not what rules/messages say: run scripts/messages_doc.py", file=sys.stderr)
    return 1
  PAGE.write_text(text)
  return 0


if __name__ == "__main__":
  sys.exit(main())
