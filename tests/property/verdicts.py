#!/usr/bin/env python3
"""One config on one card has one verdict, whichever command is asked: `estimate`, `gate`, `fix` and `sweep` agree, and so
do a value that --set gives and the same value written into the file. The configs of examples/ and of the cases, of every
dialect, with random settings, on one GPU and on several.
usage: verdicts.py --program build/release/oomplan [--rounds 60] [--seed 1] [--dialect NAME]"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from written import on_command_line, with_value

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = [True, False]
# Of each dialect its configs, files of examples/ or of a case, and values of its keys.
DIALECTS = {
    "axolotl": (["examples/axolotl/llama-3.1-8b-qlora.yml"], {
        "micro_batch_size": [1, 2, 3, 8], "sequence_len": [512, 1000, 4096], "lora_r": [8, 64],
        "gradient_checkpointing": FLAGS, "sample_packing": FLAGS, "eval_sample_packing": FLAGS,
        "eval_batch_size": [1, 4, 16], "eval_sequence_len": [512, 4096], "evals_per_epoch": [0, 1, 4],
        "val_set_size": [0, 0.1], "do_bench_eval": FLAGS, "rl": ["dpo", None], "max_seq_length": [4096],
        "gradient_accumulation_steps": [1, 4], "optimizer": ["adamw_torch_fused", "adamw_8bit"]}),
    "trl": (["examples/trl/qwen2.5-7b-sft-lora.yaml"], {
        "per_device_train_batch_size": [1, 2, 3, 16], "max_length": [256, 1000, 4096, None], "lora_r": [8, 64],
        "gradient_checkpointing": FLAGS, "packing": FLAGS, "padding_free": FLAGS, "eval_strategy": ["no", "steps"],
        "per_device_eval_batch_size": [1, 8, 64], "trainer": ["sft", "trainer", "dpo"], "block_size": [512, 1024],
        "lora_target_modules": [["q_proj", "v_proj"], ["q_proj", "lm_head"], "all-linear"], "seq_length": [77],
        "load_in_4bit": FLAGS, "optim": ["adamw_torch", "sgd"], "metric_for_best_model": ["loss", "accuracy"]}),
    "oomplan": (["examples/oomplan/gpt2-full.yaml"], {
        "micro_batch_size": [1, 3, 16], "sequence_length": [128, 1000, 1024], "padding_mask": FLAGS,
        "autocast": ["none", "bf16"], "optimizer": ["adamw_fused", "sgd"], "gradient_checkpointing": FLAGS,
        "evaluates": FLAGS, "evaluation_rows": [0, 1, 64], "evaluation_length": [0, 512], "trainer": ["trainer", "dpo"],
        "loss": ["full_logits", "chunked_logprob"], "block_size": [512]}),
    "llamafactory": (["llamafactory_lora"], {
        "per_device_train_batch_size": [1, 2, 8], "cutoff_len": [512, 1000, 4096], "lora_rank": [8, 64],
        "quantization_bit": [4, 8], "flash_attn": ["fa2", "sdpa", "disabled"], "disable_gradient_checkpointing": FLAGS,
        "packing": FLAGS, "stage": ["sft", "dpo", "pt"], "optim": ["adamw_torch", "adamw_8bit"], "pure_bf16": FLAGS,
        "enable_liger_kernel": FLAGS, "use_dora": FLAGS, "val_size": [0.1], "eval_strategy": ["no", "steps"],
        "per_device_eval_batch_size": [1, 16], "gradient_accumulation_steps": [1, 4], "max_seq_length": [512]}),
    "llamafactory_v1": (["llamafactory_v1"], {
        "micro_batch_size": [1, 2, 8], "cutoff_len": [512, 4096], "peft_config.r": [8, 64],
        "dist_config.name": ["fsdp2", "deepspeed"], "peft_config.target_modules": ["all", "q_proj"]}),
    "torchtune": (["torchtune_lora", "torchtune_distributed"], {
        "batch_size": [1, 2, 8], "tokenizer.max_seq_len": [512, 1000, 4096, None], "model.lora_rank": [8, 64],
        "enable_activation_checkpointing": FLAGS, "optimizer_in_bwd": FLAGS, "gradient_accumulation_steps": [1, 4],
        "dtype": ["bf16", "fp32"], "fsdp_cpu_offload": FLAGS}),
    "litgpt": (["litgpt_lora"], {
        "train.micro_batch_size": [1, 2, 8], "train.max_seq_length": [512, 1000, 4096], "lora_r": [8, 64],
        "precision": ["bf16-true", "bf16-mixed", "32-true"], "quantize": ["bnb.nf4", None], "lora_mlp": FLAGS,
        "train.global_batch_size": [8, 16], "devices": [1, 4]}),
    "torchtitan": (["torchtitan_fsdp"], {
        "training.local_batch_size": [1, 2, 8], "training.seq_len": [1024, 4096, 8192], "model.flavor": ["debugmodel", "8B"],
        "activation_checkpoint.mode": ["none", "selective", "full"], "training.dtype": ["float32", "bfloat16"],
        "activation_checkpoint.selective_ac_option": ["op", "2"], "training.steps": [10, 1000],
        "parallelism.data_parallel_shard_degree": [-1, 2, 8]}),
    "unsloth": (["unsloth_qlora"], {
        "per_device_train_batch_size": [1, 2, 8], "from_pretrained.max_seq_length": [512, 1000, 4096],
        "get_peft_model.r": [8, 64], "from_pretrained.load_in_4bit": FLAGS, "gradient_accumulation_steps": [1, 4],
        "get_peft_model.use_gradient_checkpointing": ["unsloth", True, False], "packing": FLAGS, "padding_free": FLAGS,
        "optim": ["adamw_8bit", "adamw_torch", "paged_adamw_8bit"], "get_peft_model.lora_dropout": [0, 0.1]}),
}
FOREIGN = {"block_size", "max_seq_length", "seq_length"}  # Of a file a doubt, of --set a mistake where nobody knows it.
HEADROOMS = [[], ["--headroom", "0%"], ["--headroom", "3%"], ["--headroom", "20%"]]
CARDS = ["6GiB", "9.5GiB", "t4", "rtx-4090", "40GiB", "a100-80gb"]
COUNTS = ["", "", "2x", "8x", "2x8x"]
ALONE = {"litgpt", "unsloth"}  # On several GPUs nothing of them is decided.


def config_of(source):
    """The name and the text of a file of examples/, or of the first one of a case."""
    if "/" in source:
        path = ROOT / source
        return path.name, path.read_text()
    case = (ROOT / "tests/cases/estimate" / (source + ".case")).read_text()
    found = re.search(r"^--- file (\S+)\n(.*?)^--- ", case, re.M | re.S)
    return found.group(1), found.group(2)


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.headroom = []  # Of every command; empty: what is usual.

    def json(self, *words):
        done = subprocess.run([self.path, *words], cwd=self.folder, capture_output=True, text=True, timeout=300)
        if done.returncode == 5 or done.returncode < 0:
            raise AssertionError(f"{words}: exit {done.returncode}: {done.stderr}")
        return done.returncode, json.loads(done.stdout)

    def estimate(self, config, card, *more):
        code, out = self.json("estimate", config, "--gpu", card, *self.headroom, "--json", "-q", *more)
        return kind_of(code), out["gpus"][0]["needed"] if out["footprint"] else None

    def gate(self, config, card):
        code, out = self.json("gate", config, "--gpu", card, *self.headroom, "--format", "json")
        check = next(iter(out["configs"][0]["checks"]), None)
        return kind_of(code), figure_of(check)

    def fix(self, config, card):
        more = ["--allow", "expandable-segments", "--json"]
        code, out = self.json("fix", config, "--gpu", card, *self.headroom, *more)
        now = out["now"]
        if not now and any("not even the shortest fit" in one["message"] for one in out["diagnostics"]):
            return "does not fit", None  # Which fix is enough, the rows' length would say.
        return ("fits" if now["fits"] else "does not fit") if now else kind_of(code), figure_of(now)

    def sweep(self, config, card, key, value):
        code, out = self.json("sweep", config, "--gpu", card, *self.headroom, "--over", f"{key}={value}", "--json")
        return kind_of(code), figure_of(next(iter(out["points"]), None))


def kind_of(code):
    return {0: "fits", 1: "does not fit", 2: "usage", 3: "refused", 4: "undecided"}[code]


def figure_of(point):
    """What is needed, where that is a figure and no bound from below."""
    return point["needed"] if point and point["needed"] is not None and not point["at_least"] else None


def differences(program, name, text, key, value, card):
    folder = pathlib.Path(program.folder)
    plain, edited = "plain_" + name, "edited_" + name
    (folder / plain).write_text(text)
    (folder / edited).write_text(with_value(name, text, key, value))
    said = on_command_line(value)
    verdict, needed = program.estimate(edited, card)
    others = {
        "--set": program.estimate(plain, card, "--set", f"{key}={said}"),
        "gate": program.gate(edited, card),
        "fix": program.fix(edited, card),
        "sweep": program.sweep(plain, card, key, said),
    }
    for other_name, (other, figure) in others.items():
        if other != verdict or (verdict == "fits" and figure is not None and figure != needed):
            yield f"estimate: {verdict}, {needed}; {other_name}: {other}, {figure}"


def one_round(program, dice, dialect):
    """A verdict, and what differs on the card and on one that leaves some of it free, but little."""
    sources, settings = DIALECTS[dialect]
    source = dice.choice(sources)
    name, text = config_of(source)
    program.headroom = dice.choice(HEADROOMS)
    key, card = dice.choice(sorted(set(settings) - FOREIGN)), dice.choice(CARDS)
    count = dice.choice(COUNTS) if dialect not in ALONE or dice.random() < 0.1 else ""
    for other in dice.sample(sorted(set(settings) - {key}), dice.randint(0, 3)):
        text = with_value(name, text, other, dice.choice(settings[other]))
    value = dice.choice([one for one in settings[key] if not isinstance(one, list)])  # Brackets are --over's own.
    found = [(count + card, line) for line in differences(program, name, text, key, value, count + card)]
    verdict, needed = program.estimate("edited_" + name, count + card)
    if needed:
        near = f"{count}{int(needed * dice.uniform(1, 1.08)) // 2**20 + 1}MiB"
        found += [(near, line) for line in differences(program, name, text, key, value, near)]
    for on, line in found:
        print(f"{source} on {on} {' '.join(program.headroom)} with {key}={value}: {line}\n{text}", file=sys.stderr)
    return verdict, len(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dialect", choices=DIALECTS, help="this one alone")
    options = parser.parse_args()
    dice = random.Random(options.seed)
    wrong, seen = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        program = Program(str(pathlib.Path(options.program).resolve()), folder)
        for i in range(options.rounds):
            dialect = options.dialect or list(DIALECTS)[i % len(DIALECTS)]
            verdict, differ = one_round(program, dice, dialect)
            wrong += differ
            seen.setdefault(dialect, {}).setdefault(verdict, 0)
            seen[dialect][verdict] += 1
    for dialect, verdicts in seen.items():
        print(f"{dialect}: " + ", ".join(f"{n} {v}" for v, n in sorted(verdicts.items())))
    print(f"{options.rounds} configs, {wrong} differences")
    verdicts = {one for of_dialect in seen.values() for one in of_dialect}
    # A test that never meets one of the verdicts shows nothing about it.
    return 1 if wrong or len(verdicts) < 4 else 0


if __name__ == "__main__":
    sys.exit(main())
