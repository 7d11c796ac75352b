"""What the package says of its types, by mypy --strict: the package itself, and a program that uses it."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

if importlib.util.find_spec("mypy") is None:
    print("SKIPPED: the types are NOT checked, for mypy is not installed", file=sys.stderr)
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Other packages may be here or not, in any version, with types or without: nothing here depends on what they say.
OTHERS = ("axolotl", "lightning", "numpy", "pandas", "pyarrow", "pytorch_lightning", "ray", "torch", "transformers")
SETTINGS = "[mypy]\n" + "".join(
    f"[mypy-{name}.*]\nfollow_imports = skip\nfollow_imports_for_stubs = True\nignore_missing_imports = True\n" for name in OTHERS
)
SAMPLE = """
import oomplan

found = oomplan.estimate("train.yml", gpu=["rtx-4090", "24GiB"], set={"micro_batch_size": 2})
fits: bool = found.fits("rtx-4090")
peak: int = found.peak + found.needed("rtx-4090") + oomplan.max_batch_size("train.yml", "rtx-4090", most=8)
rows: list[dict[str, object]] = [*found.table, *found.largest]
texts: list[str] = [found.json, str(found), oomplan.fix("train.yml", "8GiB").patch, oomplan.diagnose("a\\nb").cause, *found.warnings]
passed: bool = oomplan.gate(["a.yml"], gpu="rtx-4090").passed
rate: float = oomplan.measure([[1, 2]], steps=1).rows_per_second
indices, hashes = oomplan.deduplicate_indices(["a", "b"])
last: int = indices[-1]
for batch in oomplan.streaming_dataset_reader("rows.jsonl", "jsonl"):
    values: list[object] = batch["text"]
try:
    found.fits()
except oomplan.Undecided as error:
    why: list[str] = [str(one) for one in error.reasons]
"""
WRONG = """
import oomplan

oomplan.estimate("train.yml", gpu=3)
oomplan.estimate("train.yml").fits(24)
number: str = oomplan.estimate("train.yml").peak
oomplan.streaming_dataset_reader("rows.jsonl", 1)
oomplan.nothing
"""


class Types(unittest.TestCase):
    def checked(self, *words, text=None):
        with tempfile.TemporaryDirectory() as folder:
            if text is not None:
                path = pathlib.Path(folder) / "sample.py"
                path.write_text(text)
                words = [str(path)]
            settings = pathlib.Path(folder) / "mypy.ini"
            settings.write_text(SETTINGS)
            command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(settings), "--cache-dir", f"{folder}/cache",
                       "--allow-subclassing-any", *words]
            done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(ROOT / "python")})
            return done.returncode, [line for line in done.stdout.splitlines() if ": error:" in line]

    def test_the_package(self):
        self.assertEqual(self.checked("-p", "oomplan"), (0, []))

    def test_a_program_that_uses_it(self):
        self.assertEqual(self.checked(text=SAMPLE), (0, []))

    def test_what_is_wrong_is_found(self):
        found = [int(line.split(":")[1]) for line in self.checked(text=WRONG)[1]]
        self.assertEqual(found, [4, 5, 6, 7, 8])


if __name__ == "__main__":
    unittest.main()
