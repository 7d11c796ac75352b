#!/usr/bin/env python3
"""The documentation as a site: each data file has its page, each link leads somewhere, and a link that does not is found.

    tests/site/site_test.py --program build/dev/oomplan
"""

import argparse
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "site"))
import build  # noqa: E402
import links  # noqa: E402
import marked  # noqa: E402

# Where a file of a folder has its page; a file of the others is a part of the folder's page.
PAGES = {"models/architectures": "families", "models/gpus": "gpus", "rules/causes": "causes", "rules/ladder": "fixes"}
program = None


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = Path(cls.temporary.name)
        cls.docs = build.write(program, cls.folder)
        cls.text = {str(path.relative_to(cls.docs)): path.read_text() for path in cls.docs.rglob("*.md")}

    def test_every_link_leads_somewhere(self):
        self.assertEqual(links.broken(self.docs), [])
        self.assertGreater(sum(1 for path in self.docs.rglob("*.md") for _ in links.links(path)), 4000)

    def test_each_data_file_has_its_page_or_part(self):
        for path in sorted([*ROOT.glob("models/*/*.yaml"), *ROOT.glob("rules/*/*.yaml")]):
            folder = str(path.parent.relative_to(ROOT))
            with self.subTest(path.name):
                if folder in PAGES:
                    self.assertIn(f"{folder}/{path.name}", self.text[f"{PAGES[folder]}/{path.stem}.md"])
                elif folder == "models/presets":
                    name = f"`{path.stem.replace('--', '/', 1)}`"
                    self.assertTrue(any(name in text for page, text in self.text.items() if page.startswith("families/")), name)
                elif folder == "rules/messages":
                    self.assertIn(f"](messages/{path.stem}/", self.text["messages.md"])
                else:
                    self.assertIn(f"## {marked.plain(path.stem)}\n", self.text[f"data/{path.parent.name}.md"])

    def test_each_message_and_code_has_its_page(self):
        said = sum(text.count("\n  - id: ") for text in (path.read_text() for path in ROOT.glob("rules/messages/*.yaml")))
        self.assertEqual(sum(page.startswith("messages/") for page in self.text), said)
        for code in subprocess.run([program, "explain"], capture_output=True, text=True, check=True).stdout.split():
            self.assertIn("raised in: <code>" if "`" in code else "raised in: `src/", self.text[f"codes/{code}.md"], code)

    def test_pages_have_their_sources(self):
        for page, text in self.text.items():
            kind = page.partition("/")[0]
            if kind in ("families", "messages", "fixes") and page.count("/") and not page.endswith(("index.md", "not-played.md")):
                self.assertRegex(text, r"(?m)^- `?source`?: \S", page)
            if kind == "gpus" and not page.endswith("index.md"):
                self.assertRegex(text, r"(?m)^- (how that is known|assumed): \S", page)

    def test_is_rendered_without_a_warning(self):
        if importlib.util.find_spec("material") is None:
            self.skipTest("mkdocs-material is not installed: the pages are not rendered")
        self.assertEqual(build.render(self.folder), 0)
        self.assertIn("NVIDIA GeForce RTX 4090", (self.folder / "html/gpus/rtx-4090/index.html").read_text())


class Links(unittest.TestCase):
    def broken(self, **pages):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in pages.items():
                (Path(folder) / f"{name}.md").write_text(text)
            return [line.rpartition("/")[2] for line in links.broken(Path(folder))]

    def test_says_where_a_link_leads_nowhere(self):
        self.assertEqual(self.broken(a="one\n[b](b.md) [c](c.md)\n", b=""), ["a.md:2: c.md: no such page"])

    def test_says_where_a_heading_is_missing(self):
        found = self.broken(a="[x](b.md#two-words) [y](b.md#three) [z](#here)\n", b="# Two `words`\n")
        self.assertEqual(found, ["a.md:1: b.md#three: no such heading there", "a.md:1: #here: no such heading there"])

    def test_of_equal_headings_each_has_its_anchor(self):
        self.assertEqual(self.broken(a="# x\n## x\n[](#x) [](#x_1)\n[](#x_2)"), ["a.md:4: #x_2: no such heading there"])

    def test_passes_code_over(self):
        self.assertEqual(self.broken(a="`[b](b.md)`\n```\n[b](b.md)\n# no\n```\n``a ` [b](b.md)``\nhttps://a/b [c](https://a/b)\n"), [])
        self.assertEqual(self.broken(a="````\n```\n[b](b.md)\n````\n[c](c.md)"), ["a.md:5: c.md: no such page"])


class Text(unittest.TestCase):
    def test_nothing_of_a_data_file_is_markup(self):
        self.assertEqual(marked.plain("<b> *a* _c_ [d](e) `f` |"), r"&lt;b\> \*a\* \_c\_ \[d\](e) \`f\` \|")
        self.assertEqual(marked.code("a|`b`<i>"), "<code>a&#124;&#96;b&#96;&#60;i&#62;</code>")
        self.assertEqual(marked.block("a\n```\n<b>"), "````text\na\n```\n<b>\n````\n")

    def test_addresses_are_links(self):
        self.assertEqual(marked.prose("as https://a.b/c_d, and docs/catalog.md.", "../"), "as <https://a.b/c_d>, and [catalog.md](../catalog.md).")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True)
    options, rest = parser.parse_known_args()
    program = options.program.resolve()
    unittest.main(argv=sys.argv[:1] + rest)
