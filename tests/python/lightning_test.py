"""OomplanCallback in a real Lightning trainer on the CPU, and the magic and the diagnosis in a real IPython shell."""

import importlib.util
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout

MISSING = [name for name in ("torch", "IPython") if importlib.util.find_spec(name) is None]
if not any(importlib.util.find_spec(name) for name in ("lightning", "pytorch_lightning")):
    MISSING.append("lightning")
if MISSING:
    print(f"SKIPPED: Lightning's callback is NOT tested, for {', '.join(MISSING)} are not installed", file=sys.stderr)
    sys.exit(77)

import torch  # noqa: E402

try:
    import lightning  # noqa: E402
except ImportError:
    import pytorch_lightning as lightning  # noqa: E402

from oomplan.lightning import OomplanCallback  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = str(ROOT / "examples/oomplan/gpt2-full.yaml")
WORDS = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.52 GiB of which 1.00 GiB is free."


class Tiny(lightning.LightningModule):
    def __init__(self, fails_at=None):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.fails_at = fails_at

    def training_step(self, batch, index):
        if index == self.fails_at:
            raise torch.OutOfMemoryError(WORDS)
        return self.layer(batch).mean()

    def validation_step(self, batch, index):
        return self.layer(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def fit(model, callback, where):
    loader = torch.utils.data.DataLoader(torch.ones(5, 4), batch_size=1)
    trainer = lightning.Trainer(
        max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        callbacks=[callback], default_root_dir=where,
    )
    trainer.fit(model, loader, loader)


class Lightning(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.runs = os.path.join(folder.name, "runs.jsonl")
        self.where = folder.name

    def test_records(self):
        fit(Tiny(), OomplanCallback(CONFIG, "rtx-4090", self.runs), self.where)
        with open(self.runs) as file:
            found = [json.loads(line) for line in file]
        self.assertEqual([one["what"] for one in found], ["prediction", "step", "step", "step", "evaluation"])
        self.assertEqual(found[0]["verdict"], "fits")

    def test_out_of_memory_is_diagnosed_and_goes_on(self):
        err = io.StringIO()
        with redirect_stderr(err), self.assertRaises(torch.OutOfMemoryError):
            fit(Tiny(fails_at=1), OomplanCallback(runs=None), self.where)
        self.assertEqual(err.getvalue().count("oomplan: vram_exhausted"), 1, err.getvalue())

    def test_a_diagnosis_is_held_against_the_config(self):
        err = io.StringIO()
        with redirect_stderr(err), self.assertRaises(torch.OutOfMemoryError):
            fit(Tiny(fails_at=1), OomplanCallback(CONFIG, "rtx-4090", None), self.where)
        self.assertIn("Against " + CONFIG, err.getvalue())


class Notebook(unittest.TestCase):
    def test_magic_and_diagnosis(self):
        from IPython.core.interactiveshell import InteractiveShell

        shell = InteractiveShell()
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            shell.run_cell("%load_ext oomplan")
            shell.run_cell(f"%oomplan estimate {CONFIG} --gpu rtx-4090 --quiet")
            shell.user_ns["words"] = WORDS
            shell.run_cell("import torch\nraise torch.OutOfMemoryError(words)")
            shell.run_cell("raise RuntimeError('another')")
        self.assertIn("fits on ONE NVIDIA GeForce RTX 4090", out.getvalue())
        self.assertIn("OutOfMemoryError", out.getvalue() + err.getvalue())
        self.assertIn("another", out.getvalue() + err.getvalue())
        self.assertEqual(err.getvalue().count("oomplan: vram_exhausted"), 1, err.getvalue())


if __name__ == "__main__":
    unittest.main()
