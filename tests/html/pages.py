#!/usr/bin/env python3
"""The HTML pages in a real browser: no console errors, no network, and what they draw is what the JSON says.

    tests/html/pages.py --program build/dev/oomplan [--keep FOLDER]

What needs no browser is looked at always. Where there is no Chromium the rest is skipped, and says so. --keep writes
pages and screenshots (390 and 1280 pixels wide, light and dark) for a person to look at.
"""

import argparse
import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
EVIL = "</script><img src=x onerror=alert(1)><!--"
CONFIG = "model: openai-community/gpt2\nmicro_batch_size: 8\nsequence_length: 1024\nweights_dtype: fp32\n"
LOG = (f"Traceback (most recent call last): {EVIL}\n  File \"train.py\", line 3, in <module>\n    loss.backward()\n"
       "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.52 GiB of "
       "which 1.00 GiB is free. Including non-PyTorch memory, this process has 22.50 GiB memory in use. Of the allocated "
       "memory 21.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated.\n")
QLORA = str(ROOT / "examples/axolotl/llama-3.1-8b-qlora.yml")
PAGES = {
    "estimate": ["estimate", QLORA, "--gpu", "rtx-4090"],
    "estimate-too-much": ["estimate", "config.yml", "--gpu", "8GiB"],
    "estimate-two-gpus": ["estimate", "config.yml", "--gpu", "8GiB", "--gpu", "rtx-4090"],
    "estimate-no-gpu": ["estimate", "config.yml"],
    "estimate-undecided": ["estimate", f"{EVIL.replace('/', '')}.yml", "--gpu", "8GiB"],
    "fix": ["fix", QLORA, "--gpu", "10GiB"],
    "fix-nothing": ["fix", "config.yml", "--gpu", "2GiB"],
    "fix-needless": ["fix", "config.yml", "--gpu", "80GiB"],
    "gate": ["gate", "*.yml", "--gpu", "16GiB", "--baseline", "old"],
    "diagnose": ["diagnose", "run.log"],
}
program = None
keep = None


class Elements(html.parser.HTMLParser):
    """Every element of a page with its attributes, and the text of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.all, self.scripts, self.open = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.all.append((tag, dict(attributes)))
        self.open = tag == "script"
        if self.open:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.open = self.open and tag != "script"

    def handle_data(self, text):
        if self.open:
            self.scripts[-1] += text


def browse(page, *arguments):
    with tempfile.TemporaryDirectory() as profile:
        return subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                               f"--user-data-dir={profile}", "--enable-logging=stderr", "--virtual-time-budget=2000",
                               *arguments, page.resolve().as_uri()], capture_output=True, text=True, timeout=100)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = keep or Path(cls.temporary.name)
        for name, text in {"config.yml": CONFIG, "old/config.yml": CONFIG.replace("1024", "512"), "run.log": LOG,
                           f"{EVIL.replace('/', '')}.yml": CONFIG.replace("gpt2", f"'{EVIL}'").replace("'</", "</").replace(
                               "--'", "--") + f"#{EVIL}\n"}.items():
            (cls.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (cls.folder / name).write_text(text)
        cls.pages = {name: cls.written(name, arguments) for name, arguments in PAGES.items()}

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def written(cls, name, arguments):
        path = cls.folder / f"{name}.html"
        subprocess.run([program, *arguments, "--html", path.name], cwd=cls.folder, capture_output=True, timeout=100)
        return path

    def data(self, page):
        return json.loads(Elements(page.read_text()).scripts[0])

    def json_of(self, name):
        arguments = [*PAGES[name], *(["--format", "json"] if name == "gate" else ["--json"])]
        return json.loads(subprocess.run([program, *arguments], cwd=self.folder, capture_output=True).stdout)

    def test_a_page_stands_alone(self):
        for name, page in self.pages.items():
            with self.subTest(name):
                text = page.read_text()
                elements = Elements(text)
                self.assertLess(len(text.encode()), 1_000_000)
                self.assertEqual(len(elements.scripts), 2)
                self.assertNotIn("img", [tag for tag, _ in elements.all], "markup of the config or log got through")
                for tag, attributes in elements.all:
                    self.assertTrue(attributes.get("src") is None and attributes.get("href", "data:").startswith("data:"))
                self.assertNotRegex(elements.scripts[1], r"innerHTML|fetch\(|import\(|eval\(")

    def test_a_page_holds_what_json_prints(self):
        for name, page in self.pages.items():
            with self.subTest(name):
                self.assertEqual(self.data(page)["answer"], self.json_of(name))

    def test_the_text_has_the_same_figures(self):
        for name in ("estimate", "estimate-too-much", "fix", "fix-nothing"):
            with self.subTest(name):
                answer = self.json_of(name)
                text = subprocess.run([program, *PAGES[name]], cwd=self.folder, capture_output=True, text=True).stdout
                figures = [answer["gpus"][0]["needed"]] if "gpus" in answer else [
                    trial["needed"] for trial in [answer["now"], *answer["steps"], *answer["tried"]]]
                for figure in figures:
                    self.assertIn(f"{figure / 2**30:.2f}", text)
                self.assertIn(html.escape(text).split("\n")[0], self.pages[name].read_text())

    def test_the_curve_reaches_the_peak(self):
        for name in ("estimate", "estimate-too-much", "estimate-no-gpu"):
            with self.subTest(name):
                data = self.data(self.pages[name])
                peak = data["answer"]["footprint"]["peak"]["by_bucket"]
                tensors = sum(size for bucket, size in peak.items()
                              if bucket not in ("slack", "fragmentation", "runtime", "paged"))
                self.assertEqual(max(sum(point["levels"]) for point in data["curve"]["points"]), tensors)
                self.assertLessEqual(len(data["curve"]["points"]), 480)

    @unittest.skipUnless(BROWSER, "no Chromium here")
    def test_in_a_browser_nothing_goes_wrong(self):
        for name, page in self.pages.items():
            with self.subTest(name):
                done = browse(page, "--dump-dom")
                self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])
                self.assertIn("<h1", done.stdout)
                for wrong in ("undefined", "NaN", "[object"):
                    drawn = done.stdout[done.stdout.index("<main"):done.stdout.index("</main>")]
                    self.assertNotIn(wrong, drawn)

    @unittest.skipUnless(BROWSER, "no Chromium here")
    def test_the_bars_are_the_jsons_numbers(self):
        for name in ("estimate", "estimate-too-much"):
            with self.subTest(name):
                answer = self.json_of(name)
                drawn = [int(a["data-bytes"]) for _, a in Elements(browse(self.pages[name], "--dump-dom").stdout).all
                         if "data-bytes" in a]
                buckets = [size for size in answer["footprint"]["peak"]["by_bucket"].values() if size]
                buckets.append(sum(term["bytes"] for term in answer["gpus"][0]["runtime"]))
                self.assertEqual(drawn, buckets + buckets)  # stacked, then each by itself
        answer = self.json_of("fix")
        drawn = [int(a["data-bytes"]) for _, a in Elements(browse(self.pages["fix"], "--dump-dom").stdout).all
                 if "data-bytes" in a]
        steps = [answer["now"]["needed"], *(step["needed"] for step in answer["steps"])]
        wanted = [steps[0]] + [size for a, b in zip(steps, steps[1:]) for size in (b, max(0, a - b))]
        self.assertEqual(drawn, wanted + [trial["needed"] for trial in answer["tried"]])

    @unittest.skipUnless(BROWSER, "no Chromium here")
    def test_the_area_is_the_jsons_numbers(self):
        data = self.data(self.pages["estimate"])
        elements = Elements(browse(self.pages["estimate"], "--dump-dom").stdout).all
        svg = next(a for tag, a in elements if tag == "svg")
        zero, scale = float(svg["data-zero"]), float(svg["data-scale"])
        base = [0] * len(data["curve"]["points"])
        paths = {a["data-bucket"]: a["d"] for tag, a in elements if tag == "path"}
        for b, bucket in enumerate(data["curve"]["buckets"]):
            levels = [point["levels"][b] for point in data["curve"]["points"]]
            base = [below + level for below, level in zip(base, levels)]
            self.assertEqual(bucket in paths, any(levels))
            if bucket in paths:
                drawn = [float(y) for y in re.findall(r",(-?[\d.]+)", paths[bucket])][:len(base)]
                for y, held in zip(drawn, base):
                    self.assertLess(abs((zero - y) * scale - held), 0.06 * scale)

    @unittest.skipUnless(BROWSER and "--keep" in sys.argv, "screenshots are for --keep")
    def test_screenshots(self):
        for name, page in self.pages.items():
            for width in (390, 1280):  # a window is at least 500 wide, so the phone is a frame
                frame = self.folder / f"{name}-{width}.frame.html"
                frame.write_text(f"<style>body{{margin:0}}</style><iframe src='{page.name}' "
                                 f"style='border:0;width:{width}px;height:2400px'></iframe>")
                for scheme, light in ((0, "dark"), (1, "light")):
                    browse(frame, f"--window-size={max(width, 500)},2400", f"--blink-settings=preferredColorScheme={scheme}",
                           "--allow-file-access-from-files", f"--screenshot={self.folder}/{name}-{width}-{light}.png")
                frame.unlink()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--keep", type=Path)
    options, rest = parser.parse_known_args()
    program, keep = options.program.resolve(), options.keep
    if not BROWSER:
        print("no Chromium here: what is drawn is not looked at")
    unittest.main(argv=sys.argv[:1] + rest)
