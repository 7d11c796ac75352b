#!/usr/bin/env python3
"""Writes presets from models' configs.

    scripts/add_presets.py [--types TYPE,...] [--quantized ID,...] CONFIGS...

A file is a config.json, named after its hub id with `--` for the slash (or in a folder of that name), or a list of
{"id", "config", "parameters"} and {"id", "same_as", "reason"}. Only the keys that the architecture's file reads are
written. An id that a preset has already is left alone, copies of it are added to its aliases; an upload in another form
(quantised, or of a model in fp32, whose uploads often are not) is no alias. A quantised copy that `--quantized` names gets a
preset of its own: the original's, with what its name or `reason` says of the weights. Then run check_presets.py.
"""
import argparse
import json
import pathlib
import re
import sys

import yaml

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
OTHER_FORM = re.compile(r"quanti[sz]ed|awq|gptq|aqlm|bnb|[48]-?bit|fp8|fp4|gguf|int4|int8|exl2|head|reward|dtype|adapter|"
                        r"lora|vocabulary|written so|sparse|single linear|trained from", re.I)

METHODS = {"gptq": "gptq", "awq": "awq", "aqlm": "aqlm", "nvfp4": "nvfp4", "bnb": "bitsandbytes", "bitsandbytes": "bitsandbytes"}


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


def is_alias(entry, base):
    """A copy of the same weights in the same form."""
    reason = entry.get("reason", "").replace("re-upload or quantized weights", "re-upload")
    return entry.get("same_as") == base and not OTHER_FORM.search(entry["id"] + " " + reason)


def add_aliases(file, aliases):
    text = file.read_text()
    have = yaml.safe_load(text).get("aliases", [])
    lines = "".join(f"  - {name}\n" for name in sorted([*have, *aliases]))
    rest = text[text.index("parameters:"):]
    file.write_text("aliases:\n" + lines + rest)


def preset(entry, aliases, keys, nested, switches):
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
    if "quantization_config" in config:
        kept["quantization_config"] = {"quant_method": config["quantization_config"].get("quant_method", "unknown")}
    out = {"aliases": aliases} if aliases else {}
    if entry.get("parameters"):
        out["parameters"] = entry["parameters"]
    return out | {"config": kept}


def add_copies(entries, known):
    """Ids that are copies of a model which has a preset already."""
    more = {}
    for entry in entries:
        file = known.get(str(entry.get("same_as")).lower())
        if file is None or entry["id"].lower() in known or not is_alias(entry, entry["same_as"]):
            continue
        config = yaml.safe_load(file.read_text())["config"]
        if config.get("torch_dtype", "float32") == "float32" or "quantization_config" in config:
            continue
        more.setdefault(file, {})[entry["id"].lower()] = entry["id"]
    for file, names in more.items():
        add_aliases(file, names.values())
    return sum(len(names) for names in more.values())


def add_quantized(entries, known, wanted):
    """Copies in quantised form, by the words in their names or reasons."""
    written = 0
    for entry in entries:
        base = known.get(str(entry.get("same_as")).lower())
        if entry["id"] not in wanted or base is None or entry["id"].lower() in known:
            continue
        said = (entry["id"] + " " + entry.get("reason", "")).lower()
        method = next((method for word, method in METHODS.items() if word in said), None)
        if method is None:
            sys.exit(f"{entry['id']}: nothing says how it is quantised")
        data = yaml.safe_load(base.read_text())
        data.pop("aliases", None)
        data["config"]["quantization_config"] = {"quant_method": method}
        path = MODELS / "presets" / (entry["id"].replace("/", "--", 1) + ".yaml")
        path.write_text(yaml.dump(data, Dumper=Indented, sort_keys=False, width=120))
        print(f"{path.name}: {base.stem} in {method}")
        written += 1
    return written


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--types", help="only these model_types, separated by commas")
    parser.add_argument("--quantized", default="", help="ids of quantised copies, separated by commas")
    parser.add_argument("configs", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    read = architectures()
    wanted = options.types.split(",") if options.types else list(read)
    entries = [entry for path in options.configs for entry in entries_of(path)]
    known = {}
    for file in (MODELS / "presets").glob("*.yaml"):
        known[file.stem.replace("--", "/", 1).lower()] = file
        for alias in yaml.safe_load(file.read_text()).get("aliases", []):
            known[alias.lower()] = file
    written = 0
    for entry in entries:
        config = entry.get("config")
        if config is None or config.get("model_type") not in wanted or config["model_type"] not in read:
            continue
        if entry["id"].lower() in known:
            continue
        if OTHER_FORM.search(entry["id"]) and "quantization_config" not in config:
            continue  # Named so, and the config does not say how.
        in_fp32 = (dtype_of(config) or "float32") == "float32" or "quantization_config" in config
        aliases = sorted({e["id"].lower(): e["id"] for e in entries if is_alias(e, entry["id"]) and not in_fp32
                          and e["id"].lower() not in known}.values())
        path = MODELS / "presets" / (entry["id"].replace("/", "--", 1) + ".yaml")
        data = preset(entry, aliases, *read[config["model_type"]])
        path.write_text(yaml.dump(data, Dumper=Indented, sort_keys=False, width=120))
        for name in [entry["id"], *aliases]:
            known[name.lower()] = path
        written += 1
        print(f"{path.name}: {config['model_type']}, {entry.get('parameters', 'no count')}, {len(aliases)} aliases")
    written += add_quantized(entries, known, options.quantized.split(","))
    print(f"{written} presets written, {add_copies(entries, known)} ids added to others")
    return 0


if __name__ == "__main__":
    sys.exit(main())
