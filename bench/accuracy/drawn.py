#!/usr/bin/env python3
"""Draws configs of trainers at random, and holds estimates against what runs of them took.

    bench/accuracy/drawn.py draw SEED COUNT FOLDER [--sharded]
    bench/accuracy/drawn.py hold FOLDER [--program build/release/oomplan] [--within 0.1]

`draw` writes a folder for each config: config.yaml, model/config.json (a family of tests/data/oracle/families, of few layers) and
case.json (the trainer, whether all rows are of one length, else every second is a token shorter; of SFT's data that are no text, their kind); with `--sharded` also
accelerate.yaml, and deepspeed.json where that names it (launches.py): rank 0 is measured. A prompt before completions is one
token, and a rejected completion as long as the chosen one where rows are alike, a token shorter elsewhere. Whoever runs the trainer on
one leaves a result.json beside it: {"peak": bytes of torch.cuda.max_memory_allocated()} or {"error": why it stopped}. `hold` prints a
line for each, and exits 1 where an estimate is off by more than `--within` per cent: what is found so becomes a case of trainers.py.
"""

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path

import launches
from trainers import ROOT, tensors

FAMILIES = ROOT / "tests/data/oracle/families/models.json"
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
TRAINERS = ["sft", "sft", "dpo", "kto", "reward", "trainer", "orpo", "cpo"]
OPTIMIZERS = ["adamw_torch", "adafactor", "sgd", "adamw_8bit", "paged_adamw_8bit", "paged_adamw_32bit", "lion_32bit", "lion_8bit",
              "paged_lion_32bit", "ademamix", "ademamix_8bit", "paged_ademamix_8bit", "rmsprop", "adagrad"]


def model(dice, models):
    """A family's name, and its config with few layers."""
    name = dice.choice([one for one, of in models.items() if of["arch"] == "causal"])
    config = json.loads(json.dumps(models[name]["config"]))
    layers = dice.choice([2, 3, 4])
    if "layer_types" in config:
        layers = min(len(config["layer_types"]), 4)
        config["layer_types"] = config["layer_types"][:layers]
    config[next((key for key in LAYERS if key in config), LAYERS[0])] = layers
    return name, config


def optional(dice, trainer):
    """Keys that a config may have, and how often: one in so many."""
    rows = [(4, {"max_grad_norm": dice.choice([0.0, 0.5])}), (4, {"attn_implementation": dice.choice(["eager", "sdpa"])}),
            (6, {"torch_empty_cache_steps": 1}), (6, {"use_liger_kernel": True}),
            (5, {"eval_strategy": "steps", "eval_steps": 2, "per_device_eval_batch_size": dice.choice([1, 2, 8])}),
            (3, {"save_strategy": "steps", "save_steps": 2}),
            (2, {"optim": dice.choice(OPTIMIZERS)}), (8, {"bf16_full_eval": True}), (10, {"eval_accumulation_steps": 1})]
    if trainer in ("sft", "dpo", "kto", "reward"):
        rows += [(6, {"pad_to_multiple_of": 64})]
    if trainer in ("sft", "trainer"):
        rows += [(8, {"label_smoothing_factor": 0.1})]
    if trainer == "sft":
        rows += [(5, {"activation_offloading": True}), (6, {"neftune_noise_alpha": 5}),
                 (4, {"packing": True, "packing_strategy": dice.choice(["bfd", "bfd_split", "wrapped"])}),
                 (8, {"packing": True, "attn_implementation": "flash_attention_2"}),
                 (3, {"loss_type": dice.choice(["nll", "dft", "chunked_nll"])})]
    if trainer == "dpo":
        rows += [(3, {"loss_type": [dice.choice(["ipo", "hinge", "robust", "sppo_hard", "apo_zero"])]}),
                 (4, {"precompute_ref_log_probs": True})]
    return {key: value for often, keys in rows if dice.randrange(often) == 0 for key, value in keys.items()}


def adapter(dice, config):
    config |= {"use_peft": True, "lora_r": dice.choice([8, 16, 64]), "lora_target_modules": dice.choice(["all-linear", ["q_proj", "v_proj"]])}
    for often, key, value in ((3, "lora_dropout", 0.1), (5, "use_dora", True), (5, "use_rslora", True)):
        if dice.randrange(often) == 0:
            config[key] = value
    for often, key in ((8, "lora_modules_to_save"), (8, "lora_target_modules")):
        if dice.randrange(often) == 0:
            config[key] = [dice.choice(["lm_head", "embed_tokens"])] + (["q_proj"] if key == "lora_target_modules" else [])
    if config["bf16"] and dice.randrange(3) == 0:
        config |= {"dtype": "bfloat16"} | dice.choice([{"load_in_8bit": True}] + 2 * [{"load_in_4bit": True}])
        if "load_in_4bit" in config and dice.randrange(2) == 0:
            config |= {"use_bnb_nested_quant": True, "bnb_4bit_quant_type": dice.choice(["nf4", "fp4"])}


def config_of(dice, trainer):
    length = dice.choice([256, 512, 777, 1024])
    config = {"model_name_or_path": "./model", "output_dir": "./out", "block_size" if trainer == "trainer" else "max_length": length,
              "per_device_train_batch_size": dice.choice([1, 2, 3, 4]), "gradient_accumulation_steps": dice.choice([1, 1, 2, 4]),
              "dtype": dice.choice(["bfloat16", "bfloat16", "float32"]), "bf16": dice.choice([True, True, False]),
              "gradient_checkpointing": dice.choice([True, False]), "optim": "adamw_torch_fused", "save_strategy": "no"}
    if trainer != "trainer":
        config["dataset_name"] = "my-org/my-data"
    if config["gradient_checkpointing"] and dice.randrange(3) == 0:
        config["gradient_checkpointing_kwargs"] = {"use_reentrant": dice.choice([True, False])}
    if not config["bf16"] and config["dtype"] == "float32" and dice.randrange(3) == 0:
        config["fp16"] = True
    config |= optional(dice, trainer)
    if trainer == "kto":  # Which refuses a batch of one.
        config["per_device_train_batch_size"] = max(2, config["per_device_train_batch_size"])
    if trainer not in ("trainer", "reward") and dice.randrange(2) == 0:
        adapter(dice, config)
    return config


def draw(args):
    dice = random.Random(args.seed)
    models = json.loads(FAMILIES.read_text())
    for number in range(args.count):
        folder = args.folder / f"{args.seed}-{number:03}"
        (folder / "model").mkdir(parents=True)
        trainer = dice.choice(TRAINERS)
        name, of_model = model(dice, models)
        (folder / "model/config.json").write_text(json.dumps(of_model, indent=1))
        config = config_of(dice, trainer)
        if args.sharded:
            launch, zero = launches.launch(dice, config)
            (folder / "accelerate.yaml").write_text(json.dumps(launch, indent=1))
            if zero:
                (folder / launches.ZERO).write_text(json.dumps(zero, indent=1))
        (folder / "config.yaml").write_text(json.dumps(config, indent=1))
        case = {"trainer": trainer, "family": name, "alike": trainer == "trainer" or dice.randrange(2) == 0}
        if trainer == "sft" and dice.randrange(5) == 0:
            case["kind"], key = dice.choice([("messages", "assistant_only_loss"), ("prompt_completion", "completion_only_loss")])
            config[key] = True
            (folder / "config.yaml").write_text(json.dumps(config, indent=1))
        (folder / "case.json").write_text(json.dumps(case))
    return 0


def estimate(program, folder, case):
    """The estimated tensors at the peak, or why there are none."""
    command = [program, "estimate", "config.yaml", "--json", "--trainer", case["trainer"]]
    if (folder / "accelerate.yaml").exists():
        command += ["--launch", "accelerate.yaml"]
    config = json.loads((folder / "config.yaml").read_text())
    padded = config.get("max_length", 0) % config.get("pad_to_multiple_of", 1)
    if case["alike"] and not padded and not config.get("packing"):  # The data's, which no config says.
        command += ["--set", "plan.padding_mask=false"]
    if case.get("kind"):  # The first half of a row is no answer.
        command += ["--set", f"plan.completion_length={config['max_length'] - config['max_length'] // 2}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, text=True)
    answer = json.loads(done.stdout)
    if answer.get("footprint"):
        return tensors(answer["footprint"]["peak"]), ""
    return None, next((one["message"] for one in answer["diagnostics"] if one["severity"] == "error"), "undecided")


def hold(args):
    bad = 0
    for folder in sorted(one.parent for one in args.folder.glob("*/result.json")):
        case, result = (json.loads((folder / name).read_text()) for name in ("case.json", "result.json"))
        program = str(args.program.resolve())
        estimated, why = estimate(program, folder, case)
        line = f"{folder.name} {case['trainer']} {case['family']}:"
        if result.get("error"):
            print(line, "stops:", result["error"][:150], "| estimated" if estimated else "| " + why)
            continue
        if estimated is None:
            print(line, "no estimate:", why)
            continue
        off = 100 * (estimated / result["peak"] - 1)
        bad += abs(off) > args.within
        print(line, f"{result['peak']:,} {off:+.4f} %", "OFF" if abs(off) > args.within else "")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("seed", type=int)
    drawing.add_argument("count", type=int)
    drawing.add_argument("folder", type=Path)
    drawing.add_argument("--sharded", action="store_true", help="with a launcher's config of several processes")
    drawing.set_defaults(run=draw)
    holding = commands.add_parser("hold")
    holding.add_argument("folder", type=Path)
    holding.add_argument("--program", type=Path, default=ROOT / "build/release/oomplan")
    holding.add_argument("--within", type=float, default=0.1, help="per cent")
    holding.set_defaults(run=hold)
    args = parser.parse_args()
    return args.run(args)


if __name__ == "__main__":
    sys.exit(main())
