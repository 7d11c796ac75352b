#!/usr/bin/env python3
"""How long an estimate of each family takes, held against that of a plain model (Llama) of its depth.

    bench/speed/families.py [--program build/release/oomplan] [--length 4096] [--runs 3] [--only NAME]... [--limit 2]

Of each architecture with a checkpoint under `expect:` the first is estimated as transformers' Trainer would train it,
full and checkpointed, beside a Llama of as many layers (those of all its parts) and of the same length. A model that
sees images has one a row; one whose positions end before `--length` has rows as long as it takes. Whole processes, in
turns; the least CPU time of the runs counts, whatever else the machine does. Exit is 1 where one takes more than `--limit` times as long as the plain one. A
family that gets no answer is listed with what was said instead.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
DEPTHS = {"num_hidden_layers", "n_layer", "n_layers", "num_layers", "depth", "encoder_layers", "decoder_layers",
          "num_decoder_layers", "vision_num_layers", "num_global_layers"}
LISTS = {"depths": sum, "layers_block_type": len}
PLAIN = {"model_type": "llama", "torch_dtype": "bfloat16", "vocab_size": 32000, "hidden_size": 4096,
         "intermediate_size": 11008, "num_attention_heads": 32, "num_key_value_heads": 32,
         "max_position_embeddings": 1 << 20}
LENGTHS = [2048, 1024, 512, 448]
IMAGES = [[], ["images=1", "image_height=336", "image_width=336"], ["images=0"]]


def depth_of(config, counted):
    """Of all parts of the model; `counted`: what the program says of it, where the config leaves that out."""
    return max(layers_in(config), counted)


def layers_in(config):
    own = sum(value for key, value in config.items() if key in DEPTHS and isinstance(value, int))
    own += sum(LISTS[key](value) for key, value in config.items() if key in LISTS and isinstance(value, list))
    return own + sum(layers_in(value) for value in config.values() if isinstance(value, dict))


def timed(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def preset_of(name):
    return ROOT / "models/presets" / (name.replace("/", "--") + ".yaml")


class Bench:
    def __init__(self, program, folder):
        self.program, self.folder, self.counted = program, folder, 0

    def command(self, model, length, images):
        config = Path(self.folder, "run.json")
        config.write_text(json.dumps({"model_name_or_path": model, "per_device_train_batch_size": 1, "bf16": True,
                                      "gradient_checkpointing": True}))
        settings = [f"sequence_length={length}", *images]
        return [self.program, "estimate", str(config), "--trainer", "trainer", "--gpu", "h200", "-q",
                *(part for one in settings for part in ("--set", one))]

    def plain(self, depth):
        model = Path(self.folder, f"plain-{depth}")
        model.mkdir(exist_ok=True)
        (model / "config.json").write_text(json.dumps({**PLAIN, "num_hidden_layers": max(depth, 1)}))
        return str(model)

    def answered(self, model, longest):
        """The settings that this model gets an answer with, the first of them, and what was said without."""
        first = ""
        for length in [longest, *(one for one in LENGTHS if one < longest)]:
            for images in IMAGES:
                _, done = timed([part for part in self.command(model, length, images) if part != "-q"])
                if done.returncode in (0, 1):
                    self.counted = int((re.search(r", (\d+) layers\)", done.stdout) or [0, 0])[1])
                    return length, images, ""
                first = first or next((line for line in done.stderr.splitlines() if "error" in line), "")
        return 0, [], first


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build/release/oomplan"))
    parser.add_argument("--length", type=int, default=4096)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--limit", type=float, default=2)
    options = parser.parse_args()
    slow = answered = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.program, folder)
        for file in sorted((ROOT / "models/architectures").glob("*.yaml")):
            architecture = yaml.safe_load(file.read_text())
            name = next((one for one in architecture.get("expect", {}) if preset_of(one).exists()), None)
            if name is None or (options.only and file.stem not in options.only):
                continue
            length, images, said = bench.answered(name, options.length)
            if length == 0:
                print(f"{file.stem:22} {name:50} {said[:110]}", flush=True)
                continue
            depth = depth_of(yaml.safe_load(preset_of(name).read_text())["config"], bench.counted)
            own, beside = [], []
            for _ in range(options.runs):
                own.append(timed(bench.command(name, length, images))[0])
                beside.append(timed(bench.command(bench.plain(depth), length, []))[0])
            ratio = min(own) / min(beside)
            answered += 1
            slow += ratio > options.limit
            print(f"{file.stem:22} {name:50} {depth:4} layers, {length:5} tokens {min(own) * 1e3:9.1f} ms {ratio:7.2f}"
                  + ("  **slow**" if ratio > options.limit else ""), flush=True)
    print(f"{answered} families answered, {slow} over {options.limit:g} times a plain one")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
