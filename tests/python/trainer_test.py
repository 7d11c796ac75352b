"""OomplanCallback in real trainers on the CPU: what it writes, that the run is the same, and an error that goes on."""

import importlib.util
import io
import json
import logging
import os
import pathlib
import sys
import tempfile
import types
import unittest
from contextlib import redirect_stderr
from unittest import mock

NEEDED = ("torch", "transformers", "datasets", "trl", "peft")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
if MISSING:
    print(f"SKIPPED: the callback is NOT tested, for {', '.join(MISSING)} are not installed", file=sys.stderr)
    sys.exit(77)

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import datasets  # noqa: E402
import oomplan  # noqa: E402
import peft  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
import trl  # noqa: E402
from oomplan import _watching  # noqa: E402
from oomplan.transformers import OomplanCallback  # noqa: E402
from peft import LoraConfig, get_peft_model  # noqa: E402

CONFIG = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "vocab_size": 128,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}


def _is_modelled(*packages, trainer="sft", **changed):
    asked = {"model_name_or_path": "Qwen/Qwen3-0.6B", "max_length": 64}
    versions = [f"{package.__name__}=={package.__version__}" for package in packages]
    return oomplan.estimate(asked, trainer=trainer, dialect="hf", framework=versions, set=changed).code == 0


# What configs come to with the transformers and the TRL that are installed: others have no prediction, which the first test without one
# of these says.
of_modelled = unittest.skipUnless(_is_modelled(transformers), f"transformers {transformers.__version__} is not modelled")
of_modelled_trl = unittest.skipUnless(_is_modelled(transformers, trl), f"TRL {trl.__version__} with this transformers is not modelled")
of_modelled_dpo = unittest.skipUnless(_is_modelled(transformers, trl, trainer="dpo"), f"DPO of TRL {trl.__version__} is not modelled")
of_modelled_adapters = unittest.skipUnless(
    _is_modelled(transformers, trl, **{"plan.adapter": "oft", "lora_targets": "q_proj"}),
    f"other adapters than LoRA by TRL {trl.__version__} on transformers {transformers.__version__} are not modelled",
)


def model():
    torch.manual_seed(1)
    return transformers.AutoModelForCausalLM.from_config(transformers.LlamaConfig(**CONFIG))


def rows(count=16):
    return datasets.Dataset.from_list(
        [{"input_ids": [(i + j) % 127 + 1 for j in range(16)], "labels": [j % 127 + 1 for j in range(16)]} for i in range(count)]
    )


def common(where, **more):
    return {
        "output_dir": str(where / "out"),
        "use_cpu": True,
        "bf16": False,
        "max_steps": 4,
        "per_device_train_batch_size": 2,
        "report_to": [],
        "disable_tqdm": True,
        "remove_unused_columns": False,
        "save_strategy": "no",
        "logging_steps": 1,
        "seed": 3,
        **more,
    }


class Failing(transformers.LlamaForCausalLM):
    """Runs out of memory in its second step, as torch says it."""

    calls = 0

    def forward(self, *args, **kwargs):
        type(self).calls += 1
        if type(self).calls == 2:
            raise torch.OutOfMemoryError(
                "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.52 GiB of which 1.00 GiB"
                " is free. Including non-PyTorch memory, this process has 22.50 GiB memory in use. Of the allocated memory"
                " 20.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated."
            )
        return super().forward(*args, **kwargs)


class Callbacks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.where = pathlib.Path(folder.name)
        self.log = io.StringIO()
        handler = logging.StreamHandler(self.log)
        logger = logging.getLogger("oomplan")
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        self.addCleanup(logger.removeHandler, handler)

    def trainer(self, *callbacks, of=None, **more):
        return transformers.Trainer(
            model=of or model(),
            args=transformers.TrainingArguments(**common(self.where, **more)),
            train_dataset=rows(),
            eval_dataset=rows(4),
            callbacks=list(callbacks),
        )

    def callback(self, **named):
        return OomplanCallback("rtx-4090", self.where / "runs.jsonl", set={"sequence_length": 16}, **named)

    def records(self):
        return [json.loads(line) for line in (self.where / "runs.jsonl").read_text().splitlines()]

    @of_modelled
    def test_writes_the_prediction_and_each_moment(self):
        self.trainer(self.callback(), eval_strategy="steps", eval_steps=2).train()
        found = self.records()
        self.assertEqual([one["what"] for one in found], ["prediction", "step", "step", "evaluation", "step", "evaluation"])
        self.assertEqual([one.get("step") for one in found], [None, 1, 2, 2, 3, 4])
        self.assertGreater(found[0]["peak"], 100_000)
        self.assertEqual(found[0]["verdict"], "fits")
        self.assertIn("predicted: ", self.log.getvalue())

    @of_modelled
    def test_the_prediction_is_that_of_the_same_config(self):
        callback = self.callback()
        trainer = self.trainer(callback)
        trainer.train()
        alone = oomplan.estimate(trainer.args, "rtx-4090", model=model(), set={"sequence_length": 16}, outlook=False)
        self.assertEqual(callback.watch.estimate.peak, alone.peak)
        parameters = sum(one.numel() for one in trainer.model.parameters())
        self.assertEqual(alone.parameters, parameters)

    @of_modelled
    def test_warns_where_it_does_not_fit(self):
        small = OomplanCallback("600MiB", None, set={"sequence_length": 16, "per_device_train_batch_size": 65536})
        self.trainer(small).train()
        self.assertIn("is predicted not to fit on 600MiB", self.log.getvalue())

    def test_what_cannot_be_decided_is_said_and_the_run_goes_on(self):
        trainer = self.trainer(OomplanCallback(None, self.where / "runs.jsonl"))
        trainer.train()
        self.assertIn("no prediction: ", self.log.getvalue())
        self.assertEqual(trainer.state.global_step, 4)
        self.assertIsNone(self.records()[0]["peak"])

    def test_the_run_is_the_same_with_and_without(self):
        def run(*callbacks):
            trainer = self.trainer(*callbacks, eval_strategy="steps", eval_steps=2)
            trainer.train()
            losses = [one.get("loss", one.get("eval_loss")) for one in trainer.state.log_history]
            return losses, [one.clone() for one in trainer.model.parameters()], torch.random.get_rng_state(), vars(trainer)

        losses, parameters, state, attributes = run()
        losses_with, parameters_with, state_with, attributes_with = run(self.callback())
        self.assertEqual(losses, losses_with)
        self.assertTrue(all(map(torch.equal, parameters, parameters_with)))
        self.assertTrue(torch.equal(state, state_with))
        self.assertEqual(sorted(attributes), sorted(attributes_with))

    def test_out_of_memory_is_diagnosed_and_goes_on(self):
        Failing.calls = 0
        trainer = self.trainer(self.callback(), of=Failing(transformers.LlamaConfig(**CONFIG)))
        err = io.StringIO()
        with redirect_stderr(err), self.assertRaises(torch.OutOfMemoryError):
            trainer.train()
        self.assertIn("the GPU's memory is full", err.getvalue())
        self.assertEqual(err.getvalue().count("the GPU's memory is full"), 1)
        self.assertNotIn("training_step", vars(trainer))

    def diagnosed(self, callback, **more):
        Failing.calls = 0
        trainer = self.trainer(callback, of=Failing(transformers.LlamaConfig(**CONFIG)), **more)
        err = io.StringIO()
        with redirect_stderr(err), self.assertRaises(torch.OutOfMemoryError):
            trainer.train()
        to_do, found, not_to_do = err.getvalue().partition("What not to do")
        self.assertTrue(found, err.getvalue())
        return to_do, not_to_do

    @of_modelled
    def test_a_diagnosis_advises_nothing_that_is_on(self):
        to_do, not_to_do = self.diagnosed(self.callback())
        self.assertIn("gradient-checkpointing", to_do)
        to_do, not_to_do = self.diagnosed(self.callback(), gradient_checkpointing=True)
        self.assertNotIn("gradient-checkpointing", to_do)
        self.assertIn("It changes nothing in the config, where gradient_checkpointing is true", not_to_do)

    @of_modelled
    def test_a_diagnosis_has_the_fixes_of_the_config(self):
        changed = {"sequence_length": 16, "per_device_train_batch_size": 262144}
        to_do, rest = self.diagnosed(OomplanCallback("rtx-4090", None, set=changed))
        self.assertRegex(to_do, r"then it\s+needs\s+(at\s+least\s+)?[0-9.]+\s+GiB of\s+23.52\s+GiB")
        self.assertIn("Against the config", rest)
        self.assertNotIn(tempfile.gettempdir(), to_do + rest)

    def test_what_fails_after_the_run_is_not_held_against_it(self):
        self.trainer(self.callback()).train()
        err = io.StringIO()
        with redirect_stderr(err):
            _watching.say_diagnosis(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."))
        self.assertIn("the GPU's memory is full", err.getvalue())
        self.assertNotIn("Against", err.getvalue())

    def test_an_error_outside_of_the_trainers_methods_is_held_against_the_run(self):
        callback = self.callback()
        callback.watch.predict(transformers.TrainingArguments(**common(self.where)), model=model())
        err = io.StringIO()
        with redirect_stderr(err):
            _watching.say_diagnosis(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."))
        callback.watch.end()
        self.assertIn("Against the config", err.getvalue())

    def test_another_error_is_left_alone(self):
        class Broken(transformers.LlamaForCausalLM):
            def forward(self, *args, **kwargs):
                raise RuntimeError("shapes cannot be multiplied")

        err = io.StringIO()
        with redirect_stderr(err), self.assertRaisesRegex(RuntimeError, "multiplied"):
            self.trainer(self.callback(), of=Broken(transformers.LlamaConfig(**CONFIG))).train()
        self.assertNotIn("oomplan:", err.getvalue())

    def test_a_folder_that_cannot_be_written_stops_nothing(self):
        trainer = self.trainer(OomplanCallback("rtx-4090", self.where / "none" / "runs.jsonl", set={"sequence_length": 16}))
        trainer.train()
        self.assertEqual(trainer.state.global_step, 4)

    @of_modelled_trl
    def test_sft_trainer_with_an_adapter(self):
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=_tokenizer(), pad_token="<pad>", eos_token="<eos>")
        callback = OomplanCallback("rtx-4090", self.where / "runs.jsonl")
        trainer = trl.SFTTrainer(
            model=model(),
            args=trl.SFTConfig(**common(self.where, max_length=16)),
            train_dataset=datasets.Dataset.from_list([{"text": "a b c d e f"}] * 8),
            processing_class=tokenizer,
            peft_config=LoraConfig(r=4, target_modules=["q_proj"]),
            callbacks=[callback],
        )
        trainer.train()
        found = callback.watch.estimate
        self.assertEqual(found.verdict, "fits", self.log.getvalue())
        trained = sum(one.numel() for one in trainer.model.parameters() if one.requires_grad)
        self.assertEqual(found.to_dict()["footprint"]["trainable_parameters"], trained)


class Records(unittest.TestCase):
    """What is written of a GPU, as `oomplan calibrate` reads it; there is none here, so torch is a stand-in."""

    def test_the_card_its_versions_and_what_is_in_use(self):
        card = types.SimpleNamespace(name="NVIDIA H100 80GB HBM3", total_memory=85017493504)
        cuda = types.SimpleNamespace(
            is_available=lambda: True,
            is_initialized=lambda: True,
            current_device=lambda: 0,
            get_device_properties=lambda _: card,
            max_memory_allocated=lambda: 10,
            max_memory_reserved=lambda: 30,
            memory_reserved=lambda: 20,
            mem_get_info=lambda: (1000, 1700),
        )
        stand_in = types.SimpleNamespace(cuda=cuda, __version__="2.11.0+cu130")
        with mock.patch.dict(sys.modules, {"torch": stand_in}):
            self.assertEqual(
                _watching.measured(),
                {"max_memory_allocated": 10, "max_memory_reserved": 30, "memory_reserved": 20, "device_used": 700},
            )
            found = _watching.runs_on()
        self.assertEqual((found["card"], found["torch"]), ("NVIDIA H100 80GB HBM3", "2.11.0+cu130"))
        self.assertEqual(found["versions"]["transformers"], transformers.__version__)

    def recorded(self, cuda, gpu):
        """The record of a prediction, with `cuda` in torch's place."""
        stand_in = types.SimpleNamespace(cuda=types.SimpleNamespace(**cuda), __version__="2.11.0+cu130")
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(sys.modules, {"torch": stand_in}):
            path = pathlib.Path(folder) / "runs.jsonl"
            _watching.Watch(gpu, path, {}).predict("gpt2")
            return json.loads(path.read_text())

    def test_a_card_that_torch_does_not_tell_of_stops_nothing(self):
        asked = mock.Mock(side_effect=RuntimeError("CUDA error: device-side assert triggered"))
        cuda = {
            "is_available": lambda: True,
            "is_initialized": lambda: True,
            "current_device": lambda: 0,
            "get_device_properties": asked,
        }
        for gpu in (None, "h100"):
            found = self.recorded(cuda, gpu)
            self.assertEqual((found["what"], found["gpu"], found["card"]), ("prediction", gpu, None))
        self.assertTrue(asked.called)

    def test_a_run_that_has_not_touched_the_gpu_is_not_made_to(self):
        asked = mock.Mock(side_effect=RuntimeError("no CUDA context is wanted here"))
        cuda = {
            "is_available": lambda: True,
            "is_initialized": lambda: False,
            "current_device": asked,
            "get_device_properties": asked,
        }
        found = self.recorded(cuda, None)
        self.assertEqual((found["gpu"], found["card"]), (None, None))
        self.assertFalse(asked.called)

    def test_what_fails_while_a_record_is_written_stops_nothing(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(_watching, "runs_on", side_effect=RuntimeError):
            _watching.Watch("h100", pathlib.Path(folder) / "runs.jsonl", {}).predict("gpt2")


class Objects(unittest.TestCase):
    """Configs that are objects; that what they say is read, and what cannot be is not left out."""

    def sft(self, **more):
        return trl.SFTConfig(output_dir="out", use_cpu=True, **{"bf16": True, "max_length": 512, **more})

    @of_modelled_trl
    def test_an_object_is_the_config_that_says_the_same(self):
        said = {
            "model_name_or_path": "Qwen/Qwen3-0.6B",
            "bf16": True,
            "max_length": 512,
            "per_device_train_batch_size": 4,
            "use_peft": True,
            "lora_r": 8,
            "lora_dropout": 0,
            "lora_target_modules": ["q_proj", "v_proj"],
            "dtype": "bfloat16",
            "load_in_4bit": True,
            "bnb_4bit_quant_type": "nf4",
        }
        versions = [f"transformers=={transformers.__version__}", f"trl=={trl.__version__}"]
        file = oomplan.estimate(said, "rtx-4090", trainer="sft", framework=versions)
        here = oomplan.estimate(
            self.sft(per_device_train_batch_size=4),
            "rtx-4090",
            model="Qwen/Qwen3-0.6B",
            peft=LoraConfig(r=8, target_modules=["q_proj", "v_proj"]),
            quantization=transformers.BitsAndBytesConfig(
                load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16
            ),
            dtype=torch.bfloat16,
        )
        self.assertEqual(here.verdict, "fits")
        self.assertEqual(here.peak, file.peak)
        self.assertEqual(here.needed("rtx-4090"), file.needed("rtx-4090"))

    @of_modelled_trl
    def test_each_argument_moves_what_it_should(self):
        def peak(**more):
            return oomplan.estimate(self.sft(**more), model="Qwen/Qwen3-0.6B").peak

        self.assertGreater(peak(per_device_train_batch_size=16), peak(per_device_train_batch_size=8))
        self.assertGreater(peak(gradient_checkpointing=False), peak(gradient_checkpointing=True))
        self.assertGreater(peak(optim="adamw_torch"), peak(optim="adamw_bnb_8bit"))

    @of_modelled_dpo
    def test_dpo(self):
        config = trl.DPOConfig(output_dir="out", use_cpu=True, bf16=True)
        found = oomplan.estimate(config, "a100-80gb", model="Qwen/Qwen3-0.6B")
        file = oomplan.estimate({"model_name_or_path": "Qwen/Qwen3-0.6B"}, trainer="dpo", dialect="hf")
        self.assertEqual(found.peak, file.peak)

    @of_modelled_adapters
    def test_adapters_are_read_by_their_kind(self):
        def trained(config):
            alone = oomplan.estimate(self.sft(), model="Qwen/Qwen3-0.6B")
            return oomplan.estimate(self.sft(), model="Qwen/Qwen3-0.6B", peft=config).parameters - alone.parameters

        targets = ["q_proj", "down_proj"]  # Of 1024 to 2048, and of 3072 to 1024; 28 layers.
        scaled = peft.IA3Config(target_modules=targets, feedforward_modules=["down_proj"])
        self.assertEqual(trained(scaled), 28 * (2048 + 3072))
        self.assertEqual(trained(peft.VeraConfig(r=64, target_modules=targets)), 28 * (2048 + 1024 + 2 * 64))
        self.assertEqual(trained(peft.OFTConfig(target_modules=targets)), 28 * (32 + 96) * 496)
        self.assertEqual(trained(peft.OFTConfig(r=8, oft_block_size=0, target_modules=["q_proj"])), 28 * 8 * 128 * 127 // 2)
        self.assertEqual(trained(peft.LoHaConfig(r=4, target_modules=targets)), 28 * 2 * 4 * (1024 + 2048 + 3072 + 1024))
        self.assertEqual(trained(peft.LoKrConfig(r=4, target_modules=["q_proj"])), 28 * (32 * 32 + 4 * (64 + 32)))
        with self.assertRaises(oomplan.Undecided):  # The first layer alone; 0 is no "none".
            trained(peft.VeraConfig(r=64, target_modules=targets, layers_to_transform=0))

    @of_modelled_trl
    def test_initialisations_of_lora_take_no_more_in_a_step(self):
        def peak(init):
            config = LoraConfig(target_modules=["q_proj"], init_lora_weights=init)
            return oomplan.estimate(self.sft(), model="Qwen/Qwen3-0.6B", peft=config).peak

        for init in ("gaussian", "orthogonal", "olora", "pissa_niter_16"):
            self.assertEqual(peak(init), peak(True))
        for init in ("pissa", "eva"):
            with self.assertRaises(oomplan.Undecided):
                peak(init)

    def test_what_no_key_says_is_undecided(self):
        others = (
            peft.IA3Config(target_modules=["q_proj"]),
            peft.VeraConfig(bias="all"),
            peft.OFTConfig(coft=True),
            peft.OFTConfig(num_cayley_neumann_terms=4),
            peft.LoHaConfig(module_dropout=0.1),
            peft.LoKrConfig(decompose_factor=8),
            peft.PrefixTuningConfig(num_virtual_tokens=4),
        )
        for config in others:
            with self.assertRaises(oomplan.Undecided):
                oomplan.estimate(self.sft(), model="Qwen/Qwen3-0.6B", peft=config)
        for config in (LoraConfig(rank_pattern={"q_proj": 2}), LoraConfig(bias="all"), LoraConfig(layers_to_transform=[0])):
            with self.assertRaises(oomplan.Undecided) as caught:
                oomplan.estimate(self.sft(), model="Qwen/Qwen3-0.6B", peft=config)
            self.assertIn("LoraConfig.", caught.exception.reasons[0])
        with self.assertRaises(oomplan.Undecided):
            oomplan.estimate(
                self.sft(), model="gpt2", quantization=transformers.BitsAndBytesConfig(load_in_4bit=True), dtype="bfloat16"
            )

    def test_frozen_parameters_without_an_adapter_are_undecided(self):
        frozen = model()
        frozen.model.embed_tokens.weight.requires_grad = False
        with self.assertRaises(oomplan.Undecided) as caught:
            oomplan.estimate(self.sft(), model=frozen)
        self.assertIn("not trained", caught.exception.reasons[0])

    @of_modelled_trl
    def test_a_module_is_read_as_it_stands(self):
        adapted = get_peft_model(model(), LoraConfig(r=4, target_modules=["q_proj", "v_proj"]))
        found = oomplan.estimate(self.sft(bf16=False), "rtx-4090", model=adapted)
        self.assertEqual(found.parameters, sum(one.numel() for one in adapted.parameters()))
        on_meta = transformers.LlamaConfig(**CONFIG)
        with torch.device("meta"):
            empty = transformers.AutoModelForCausalLM.from_config(on_meta)
        self.assertEqual(
            oomplan.estimate(self.sft(bf16=False), model=empty).peak, oomplan.estimate(self.sft(bf16=False), model=model()).peak
        )


def _tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {word: i for i, word in enumerate(["<pad>", "<eos>", "<unk>", *"abcdefghij"])}
    out = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    out.pre_tokenizer = pre_tokenizers.Whitespace()
    return out


if __name__ == "__main__":
    unittest.main()
