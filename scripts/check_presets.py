#!/usr/bin/env python3
"""Counts each preset's parameters with transformers, those of torchtune's and litgpt's own models and of diffusers' with
these, and compares with what its file states.

Models are built on the meta device, so nothing is downloaded or allocated. Tied weights count once.
Needs: torch, transformers, pyyaml; diffusers, torchtune, litgpt and timm (Gemma 3n's tower), without which their presets are left out.
"""
import importlib
import pathlib
import sys

import torch
import yaml
from transformers import (AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, AutoModelForMaskedLM,
                          AutoModelForSeq2SeqLM, AutoModelForSpeechSeq2Seq)

PRESETS = pathlib.Path(__file__).resolve().parent.parent / "models" / "presets"
MASKED = {"bert", "mpnet", "roberta", "xlm-roberta", "modernbert", "distilbert", "albert", "deberta-v2", "electra"}
SEQUENCES = {"t5", "mt5", "bart", "mbart", "pegasus", "m2m_100"}


def count(config):
    model_type = config["model_type"]
    keys = {key: value for key, value in config.items() if key not in ("model_type", "torch_dtype")}
    family = (AutoModelForImageTextToText if "vision_config" in config
              else AutoModelForMaskedLM if model_type in MASKED
              else AutoModelForSeq2SeqLM if model_type in SEQUENCES
              else AutoModelForSpeechSeq2Seq if model_type == "whisper" else AutoModelForCausalLM)
    with torch.device("meta"):
        model = family.from_config(AutoConfig.for_model(model_type, **keys))
    model.tie_weights()
    return sum(parameter.numel() for parameter in model.parameters())


def count_built(builder):
    """The model of a builder's path; None where torchtune is not there, or has no such builder."""
    module, _, name = builder.rpartition(".")
    try:
        build = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return None
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in build().parameters())


def count_litgpt(name):
    """litgpt's own model of that name; None where litgpt is not there."""
    try:
        from litgpt.config import Config
        from litgpt.model import GPT
    except ImportError:
        return None
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in GPT(Config.from_name(name)).parameters())


def count_denoiser(config):
    """A model of diffusers; None where that is not there."""
    try:
        import diffusers
    except ImportError:
        return None
    keys = dict(config)
    family = getattr(diffusers, keys.pop("_class_name"))
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in family.from_config(keys).parameters())


def counted_of(file, config):
    if "_class_name" in config:
        return count_denoiser(config)
    if config["model_type"].startswith("torchtune_"):
        return count_built(file.stem)
    if config["model_type"].startswith("litgpt"):
        return count_litgpt(file.stem.removeprefix("litgpt."))
    try:
        return count(config)
    except (ImportError, ValueError):  # Of timm; no class of that family.
        return None


def main():
    wrong = 0
    files = sorted(PRESETS.glob("*.yaml"))
    for file in files:
        preset = yaml.safe_load(file.read_text())
        counted = counted_of(file, preset["config"]) if "parameters" in preset else None
        if counted is None:
            print(f"{file.name}: not counted")
        elif counted != preset["parameters"]:
            wrong += 1
            print(f"{file.name}: states {preset['parameters']:,}, counted are {counted:,}")
    print(f"{len(files)} presets, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
