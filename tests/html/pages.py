#!/usr/bin/env python3
"""The HTML pages in a real browser: no console errors, no network, and what they draw is what the JSON says.

    tests/html/pages.py --program build/dev/oomplan [--keep FOLDER]

What needs no browser is looked at always. Where there is no Chromium the rest is skipped, and says so. --keep writes
pages and screenshots (390, 1280 and 1920 pixels wide, light and dark) for a person to look at.
"""

import argparse
import html
import html.parser
import itertools
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
    "estimate-any-length": ["estimate", "lengths.yml", "--gpu", "8GiB"],
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


def bands_of(curve):
    """For each point where each group ends, added up from the bottom."""
    levels, out = [0] * len(curve["groups"]), []
    for point in curve["points"]:
        for group, size in point["changes"]:
            levels[group] = size
        out.append(list(itertools.accumulate(levels)))
    return out


def parts_of(by_bucket, needed, beside=0):
    """Bucket by bucket, what lies beside the tensors, and the rest up to what is needed."""
    parts = [size for bucket, size in by_bucket.items()
             if size and bucket not in ("paged", "slack", "fragmentation", "runtime")] + [beside] * (beside > 0)
    return parts + [needed - sum(parts)] * (needed > sum(parts))


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = keep or Path(cls.temporary.name)
        for name, text in {"config.yml": CONFIG, "lengths.yml": re.sub("sequence_length.*", "", CONFIG), "old/config.yml": CONFIG.replace("1024", "512"), "run.log": LOG,
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
                self.assertEqual(max(bands[-1] for bands in bands_of(data["curve"])), tensors)
                self.assertLessEqual(len(data["curve"]["points"]), 2000)

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
                gpu = answer["gpus"][0]
                parts = parts_of(answer["footprint"]["peak"]["by_bucket"], gpu["needed"],
                                 sum(term["bytes"] for term in gpu["runtime"]))
                self.assertEqual(self.bars(name), parts + parts)  # stacked, then each by itself
                if not gpu["at_least"]:
                    self.assertEqual(sum(parts), gpu["needed"])
        answer = self.json_of("fix")
        wanted, before = [], 0
        for trial in [answer["now"], *answer["steps"]]:
            wanted += parts_of(trial["by_bucket"], trial["needed"]) + [before - trial["needed"]] * (before > trial["needed"])
            before = trial["needed"]
        for trial in answer["tried"]:
            wanted += parts_of(trial["by_bucket"], trial["needed"])
        self.assertEqual(self.bars("fix"), wanted)

    def bars(self, name):
        dom = browse(self.pages[name], "--dump-dom").stdout
        return [int(a["data-bytes"]) for _, a in Elements(dom).all if "data-bytes" in a]

    @unittest.skipUnless(BROWSER, "no Chromium here")
    def test_the_area_is_the_jsons_numbers(self):
        data = self.data(self.pages["estimate"])
        bands = bands_of(data["curve"])
        elements = Elements(browse(self.pages["estimate"], "--dump-dom").stdout).all
        svg = next(a for tag, a in elements if tag == "svg")
        zero, scale = float(svg["data-zero"]), float(svg["data-scale"])
        paths = {int(a["data-group"]): a["d"] for tag, a in elements if tag == "path" and "data-group" in a}
        beside = next(int(a["data-beside"]) for tag, a in elements if "data-beside" in a)
        self.assertGreater(len(paths), 10)
        for g, path in paths.items():
            drawn = {(zero - float(y)) * scale - beside for y in re.findall(r"[V,](-?[\d.]+)", path)}
            ends = {band[g] for band in bands} | {band[g - 1] if g else 0 for band in bands}
            for held in drawn:
                self.assertLess(min(abs(held - end) for end in ends), 0.06 * scale)
            if g == len(data["curve"]["groups"]) - 1:
                self.assertLess(abs(max(drawn) - max(band[g] for band in bands)), 0.06 * scale)

    def act(self, name, script):
        """What the page is after the script ran behind its own."""
        acted = self.folder / f"{name}.acted.html"
        acted.write_text(self.pages[name].read_text() + f"<script>{script}</script>")
        done = browse(acted, "--dump-dom", "--window-size=1280,900")
        self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])
        return done.stdout

    POINTER = """const plot = () => document.querySelector(".plot svg");
        const at = (type, part, buttons) => { const box = plot().getBoundingClientRect(); plot().dispatchEvent(new PointerEvent(type,
          { bubbles: true, buttons, clientX: box.left + part * box.width, clientY: box.bottom - 40 })); };
        const key = name => plot().dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));"""

    @unittest.skipUnless(BROWSER, "no Chromium here")
    def test_the_peak_is_found_by_keys(self):
        self.assertNotIn(">The peak, ", self.act("estimate", self.POINTER + 'key("Home");'))
        self.assertIn(">The peak, backward: ", self.act("estimate", self.POINTER + 'key("Home"); key("p");'))

    @unittest.skipUnless(BROWSER, "no Chromium here")
    def test_a_drag_zooms_and_escape_shows_all_again(self):
        drawn = lambda dom: [a["d"] for tag, a in Elements(dom).all if tag == "path"]
        whole = drawn(self.act("estimate", self.POINTER))
        drag = 'at("pointerdown", .3, 1); at("pointermove", .4, 1); at("pointerup", .5, 0);'
        self.assertNotEqual(drawn(self.act("estimate", self.POINTER + drag)), whole)
        self.assertEqual(drawn(self.act("estimate", self.POINTER + drag + 'key("Escape");')), whole)

    @unittest.skipUnless(BROWSER, "no Chromium here")
    def test_a_click_leads_to_the_configs_lines(self):
        dom = self.act("estimate", self.POINTER + 'at("pointerdown", .5, 1); at("pointerup", .5, 0);')
        links = [a["href"] for tag, a in Elements(dom).all if tag == "a" and a.get("href", "").startswith("#fact-")]
        self.assertGreater(len(links), 1)
        ids = {a["id"] for tag, a in Elements(dom).all if tag == "tr" and "id" in a}
        self.assertLessEqual({link[1:] for link in links}, ids)
        self.assertIn("llama-3.1-8b-qlora.yml:", dom[dom.index("Moved most by"):dom.index("Moved most by") + 2000])

    @unittest.skipUnless(BROWSER, "no Chromium here")
    def test_the_gate_is_filtered(self):
        search = 'const box = document.querySelector("input[type=search]"); box.value = "TEXT"; box.dispatchEvent(new Event("input"));'
        rows = lambda dom: [("hidden" in a) for tag, a in Elements(dom).all if tag == "details" and a.get("class") == "config"]
        self.assertEqual(set(rows(self.act("gate", ""))), {False})
        self.assertEqual(set(rows(self.act("gate", search.replace("TEXT", "no such config")))), {True})
        self.assertIn(False, rows(self.act("gate", search.replace("TEXT", "config.yml"))))

    @unittest.skipUnless(BROWSER, "no Chromium here")
    def test_nothing_runs_over_the_edge(self):
        """Only tables of numbers are wider than a phone, and none is wider than a desk's screen."""
        script = """const wide = [...document.querySelectorAll("main *")].filter(one => !one.closest(".scroll, pre, svg") &&
            one.getBoundingClientRect().right > innerWidth + 1);
            const tables = [...document.querySelectorAll(".scroll")].filter(one => one.scrollWidth > one.clientWidth);
            document.title = [innerWidth, document.documentElement.scrollWidth, wide.length,
              ...tables.map(one => one.parentElement.firstChild.textContent)].join("|");"""
        for name, page in self.pages.items():
            acted = self.folder / f"{name}.acted.html"
            acted.write_text(page.read_text() + f"<script>{script}</script>")
            for width in (390, 1280):
                with self.subTest(name, width=width):
                    frame = self.folder / f"{name}.frame.html"
                    frame.write_text(f"<iframe src='{acted.name}' style='border:0;width:{width}px;height:900px' "
                                     "onload='document.title=this.contentDocument.title'></iframe>")
                    title = re.search("<title>(.*?)</title>", browse(frame, "--dump-dom", "--allow-file-access-from-files").stdout)
                    numbers = "(\\|(The highest moment of each phase|Largest at the peak))*" if width == 390 else ""
                    self.assertRegex(title and title[1], rf"^{width}\|{width}\|0{numbers}$")

    @unittest.skipUnless(BROWSER and "--keep" in sys.argv, "screenshots are for --keep")
    def test_screenshots(self):
        for name, page in self.pages.items():
            for width in (390, 1280, 1920):  # a window is at least 500 wide, so the phone is a frame
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
