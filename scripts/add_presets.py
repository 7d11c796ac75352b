#!/usr/bin/env python3
"""Writes presets from models' configs.

    scripts/add_presets.py [--types TYPE,...] CONFIGS...

A file is a config.json, named after its hub id with `--` for the slash (or in a folder of that name), or a list of
{"id", "config", "parameters"} and {"id", "same_as", "reason"}. Only the keys that the architecture's file reads are
written; of a family that no file plays its name, and whether its code comes with the checkpoint. An id that a preset has
already is left alone. An id of the same sizes goes into the file of the one that it names: into its aliases, or into its
variants where its name or `reason` says what is different. Then run check_presets.py.
"""
import argparse
import json
import pathlib
import re
import sys

import yaml

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
# What a name or a reason says of the weights, the first that is there.
METHODS = {"nvfp4": "nvfp4", "mxfp4": "mxfp4", "gptq": "gptq", "awq": "awq", "aqlm": "aqlm", "fp8": "fp8", "bnb": "bitsandbytes",
           "bitsandbytes": "bitsandbytes", "4bit": "bitsandbytes", "4-bit": "bitsandbytes", "int4": "int4"}
NOT_PLAYED = {"adapter": "an adapter on {base}", "lora": "an adapter on {base}",
              "vocabulary": "a vocabulary that was not seen", "no lm_head": "a vocabulary that was not seen",
              "mamba_ssm": "a config.json that mamba_ssm alone reads",
              "single linear": "code that comes with the checkpoint, whose experts are linear layers of their own,"}


# What the text models are a part of.
WHOLES = {"mistral4": "mistral3", "ministral3": "mistral3"}


def architectures():
    """The keys that each model_type reads."""
    out = {}
    for file in (MODELS / "architectures").glob("*.yaml"):
        data = yaml.safe_load(file.read_text())
        keys, nested = [], []
        for key, declaration in data["config"].items():
            aliases = declaration.get("aliases", [])
            keys += [key] + [alias for alias in aliases if "." not in alias]
            nested += [alias.split(".", 1) for alias in aliases if "." in alias]
        rules = [rule for rules in data.get("kinds", {}).values() for rule in rules]
        lists = [rule[word] for rule in rules for word in ("key", "listed") if word in rule]
        for model_type in data["model_types"]:
            out[model_type] = (keys + lists, nested, list(data.get("not_played", {})))
    for file in (MODELS / "architectures").glob("*.yaml"):
        data = yaml.safe_load(file.read_text())
        if "language" not in data:
            continue
        # A model of parts: their mappings whole, and of a flat config the language model's keys.
        own, nested, switches = out[data["model_types"][0]]
        flat = out[data["language"]["model_type"]][0] if data["language"].get("flat") else []
        parts = [data[part]["key"] for part in ("language", "tower", "silent") if part in data]
        out[data["model_types"][0]] = (own + ["tie_word_embeddings"] + parts + flat, nested, switches)
    return out


def entries_of(path):
    data = json.loads(path.read_text())
    if isinstance(data, list):
        return data
    name = path.stem if path.stem != "config" else path.parent.name
    return [{"id": name.replace("--", "/", 1), "config": data}]


class Indented(yaml.SafeDumper):
    def increase_indent(self, flow=False, indentless=False):
        return super().increase_indent(flow, False)


def dtype_of(config):
    """Of the whole, or of the language model that is its greater part."""
    text = config.get("text_config")
    parts = [config, text if isinstance(text, dict) else {}]
    return next((part[key] for part in parts for key in ("torch_dtype", "dtype") if part.get(key)), None)


def differs(entry, base):
    """What is different of a copy of `base`, a preset's config: keys of its config.json, a text, or nothing."""
    said = (entry["id"] + " " + entry.get("reason", "")).lower().replace("re-upload or quantized weights", "")
    for word, what in NOT_PLAYED.items():
        if word in said:
            return what.format(base=entry["same_as"])
    method = next((method for word, method in METHODS.items() if word in said), None)
    if method:
        return {"quantization_config": {"quant_method": method}}
    if "bf16" in said and "quantization_config" in base:
        return {"quantization_config": None}
    # Heads are trained and saved in any dtype, and so are copies of a model in fp32.
    if "head" in said or "reward" in said or (dtype_of(base) or "float32") == "float32":
        return {"torch_dtype": "unseen"}
    return None


def write(path, data):
    """Variants stand on a line each."""
    variants = data.pop("variants", {})
    text = yaml.dump(data, Dumper=Indented, sort_keys=False, width=120)
    lines = ["variants:"] + [f"  {name}: {json.dumps(variants[name]) if isinstance(variants[name], str) else flow(variants[name])}"
                             for name in sorted(variants, key=str.lower)]
    at = re.search(r"^(not_played|parameters|config):", text, re.M).start()
    path.write_text(text[:at] + ("\n".join(lines) + "\n" if variants else "") + text[at:])


def flow(mapping):
    return yaml.dump(mapping, default_flow_style=True, width=1000).strip()


def whole(entry):
    """Of a checkpoint that sees images, of which only the text part was seen."""
    config = entry["config"]
    of_text = {"model_type": WHOLES[config["model_type"]], "torch_dtype": dtype_of(config), "text_config": config}
    return {"id": entry["id"], "config": of_text}


def preset(entry, keys, nested, switches):
    config = entry["config"]
    kept = {"model_type": config["model_type"]}
    dtype = dtype_of(config)
    if dtype:
        kept["torch_dtype"] = dtype
    kept |= {key: config[key] for key in keys if key in config and config[key] != []}
    kept |= {key: config[key] for key in switches if config.get(key)}
    for mapping, key in nested:
        if isinstance(config.get(mapping), dict) and key in config[mapping]:
            kept.setdefault(mapping, {})[key] = config[mapping][key]
    method = config.get("quantization_config", {}).get("quant_method") or next(
        (method for word, method in METHODS.items() if word in entry["id"].lower()), None)
    if method:
        kept["quantization_config"] = {"quant_method": method}
    # Of a class without a head, or with another, the count is not the model's that is trained.
    counted = entry.get("parameters") and re.search("ForCausalLM|ForConditionalGeneration|ForMaskedLM|LMHead|^$",
                                                    config.get("architectures", [""])[0])
    out = {"parameters": entry["parameters"]} if counted else {}
    return out | {"config": kept}


def family(entry):
    """Of a model that nothing here plays."""
    config = entry["config"]
    kept = {"model_type": config["model_type"]}
    if "auto_map" in config or "no class for it" in entry.get("not_counted", ""):
        kept["auto_map"] = config.get("auto_map") or {"AutoModelForCausalLM": config.get("architectures", ["unseen"])[0]}
    return {"config": kept}


def add_copies(entries, known):
    """Ids of the same sizes as a model which has a preset."""
    more, added = {}, 0
    for entry in entries:
        file = known.get(str(entry.get("same_as")).lower())
        if file is None or entry["id"].lower() in known:
            continue
        data = more.setdefault(file, yaml.safe_load(file.read_text()))
        what = differs(entry, data["config"] | data.get("variants", {}).get(entry["same_as"], {}))
        if what is None:
            data = {"aliases": sorted([*data.get("aliases", []), entry["id"]])} | {k: v for k, v in data.items() if k != "aliases"}
            more[file] = data
        else:
            data.setdefault("variants", {})[entry["id"]] = what
        known[entry["id"].lower()] = file
        added += 1
    for file, data in more.items():
        write(file, data)
    return added


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--types", help="only these model_types, separated by commas")
    parser.add_argument("configs", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    read = architectures()
    entries = [entry for path in options.configs for entry in entries_of(path)]
    types = {entry["config"]["model_type"] for entry in entries if "config" in entry}
    wanted = options.types.split(",") if options.types else types
    known = {}
    for file in (MODELS / "presets").glob("*.yaml"):
        data = yaml.safe_load(file.read_text())
        for name in [file.stem.replace("--", "/", 1), *data.get("aliases", []), *data.get("variants", {})]:
            known[name.lower()] = file
    written = 0
    for entry in entries:
        config = entry.get("config")
        if config is None or config["model_type"] not in wanted or entry["id"].lower() in known:
            continue
        path = MODELS / "presets" / (entry["id"].replace("/", "--", 1) + ".yaml")
        is_part = "text part only" in entry.get("note", "")
        entry = whole(entry) if is_part else entry
        own = read.get(entry["config"]["model_type"])
        unseen = {"not_played": "a tower that sees images, whose sizes were not seen,"} if is_part else {}
        write(path, unseen | preset(entry, *own) if own else family(entry))
        known[entry["id"].lower()] = path
        written += 1
        print(f"{path.name}: {config['model_type']}, {entry.get('parameters', 'no count')}")
    print(f"{written} presets written, {add_copies(entries, known)} ids added to others")
    return 0


if __name__ == "__main__":
    sys.exit(main())
