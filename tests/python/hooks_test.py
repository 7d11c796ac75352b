"""The plugin in real Axolotl and the hook in a real accelerate loop, on the CPU; each where it is installed."""

import importlib.util
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from contextlib import redirect_stderr

HAVE = {name: importlib.util.find_spec(name) is not None for name in ("torch", "accelerate", "axolotl")}
if not HAVE["torch"] or not HAVE["accelerate"]:
    print("SKIPPED: the hooks are NOT tested, for torch or accelerate is not installed", file=sys.stderr)
    sys.exit(77)

os.environ |= {"HF_HUB_OFFLINE": "1", "AXOLOTL_DO_NOT_TRACK": "1", "ACCELERATE_USE_CPU": "1"}
import accelerate  # noqa: E402
import oomplan  # noqa: E402
import torch  # noqa: E402
from oomplan.accelerate import watching  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = str(ROOT / "examples/oomplan/gpt2-full.yaml")
WORDS = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.52 GiB of which 1.00 GiB is free."


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.where = folder.name
        self.runs = os.path.join(folder.name, "runs.jsonl")

    def records(self):
        with open(self.runs) as file:
            return [json.loads(line) for line in file]


class Accelerate(Folder):
    def loop(self, config=CONFIG, fails_at=None, batches=10):
        accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        model, optimizer = accelerator.prepare(model, optimizer)
        another = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), 0.1)
        with watching(accelerator, config, "rtx-4090", self.runs) as watch:
            for i in range(batches):
                with accelerator.accumulate(model):
                    if i == fails_at:
                        raise torch.OutOfMemoryError(WORDS)
                    accelerator.backward(model(torch.ones(2, 4)).mean())
                    optimizer.step()
                    optimizer.zero_grad()
                    if i % 2:
                        another.step()
            watch.after("evaluation", 5)
        optimizer.step()
        return watch

    def test_records_steps_and_not_what_is_accumulated(self):
        watch = self.loop()
        found = [(one["what"], one.get("step")) for one in self.records()]
        self.assertEqual(found, [("prediction", None), ("step", 1), ("step", 2), ("step", 3), ("evaluation", 5)])
        self.assertEqual(watch.estimate.peak, oomplan.estimate(CONFIG, "rtx-4090").peak)

    def test_the_hook_ends_with_the_loop(self):
        self.loop(config=None, batches=2)
        self.assertEqual([one["what"] for one in self.records()], ["step", "evaluation"])

    def test_out_of_memory_is_diagnosed_against_the_config_and_goes_on(self):
        err = io.StringIO()
        with redirect_stderr(err), self.assertRaises(torch.OutOfMemoryError):
            self.loop(fails_at=3)
        self.assertEqual(err.getvalue().count("oomplan: vram_exhausted"), 1, err.getvalue())
        self.assertIn("Against " + CONFIG, err.getvalue())


@unittest.skipUnless(HAVE["axolotl"], "axolotl is not installed")
class Axolotl(Folder):
    NAME = "oomplan.axolotl.OomplanPlugin"

    def config(self, **more):
        return {
            "base_model": "HuggingFaceTB/SmolLM2-135M",
            "plugins": [self.NAME],
            "adapter": "lora",
            "lora_r": 8,
            "lora_target_linear": True,
            "sequence_len": 512,
            "micro_batch_size": 2,
            "gradient_accumulation_steps": 1,
            "bf16": True,
            **more,
        }

    def callback(self, config):
        """As Axolotl comes by it: from prepare_plugins() before it validates, and its builders after the trainer is made."""
        from axolotl.cli.config import prepare_plugins
        from axolotl.integrations.base import PluginManager
        from axolotl.utils.dict import DictDefault

        manager = PluginManager.get_instance()
        self.addCleanup(manager.plugins.clear)
        prepare_plugins(DictDefault({**config, "axolotl_config_path": "train.yml", "val_set_size": None}))
        self.assertIn(self.NAME, manager.plugins)
        (callback,) = manager.add_callbacks_post_trainer(DictDefault(config), None)
        callback.watch.runs, callback.watch.gpu = self.runs, "rtx-4090"
        return callback

    def train(self, callback, fails=False):
        import transformers

        class Tiny(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(4, 1)

            def forward(self, x):
                if fails:
                    raise torch.OutOfMemoryError(WORDS)
                return {"loss": self.layer(x).mean()}

        arguments = transformers.TrainingArguments(
            output_dir=self.where, use_cpu=True, max_steps=4, report_to=[], disable_tqdm=True, save_strategy="no"
        )
        rows = [{"x": torch.ones(4)}] * 8
        trainer = transformers.Trainer(model=Tiny(), args=arguments, train_dataset=rows)
        trainer.add_callback(callback)
        trainer.train()

    def test_predicts_from_the_config_and_records(self):
        config = self.config()
        callback = self.callback(config)
        self.train(callback)
        self.assertEqual([one["what"] for one in self.records()], ["prediction", "step", "step", "step"])
        alone = oomplan.estimate({**config, "plugins": []}, "rtx-4090", dialect="axolotl")
        self.assertEqual(callback.watch.estimate.peak, alone.peak)
        self.assertEqual(self.records()[0]["verdict"], "fits")

    def test_out_of_memory_is_diagnosed_against_the_config(self):
        err = io.StringIO()
        with redirect_stderr(err), self.assertRaises(torch.OutOfMemoryError):
            self.train(self.callback(self.config(gradient_checkpointing=True)), fails=True)
        self.assertEqual(err.getvalue().count("oomplan: vram_exhausted"), 1, err.getvalue())
        self.assertIn("It changes nothing in the config, where gradient_checkpointing is true", err.getvalue())


if __name__ == "__main__":
    unittest.main()
