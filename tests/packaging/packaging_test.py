#!/usr/bin/env python3
"""What packages and editors are told: versions and libraries as CMake has them, and patterns that match what the program prints.

    tests/packaging/packaging_test.py --program build/dev/oomplan
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(oomplan VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
# What a library of CMake's is called by conda-forge and Homebrew.
NAMES = {"fmt": ("fmt", "fmt"), "nlohmann_json": ("nlohmann_json", "nlohmann-json"), "CLI11": ("cli11", "cli11"), "zlib": ("zlib", "zlib"),
         "zstd": ("zstd", "zstd"), "liblzma": ("liblzma-devel", "xz"), "BZip2": ("bzip2", "bzip2")}
program = None


def libraries():
    """Of the program and the Python package: not those of tests and of the reader of datasets."""
    text = (ROOT / "cmake/dependencies.cmake").read_text()
    found = re.findall(r"^ *(?:oomplan_require|oomplan_require_module|pkg_check_modules|find_package)\((\w+)", text, re.M)
    return set(found) - {"GTest", "benchmark", "Threads", "PkgConfig", "Python"}


class Packages(unittest.TestCase):
    def test_conda_has_each_library(self):
        recipe = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text())
        self.assertEqual(recipe["context"]["version"], VERSION)
        self.assertEqual({NAMES[name][0] for name in libraries()} - set(recipe["requirements"]["host"]), set())
        for file in recipe["tests"][1]["files"]["source"] + [recipe["about"]["license_file"]]:
            self.assertTrue((ROOT / file).is_file(), file)

    def test_homebrew_has_each_library(self):
        formula = (ROOT / "packaging/homebrew/oomplan.rb").read_text()
        named = set(re.findall(r'(?:depends_on|uses_from_macos) "([\w-]+)"', formula))
        self.assertEqual({NAMES[name][1] for name in libraries()} - named, set())
        options = set(re.findall(r"-D(OOMPLAN_\w+)=", formula))
        known = "".join(path.read_text() for path in (ROOT / "cmake").glob("*.cmake"))
        self.assertEqual({name for name in options if f"({name} " not in known}, set())

    def test_homebrews_formula_is_ruby(self):
        if not shutil.which("ruby"):
            self.skipTest("ruby is not installed")
        done = subprocess.run(["ruby", "-c", ROOT / "packaging/homebrew/oomplan.rb"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_homebrew_tries_is_so(self):
        formula = (ROOT / "packaging/homebrew/oomplan.rb").read_text()
        config = re.sub("(?m)^ +", "", re.search(r"<<~YAML\n(.*?)\n +YAML", formula, re.S)[1])
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "train.yaml").write_text(config)
            for words, code in re.findall(r'shell_output\("#{bin}/oomplan (estimate [^"]*)"(?:, (\d))?\)', formula):
                done = subprocess.run([program, *words.split()], cwd=folder, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (int(code or 0), ""), words)


class OldLibrary(unittest.TestCase):
    """What a page's build and macOS may have: libc++ before LLVM 15."""

    def test_it_has_each_algorithm_of_ranges(self):
        had = {"begin", "end", "size", "less", "greater", "equal_to", "identity"}
        libcxx = (ROOT / "cmake/libcxx.hpp").read_text()
        had |= set(re.findall(r"^(?:constexpr )?\S+ (\w+)\(\w&& ", libcxx, re.M)) | set(re.findall(r"^class (\w+) {", libcxx, re.M))
        for path in [file for name in ("include", "src", "page") for file in (ROOT / name).rglob("*pp")]:
            self.assertEqual(set(re.findall(r"std::ranges::(\w+)", path.read_text())) - had, set(), path)


class Editor(unittest.TestCase):
    """VS Code's patterns on what its tasks print."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.config = Path(folder.name) / "a config.yml"
        self.tasks = json.loads((ROOT / ".vscode/tasks.json").read_text())["tasks"]

    def found(self, task, text):
        self.config.write_text(text)
        values = {"${file}": str(self.config), "${input:gpu}": "8GiB"}
        done = subprocess.run([program, *(values.get(word, word) for word in task["args"])], capture_output=True, text=True)
        pattern = task["problemMatcher"]["pattern"]
        matched = [re.match(pattern["regexp"], line) for line in (done.stdout + done.stderr).splitlines()]
        return [{key: one[number] for key, number in pattern.items() if key != "regexp"} for one in matched if one]

    def test_a_gate_is_shown_in_its_file(self):
        (found,) = self.found(self.tasks[0], "sequence_length: 256\nmodel: openai-community/gpt2\nweights_dtype: fp32\nmicro_batch_size: 64\n")
        self.assertEqual((found["file"], found["severity"], found["line"]), (str(self.config), "error", "1"))
        self.assertIn("8 GiB", found["message"])

    def test_a_diagnostic_is_shown_at_its_place(self):
        found = self.found(self.tasks[1], "model: openai-community/gpt2\nmicro_batchsize: 2\n")[0]
        self.assertEqual((found["file"], found["line"], found["column"]), (str(self.config), "2", "1"))
        self.assertEqual((found["severity"], found["code"]), ("warning", "ingest/unknown-key"))

    def test_a_broken_config_too(self):
        for task in self.tasks:
            self.assertEqual([one["severity"] for one in self.found(task, "a: [")], ["error"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True)
    options, rest = parser.parse_known_args()
    program = options.program.resolve()
    unittest.main(argv=sys.argv[:1] + rest)
