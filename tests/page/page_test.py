#!/usr/bin/env python3
"""The page in a headless Chromium, from a file, by real clicks, keys and drops.

    tests/page/page_test.py --program build/release/oomplan --page build/wasm/oomplan.html [--keep FOLDER]

What it shows is what the program prints. --keep writes pictures (390, 1280 and 1920 pixels wide, light and dark) for a
person to look at, and a log of 100 MB is dropped. Skipped (77) where there is no Chromium.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from browser import BROWSER, Browser

ROOT = Path(__file__).resolve().parent.parent.parent
EVIL = "</script><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
CONFIG = "model: openai-community/gpt2\nmicro_batch_size: 8\nsequence_length: 1024\nweights_dtype: fp32\n"
LOG = (f"Traceback (most recent call last): {EVIL}\n  File \"train.py\", line 3, in <module>\n\x1b[31m    loss.backward()\x1b[0m\n"
       "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.52 GiB of "
       "which 1.00 GiB is free. Including non-PyTorch memory, this process has 22.50 GiB memory in use. Of the allocated "
       "memory 21.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated.\n")
CONTROL = 2
options = None


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        cls.browser = Browser()
        cls.url = options.page.resolve().as_uri()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.temporary.cleanup()

    def setUp(self):
        self.browser.resize(1280, 900)
        self.browser.open(self.url)

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.value("document.title"), "oomplan")

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def program(self, *words):
        return subprocess.run([options.program, *words], cwd=self.folder, capture_output=True, text=True, timeout=300).stdout

    def text(self, selector):
        return self.browser.value(f"document.querySelector({json.dumps(selector)}).textContent")

    def json(self):
        """What the page asks the program for where its tab is chosen."""
        self.browser.click("#tab-json")
        self.answered()
        return self.text("#json")

    def fill(self, selector, text):
        self.browser.click(selector)
        self.browser.key("a", 65, CONTROL)
        self.browser.type(text)

    def answered(self, seconds=60):
        self.browser.wait("!document.querySelector('#answer').hidden && document.querySelector('#stop').hidden", seconds)

    def drawn(self, selector):
        """How many of these the report has, once it has one and takes room."""
        end, count = time.monotonic() + 20, 0
        while not count and time.monotonic() < end:
            count = self.browser.framed("document.querySelector('main')?.getBoundingClientRect().height && "
                                        f"document.querySelectorAll('main {selector}').length")
        return count

    def test_an_estimate_is_the_programs(self):
        self.write("train.yaml", CONFIG)
        self.fill("#config", CONFIG)
        self.browser.click("#estimate")
        self.answered()
        words = ("estimate", "train.yaml", "--gpu", "rtx-4090")
        self.assertEqual(self.text("#text"), self.program(*words))
        self.assertEqual(self.json(), self.program(*words, "--json"))
        self.program(*words, "--html", "page.html")
        self.assertEqual(self.browser.value("document.querySelector('#report').srcdoc"), (self.folder / "page.html").read_text())
        self.assertIn("fits", self.text("#verdict"))

    def test_the_report_draws_itself_and_reaches_nothing_of_the_page(self):
        self.fill("#config", CONFIG)
        self.browser.click("#estimate")
        self.answered()
        self.assertEqual(self.browser.value("document.querySelector('#report').contentDocument"), None)
        self.assertGreater(self.drawn("svg path"), 3)
        self.assertEqual(self.browser.framed("(() => { try { return parent.document.title; } catch (error) { return error.name; } })()"),
                         "SecurityError")

    def test_the_report_is_drawn_where_the_text_was_shown_before(self):
        self.fill("#config", CONFIG)
        for _ in range(2):
            self.browser.click("#estimate")
            self.answered()
            self.assertGreater(self.drawn("section"), 3)
            self.browser.click("#tab-text")

    def fix_for(self, card):
        """In place of the card that is chosen."""
        self.browser.click("#gpus button")
        self.browser.click("#gpu")
        self.browser.type(card)
        self.browser.key("Enter", 13, text="\r")
        self.browser.click("#fix")
        self.answered()

    def test_fixes_and_the_patch(self):
        self.write("train.yaml", CONFIG)
        self.fill("#config", CONFIG)
        self.fix_for("8GiB")
        words = ("fix", "train.yaml", "--gpu", "8GiB")
        self.assertEqual(self.text("#text"), self.program(*words))
        self.assertEqual(self.json(), self.program(*words, "--json"))
        self.browser.click("#apply")
        self.browser.wait("document.querySelector('#said').textContent.includes('patch')")
        self.program(*words, "--apply", "--yes")
        self.assertEqual(self.browser.value("document.querySelector('#config').value"), (self.folder / "train.yaml").read_text())

    def assert_harmless(self):
        """Neither the page nor the report in it has what a config or log would put there."""
        self.assertEqual(self.browser.value("document.images.length"), 0)
        self.browser.click("#tab-report")
        self.assertGreater(self.drawn("section"), 0)
        self.assertEqual(self.browser.framed("document.images.length"), 0)
        self.assertNotEqual(self.browser.framed("document.title"), "owned")
        self.assertNotIn("\x1b", self.browser.framed("document.documentElement.textContent"))

    def test_a_hostile_log_is_text(self):
        self.write("run.log.gz", gzip.compress(LOG.encode()))
        self.browser.drop_until("!!document.querySelector('#log-files li')", "[data-drop=log]", self.folder / "run.log.gz")
        self.browser.click("#diagnose")
        self.answered()
        self.assertEqual(self.text("#text"), self.program("diagnose", "run.log.gz"))
        self.assertEqual(self.json(), self.program("diagnose", "run.log.gz", "--json"))
        self.assert_harmless()

    def test_a_hostile_config_is_text(self):
        config = f"model: '{EVIL.replace(chr(39), '')}'\nmicro_batch_size: 1\nsequence_length: 8\n\x1b]0;x\x07{EVIL}: 1\n"
        self.write("train.yaml", config)
        self.fill("#config", config)
        self.browser.click("#estimate")
        self.answered()
        self.assertEqual(self.text("#text"), self.program("estimate", "train.yaml", "--gpu", "rtx-4090"))
        self.assert_harmless()

    def test_a_config_that_is_dropped(self):
        path = self.write("other.yml", CONFIG)
        self.browser.drop("[data-drop=config]", path)
        self.browser.wait("document.querySelector('#config').value !== ''")
        self.assertEqual(self.browser.value("document.querySelector('#name').value"), "other.yml")
        self.browser.click("#estimate")
        self.answered()
        self.assertEqual(self.text("#text"), self.program("estimate", "other.yml", "--gpu", "rtx-4090"))

    def test_a_log_beside_its_config(self):
        self.write("train.yaml", CONFIG)
        self.write("pasted.log", LOG.replace("\x1b", ""))
        self.fill("#config", CONFIG)
        self.fill("#log", LOG.replace("\x1b", ""))
        self.browser.click("#diagnose")
        self.answered()
        self.assertEqual(self.text("#text"), self.program("diagnose", "pasted.log", "--config", "train.yaml", "--gpu", "rtx-4090"))

    def test_a_link_leads_back_to_the_answer(self):
        self.fill("#config", CONFIG)
        self.browser.click("#estimate")
        self.answered()
        before = self.json()
        self.browser.click("#share")
        self.browser.wait("location.hash.length > 20")
        link = self.browser.value("location.href")
        self.browser.open(link)
        self.answered()
        self.assertEqual(self.json(), before)
        self.assertEqual(self.browser.value("document.querySelector('#config').value"), CONFIG)
        self.browser.open(self.url + "#!!damaged")
        self.answered()
        self.assertIn("damaged", self.text("#verdict"))

    def focus(self):
        return self.browser.value("document.activeElement.id || document.activeElement.ariaLabel || document.activeElement.tagName")

    def tab(self):
        """What the next Tab leads to. A frame, which is another process, is there a moment later."""
        self.browser.key("Tab", 9)
        end = time.monotonic() + 1
        while self.focus() == "BODY" and time.monotonic() < end:
            time.sleep(0.02)
        return self.focus()

    def tab_to(self, wanted):
        for _ in range(60):
            if self.focus() == wanted:
                return
            self.tab()
        self.fail(f"{wanted} is not reached")

    def test_by_keyboard_alone(self):
        self.tab_to("config")
        self.browser.type(CONFIG)
        self.tab_to("estimate")
        self.browser.key("Enter", 13, text="\r")
        self.answered()
        self.assertEqual(self.focus(), "answer")
        self.tab_to("tab-report")
        for key, code, tab in (("ArrowRight", 39, "text"), ("End", 35, "json"), ("ArrowRight", 39, "report"), ("ArrowLeft", 37, "json")):
            self.browser.key(key, code)
            self.assertEqual(self.focus(), f"tab-{tab}")
            self.assertFalse(self.browser.value(f"document.querySelector('#{tab}').hidden"))

    def test_all_that_acts_is_reached_by_tab_is_seen_and_has_a_name(self):
        self.fill("#config", CONFIG)
        self.browser.value("take([new File(['x'], 'ds.json')], 'config').then(() => take([new File(['x'], 'run.log')], 'log'))")
        self.fix_for("8GiB")
        self.assertGreater(self.drawn("section"), 3)
        self.browser.value("document.querySelector('details').open = true")
        wanted = self.browser.value("""[...document.querySelectorAll("button, input, textarea, summary, iframe, [tabindex='0']")].filter(one =>
            one.checkVisibility() && !one.disabled && one.tabIndex >= 0).map(one => one.id || one.ariaLabel || one.tagName)""")
        self.browser.click("h1")
        reached = []
        for _ in range(200):
            now = self.tab()
            if now == "BODY" or reached[:1] == [now]:
                break
            if now in reached:  # further within the report
                continue
            reached.append(now)
            outline = self.browser.value("(style => style.outlineStyle + parseFloat(style.outlineWidth))(getComputedStyle(document.activeElement))")
            self.assertTrue(outline == "solid2" or now == "report", f"{now}: {outline}")
        self.assertEqual(reached, wanted)
        for node in self.browser.send("Accessibility.getFullAXTree")["nodes"]:
            focusable = any(one["name"] == "focusable" and one["value"]["value"] for one in node.get("properties", []))
            if focusable and not node["ignored"] and node["role"]["value"] != "RootWebArea":
                self.assertTrue(node["name"]["value"].strip(), node)

    def test_the_focus_stays_where_a_file_is_removed(self):
        self.browser.value("take([new File(['x'], 'a.log'), new File(['x'], 'b.log')], 'log')")
        self.tab_to("Remove a.log")
        for after in ("Remove b.log", "log"):
            self.browser.key("Enter", 13, text="\r")
            self.assertEqual(self.focus(), after)

    def test_it_can_be_stopped(self):
        self.write("big.log", b"nothing to see here\n" * 1_000_000)
        self.browser.drop_until("!!document.querySelector('#log-files li')", "[data-drop=log]", self.folder / "big.log")
        self.browser.click("#diagnose")
        self.assertEqual(self.focus(), "answer")
        self.browser.key("Escape", 27)
        self.answered()
        self.assertEqual((self.text("#verdict"), self.focus()), ("Stopped", "answer"))
        self.browser.click("#diagnose")
        self.browser.value("document.querySelector('#stop').click()")
        self.answered()
        self.fill("#config", CONFIG)
        self.browser.click("#estimate")
        self.answered()
        self.browser.value("document.querySelector('#tab-json').click(), document.querySelector('#stop').click()")
        self.browser.wait("document.querySelector('#json').textContent === 'Stopped'")
        self.assertIn("fits", self.text("#verdict"))
        self.write("train.yaml", CONFIG)
        self.assertEqual(self.json(), self.program("estimate", "train.yaml", "--gpu", "rtx-4090", "--json"))

    def test_the_first_answer(self):
        """From the page's opening to its answer; printed, as machines differ."""
        self.fill("#config", CONFIG)
        self.browser.click("#estimate")
        self.answered()
        self.browser.click("#share")
        self.browser.wait("location.hash.length > 20")
        link = self.browser.value("location.href")
        self.browser.open("about:blank")
        began = time.monotonic()
        self.browser.open(link)
        self.answered()
        print(f"first answer: {time.monotonic() - began:.2f} s from opening the page; {self.text('#said')}")

    def test_nothing_runs_over_the_edge_of_a_phone(self):
        self.browser.resize(390, 844)
        self.fill("#config", CONFIG)
        self.browser.click("#estimate")
        self.answered()
        self.assertEqual(self.browser.value("document.documentElement.scrollWidth"), 390)

    @unittest.skipUnless("--keep" in sys.argv, "for --keep")
    def test_a_log_of_100_mb(self):
        with open(self.folder / "huge.log", "wb") as file:
            for i in range(1000):
                file.write(b"step %06d loss 2.345 lr 1e-4 grad_norm 0.7\n" % i * (100_000 // 45))
            file.write(LOG.encode())
        self.browser.drop_until("!!document.querySelector('#log-files li')", "[data-drop=log]", self.folder / "huge.log")
        began = time.monotonic()
        self.browser.click("#diagnose")
        self.answered(300)
        print(f"100 MB: {time.monotonic() - began:.1f} s")
        self.assertEqual(self.text("#text"), self.program("diagnose", "huge.log"))

    @unittest.skipUnless("--keep" in sys.argv, "for --keep")
    def test_pictures(self):
        options.keep.mkdir(parents=True, exist_ok=True)
        for width in (390, 1280, 1920):
            for dark in (False, True):
                self.browser.open(self.url)
                self.browser.resize(width, 844 if width == 390 else 1000, dark)
                name = f"{options.keep}/{width}-{'dark' if dark else 'light'}"
                self.browser.picture(f"{name}-empty.png")
                self.browser.click("#example")
                self.browser.value("scrollTo(0, 0)")
                self.browser.picture(f"{name}-asked.png")
                self.browser.click("#estimate")
                self.answered()
                time.sleep(1)
                self.browser.picture(f"{name}-estimate.png")
                self.browser.click("#tab-text")
                self.browser.picture(f"{name}-text.png")
                self.fill("#log", LOG.replace("\x1b", ""))
                self.browser.click("#diagnose")
                self.answered()
                self.browser.click("#tab-report")
                self.assertGreater(self.drawn("section"), 0)
                time.sleep(1)
                self.browser.picture(f"{name}-diagnosis.png")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    parser.add_argument("--keep", type=Path)
    options, rest = parser.parse_known_args()
    options.program = options.program.resolve()
    if not BROWSER:
        print("no Chromium here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + rest)
