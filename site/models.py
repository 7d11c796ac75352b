"""Pages of families and GPUs, from models/."""

from data import ROOT, as_written, folder, hub_id
from marked import block, code, listed, one_line, plain, prose, table

LAYERS = ("layers", "block_module", "block_class", "kinds", "stem", "block", "body", "tail", "head", "heads", "language", "tower", "merge",
          "embedded", "processor")


def presets_of(types):
    return [(name, preset) for name, preset in folder("models/presets").items() if preset["config"].get("model_type") in types]


def preset_rows(types):
    rows = []
    for name, preset in presets_of(types):
        others = [*preset.get("aliases", []), *preset.get("variants", {})]
        sources = prose(preset.get("source", ""), "../")
        rows.append([code(hub_id(name)), preset.get("parameters", ""), "<br>".join(map(code, others)), sources])
    return rows


def key_rows(config):
    """A key's type and default, and what else bounds it."""
    rows = []
    for key, of in config.items():
        of = {"type": "", **of}
        default = "must be given" if of.get("required") == "true" else code_of(of.get("default", ""))
        more = {name: value for name, value in of.items() if name not in ("type", "default", "required")}
        rows.append([code(key), plain(of["type"]), default, ", ".join(f"{plain(name)} {code_of(value)}" for name, value in more.items())])
    return rows


def code_of(value):
    if isinstance(value, dict):
        return ", ".join(f"{plain(key)} {code_of(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return " ".join(map(code_of, value))
    return code(value) if value else ""


def trained_with(types, played):
    """What the program says of each model_type that the file is of."""
    return listed([(code(one), plain(played[one])) for one in types if one in played])


def family(name, of, played):
    types = of["model_types"]
    path = ROOT / f"models/architectures/{name}.yaml"
    out = f"# {plain(', '.join(types))}\n\n"
    out += listed([("task", of["task"]), ("source", prose(of["source"], "../")), ("file", code(f"models/architectures/{name}.yaml"))])
    if text := trained_with(types, played):
        out += "## What it can be trained with\n\nOf such features, how many are played:\n\n" + text
    if not_played := of.get("not_played"):
        out += "## Not played\n\n" + table(["key", "switches on"], [[code(k), one_line(v)] for k, v in not_played.items()])
    if counted := of.get("expect"):
        out += "## Counted by\n\n" + table(["model", "parameters"], [[code(k), one_line(v)] for k, v in counted.items()])
    if rows := preset_rows(types):
        out += f"## Models known by name\n\n{len(rows)} files of models/presets.\n\n"
        out += table(["model", "parameters", "also", "source"], rows)
    out += "## Keys of config.json\n\n" + table(["key", "type", "default", "bounds"], key_rows(of["config"]))
    written = as_written(path)
    layers = "\n".join(written[key] for key in LAYERS if key in written)
    return out + "## Layers\n\nAs [catalog.md](../catalog.md) explains them.\n\n" + block(layers, "yaml")


def families(played):
    """{path: text}, with the list of them."""
    known = folder("models/architectures")
    pages = {f"families/{name}.md": family(name, of, played) for name, of in known.items()}
    rows = [[f"[{plain(', '.join(of['model_types']))}]({name}.md)", of["task"], len(presets_of(of["model_types"]))] for name, of in known.items()]
    pages["families/index.md"] = "# Model families\n\nEach is a file of `models/architectures`.\n\n" + table(["model_type", "task", "models"], rows)
    types = {one for of in known.values() for one in of["model_types"]}
    left = {preset["config"].get("model_type", "") for preset in folder("models/presets").values()} - types
    if left:
        head = "# Known by name, not played\n\nModels of these are told by their name, and no number is given.\n\n"
        pages["families/not-played.md"] = head + table(["model", "parameters", "also", "source"], preset_rows(left))
        pages["families/index.md"] += "[Models whose family is not played](not-played.md)\n"
    return pages


def card(name, of):
    generation = folder("models/generations")[of["generation"]]
    out = f"# {plain(of['title'])}\n\n" + listed([
        ("`--gpu`", ", ".join(map(code, [name, *of.get("aliases", [])]))),
        ("memory as sold", f"{of['nominal_gb']} GB"),
        ("memory that CUDA reports", plain(of["total"]) + (f", up to {of['total_highest']}" if "total_highest" in of else "")),
        *([("how that is known", prose(of["evidence"], "../"))] if "evidence" in of else []),
        *([("assumed", prose(of["assumed"], "../"))] if "assumed" in of else []),
        *([("apart from others", prose(of["apart"], "../"))] if "apart" in of else []),
        *([("compute capability", of["compute_capability"])] if "compute_capability" in of else []),
        ("file", code(f"models/gpus/{name}.yaml")),
    ])
    if speed := of.get("speed"):
        rest = [(code(key), prose(value, "../")) for key, value in speed.items()]
        out += "## Speed\n\n" + listed(rest)
    out += f"## {plain(generation['title'])}\n\n"
    return out + listed([(code(key), prose(value, "../")) for key, value in generation.items() if key != "title"])


def cards():
    known = folder("models/gpus")
    pages = {f"gpus/{name}.md": card(name, of) for name, of in known.items()}
    rows = [[f"[{name}]({name}.md)", plain(of["title"]), f"{of['nominal_gb']} GB", plain(of["total"])] for name, of in known.items()]
    pages["gpus/index.md"] = "# GPUs\n\nEach is a file of `models/gpus`.\n\n" + table(["`--gpu`", "card", "sold as", "CUDA reports"], rows)
    return pages
