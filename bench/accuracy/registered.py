#!/usr/bin/env python3
"""Where transformers' models have the RMS norms of their blocks among named_parameters(), which
src/estimate/registered.cpp has a rule for.

    VENV/bin/python bench/accuracy/registered.py

Builds each model type of models/architectures that AutoModelForCausalLM can make of its own defaults, with two layers,
without memory. Needs transformers and PyYAML.
"""

import pathlib
import sys

import torch
import transformers
import yaml
from transformers import AutoConfig, AutoModelForCausalLM

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "models" / "architectures"


def model_of(model_type):
    config = AutoConfig.for_model(model_type)
    for key in ("num_hidden_layers", "n_layer", "num_layers", "n_layers"):
        if hasattr(config, key):
            setattr(config, key, 2)
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[:2]
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config)


def is_last(model, block):
    """Whether its norms stand behind all other parameters of the block; None where it has no such norm."""
    modules = dict(model.named_modules())
    kinds = []
    for name, _ in model.named_parameters():
        if not name.startswith(block + "."):
            continue
        module = name.rsplit(".", 1)[0]
        direct = module.count(".") == block.count(".") + 1
        norm = "Norm" in type(modules[module]).__name__
        kinds.append(direct and norm and not isinstance(modules[module], torch.nn.LayerNorm))
    return kinds == sorted(kinds) if any(kinds) else None


def main():
    transformers.logging.set_verbosity_error()
    behind, others, without, unmade = [], [], [], []
    for path in sorted(FOLDER.glob("*.yaml")):
        file = yaml.safe_load(path.read_text())
        for model_type in file["model_types"] if file.get("task") == "causal_lm" else ():
            try:
                last = is_last(model_of(model_type), file["block_module"] + ".1")
            except Exception:  # Its defaults make no model of two layers, or none of text alone.
                unmade.append(model_type)
                continue
            (without if last is None else behind if last else others).append(model_type)
    print(f"behind all else: {len(behind)}: {' '.join(behind)}")
    print(f"elsewhere: {len(others)}: {' '.join(others)}")
    print(f"no RMS norm of a block's own: {len(without)}: {' '.join(without)}")
    print(f"not made: {len(unmade)}: {' '.join(unmade)}")


if __name__ == "__main__":
    sys.exit(main())
