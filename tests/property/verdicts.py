#!/usr/bin/env python3
"""One config on one card has one verdict, whichever command is asked: `estimate`, `gate`, `fix` and `sweep` agree, and so
do a value that --set gives and the same value written into the file. The real examples with random settings.
usage: verdicts.py --program build/release/oomplan [--rounds 60] [--seed 1]"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["true", "false"]
SETTINGS = {
    "axolotl": {
        "micro_batch_size": [1, 2, 3, 8], "sequence_len": [512, 1000, 4096], "lora_r": [8, 64],
        "gradient_checkpointing": FLAGS, "sample_packing": FLAGS, "eval_sample_packing": FLAGS,
        "eval_batch_size": [1, 4, 16], "eval_sequence_len": [512, 4096], "evals_per_epoch": [0, 1, 4],
        "val_set_size": [0, 0.1], "do_bench_eval": FLAGS, "rl": ["dpo", "null"], "max_seq_length": [4096],
        "gradient_accumulation_steps": [1, 4], "optimizer": ["adamw_torch_fused", "adamw_8bit"]},
    "trl": {
        "per_device_train_batch_size": [1, 2, 3, 16], "max_length": [256, 1000, 4096, "null"], "lora_r": [8, 64],
        "gradient_checkpointing": FLAGS, "packing": FLAGS, "padding_free": FLAGS, "eval_strategy": ["'no'", "steps"],
        "per_device_eval_batch_size": [1, 8, 64], "trainer": ["sft", "trainer", "dpo"], "block_size": [512, 1024],
        "lora_target_modules": ["[q_proj, v_proj]", "[q_proj, lm_head]", "all-linear"], "seq_length": [77],
        "load_in_4bit": FLAGS, "optim": ["adamw_torch", "sgd"], "metric_for_best_model": ["loss", "accuracy"]},
    "oomplan": {
        "micro_batch_size": [1, 3, 16], "sequence_length": [128, 1000, 1024], "padding_mask": FLAGS,
        "autocast": ["none", "bf16"], "optimizer": ["adamw_fused", "sgd"], "gradient_checkpointing": FLAGS,
        "evaluates": FLAGS, "evaluation_rows": [0, 1, 64], "evaluation_length": [0, 512], "trainer": ["trainer", "dpo"],
        "loss": ["full_logits", "chunked_logprob"], "block_size": [512]},
}
FOREIGN = {"block_size", "max_seq_length", "seq_length"}  # Of a file a doubt, of --set a mistake where nobody knows it.
HEADROOMS = [[], ["--headroom", "0%"], ["--headroom", "3%"], ["--headroom", "20%"]]
CARDS = ["6GiB", "9.5GiB", "rtx-4090", "40GiB", "a100-80gb"]


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
        return ("fits" if now["fits"] else "does not fit") if now else kind_of(code), figure_of(now)

    def sweep(self, config, card, key, value):
        code, out = self.json("sweep", config, "--gpu", card, *self.headroom, "--over", f"{key}={value}", "--json")
        return kind_of(code), figure_of(next(iter(out["points"]), None))


def kind_of(code):
    return {0: "fits", 1: "does not fit", 2: "usage", 3: "refused", 4: "undecided"}[code]


def figure_of(point):
    """What is needed, where that is a figure and no bound from below."""
    return point["needed"] if point and point["needed"] is not None and not point["at_least"] else None


def with_value(text, key, value):
    lines = [line for line in text.splitlines() if not line.startswith(key + ":")]
    written = '"no"' if value == "no" else value  # YAML 1.1 takes a bare one for false.
    return "\n".join(lines) + f"\n{key}: {written}\n"


def differences(program, text, key, value, card):
    folder = pathlib.Path(program.folder)
    (folder / "plain.yaml").write_text(text)
    (folder / "edited.yaml").write_text(with_value(text, key, value))
    verdict, needed = program.estimate("edited.yaml", card)
    others = {
        "--set": program.estimate("plain.yaml", card, "--set", f"{key}={value}"),
        "gate": program.gate("edited.yaml", card),
        "fix": program.fix("edited.yaml", card),
        "sweep": program.sweep("plain.yaml", card, key, value),
    }
    for name, (other, figure) in others.items():
        if other != verdict or (verdict == "fits" and figure is not None and figure != needed):
            yield f"estimate: {verdict}, {needed}; {name}: {other}, {figure}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    dice = random.Random(options.seed)
    examples = [(folder, path) for folder in SETTINGS for path in sorted((ROOT / "examples" / folder).glob("*.y*ml"))]
    wrong, seen = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        program = Program(str(pathlib.Path(options.program).resolve()), folder)
        for _ in range(options.rounds):
            kind, path = dice.choice(examples)
            text = path.read_text()
            program.headroom = dice.choice(HEADROOMS)
            key, card = dice.choice(sorted(set(SETTINGS[kind]) - FOREIGN)), dice.choice(CARDS)
            for other in dice.sample(sorted(set(SETTINGS[kind]) - {key}), dice.randint(0, 3)):
                text = with_value(text, other, dice.choice(SETTINGS[kind][other]))
            value = dice.choice(SETTINGS[kind][key])
            if isinstance(value, str) and value[:1] in "'[":
                value = value.strip("'") if value[:1] == "'" else "all-linear"  # Brackets and quotes are --over's own.
            for line in differences(program, text, key, value, card):
                wrong += 1
                print(f"{path.name} on {card} with {key}={value}: {line}\n{text}", file=sys.stderr)
            verdict, needed = program.estimate("edited.yaml", card)
            if needed:  # A card that leaves some of it free, but little.
                near = f"{int(needed * dice.uniform(1, 1.08)) // 2**20 + 1}MiB"
                for line in differences(program, text, key, value, near):
                    wrong += 1
                    print(f"{path.name} on {near} with {key}={value}: {line}\n{text}", file=sys.stderr)
            seen[verdict] = seen.get(verdict, 0) + 1
    print(f"{options.rounds} configs, {wrong} differences; " + ", ".join(f"{n} {v}" for v, n in sorted(seen.items())))
    # A test that never meets one of the verdicts shows nothing about it.
    return 1 if wrong or len(seen) < 4 else 0


if __name__ == "__main__":
    sys.exit(main())
