#!/usr/bin/env python3
"""Writes the fields of the frameworks' argument classes, as their sources have them, for the tests of the key files, and
what transformers' models say of themselves, for the tests of models/architectures.

    scripts/framework_keys.py FOLDER OUT

FOLDER holds the packages beside their .dist-info, as site-packages does or an unpacked wheel. Each class that is found
there becomes OUT/PACKAGE-VERSION.CLASS.txt, a field a line; OUT/transformers-VERSION.models.txt has the model_types without sdpa
and those whose config has output_router_logits and router_aux_loss_coef. Nothing is imported: sources are parsed, base classes
followed through imports within FOLDER.
"""

import ast
import pathlib
import re
import sys

# Modules and classes in them, and under which name those of them are written that have a namesake.
CLASSES = {
    "transformers": [
        "training_args:TrainingArguments",
        "training_args_seq2seq:Seq2SeqTrainingArguments",
    ],
    "trl": [
        "trainer.sft_config:SFTConfig",
        "trainer.model_config:ModelConfig",
        "scripts.utils:ScriptArguments",
        "scripts.utils:DatasetMixtureConfig",
    ],
    "axolotl": ["utils.schemas.config:AxolotlInputConfig"],
    "llamafactory": [
        "hparams.model_args:ModelArguments",
        "hparams.data_args:DataArguments",
        "hparams.training_args:TrainingArguments",
        "hparams.finetuning_args:FinetuningArguments",
        "hparams.generating_args:GeneratingArguments",
        "v1.config.model_args:ModelArguments:v1.ModelArguments",
        "v1.config.data_args:DataArguments:v1.DataArguments",
        "v1.config.training_args:TrainingArguments:v1.TrainingArguments",
        "v1.config.sample_args:SampleArguments:v1.SampleArguments",
    ],
}
PLUGINS = {"axolotl": "integrations/*/args.py"}


class Package:
    def __init__(self, root):
        self.root = root
        self.parsed = {}

    def tree(self, path):
        if path not in self.parsed:
            self.parsed[path] = ast.parse(path.read_text(encoding="utf-8"))
        return self.parsed[path]

    def file_of(self, module):
        path = self.root.joinpath(*module.split("."))
        return next((p for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file()), None)

    def find(self, module, name):
        """The file and the definition of a class, through imports and packages that load lazily."""
        path = self.file_of(module)
        if path is None:
            package = module.split(".")[0]
            return self.find(package, name) if package != module else None
        for node in self.tree(path).body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                return path, node
        return self.through_imports(path, module, name) or self.anywhere(module.split(".")[0], name)

    def through_imports(self, path, module, name):
        for node in ast.walk(self.tree(path)):
            if not isinstance(node, ast.ImportFrom):
                continue
            for alias in node.names:
                if (alias.asname or alias.name) != name:
                    continue
                parts = module.split(".")
                keep = len(parts) - node.level + (1 if path.name == "__init__.py" else 0)
                base = parts[:keep] if node.level else []
                found = self.find(".".join(base + (node.module.split(".") if node.module else [])), alias.name)
                if found:
                    return found
        return None

    def anywhere(self, package, name):
        for path in sorted((self.root / package).rglob("*.py")):
            if not re.search(rf"^class {name}[(:]", path.read_text(encoding="utf-8"), re.MULTILINE):
                continue
            for node in self.tree(path).body:
                if isinstance(node, ast.ClassDef) and node.name == name:
                    return path, node
        return None

    def fields(self, module, name, seen=None):
        seen = seen if seen is not None else set()
        found = self.find(module, name)
        if found is None or id(found[1]) in seen:
            return set()
        path, node = found
        seen.add(id(node))
        out = own_fields(node)
        here = ".".join(path.relative_to(self.root).with_suffix("").parts).removesuffix(".__init__")
        for base in node.bases:
            if isinstance(base, ast.Name):
                out |= self.fields(here, base.id, seen)
        return out


def own_fields(node):
    out = set()
    for line in node.body:
        if not isinstance(line, ast.AnnAssign) or not isinstance(line.target, ast.Name):
            continue
        if line.target.id.startswith("_") or "ClassVar" in ast.unparse(line.annotation):
            continue
        out.add(line.target.id)
        for keyword in getattr(line.value, "keywords", []):
            if keyword.arg == "alias" and isinstance(keyword.value, ast.Constant):
                out.add(keyword.value.value)
    return out


def version_of(root, package):
    found = sorted(root.glob(f"{package}-*.dist-info"))
    return found[0].name.removeprefix(package + "-").removesuffix(".dist-info") if found else None


def write(out, package, version, name, fields):
    path = out / f"{package}-{version}.{name}.txt"
    path.write_text("".join(f"{field}\n" for field in sorted(fields)), encoding="utf-8")
    print(f"{path.name}: {len(fields)} fields")


def plugin_fields(package, root, name):
    out = set()
    for path in sorted((root / name).glob(PLUGINS[name])):
        for node in package.tree(path).body:
            if isinstance(node, ast.ClassDef):
                out |= own_fields(node)
    return out


def assigned(node):
    """The names that a class's body gives a value, and the values."""
    for line in node.body:
        for target in line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]:
            if isinstance(target, ast.Name):
                yield target.id, getattr(line, "value", None)


def classes_in(package, path):
    return [node for node in package.tree(path).body if isinstance(node, ast.ClassDef)] if path.is_file() else []


def without_sdpa(package, modeling):
    """Whether the file's own PreTrainedModel leaves _supports_sdpa at transformers' False."""
    for node in classes_in(package, modeling):
        if any(isinstance(base, ast.Name) and base.id == "PreTrainedModel" for base in node.bases):
            value = dict(assigned(node)).get("_supports_sdpa")
            return value is None or ast.unparse(value) == "False"
    return False


def model_lines(package, folder):
    for configuration in sorted(folder.glob("*/configuration_*.py")):
        modeling = configuration.with_name(configuration.name.replace("configuration_", "modeling_"))
        for node in classes_in(package, configuration):
            values = dict(assigned(node))
            if "model_type" not in values:
                continue
            model_type = ast.literal_eval(values["model_type"])
            if without_sdpa(package, modeling):
                yield f"{model_type} no_sdpa"
            for key in ("output_router_logits", "router_aux_loss_coef"):
                if key in values:
                    yield f"{model_type} {key}"


def main(folder, out):
    root, out = pathlib.Path(folder), pathlib.Path(out)
    package = Package(root)
    for name, classes in CLASSES.items():
        version = version_of(root, name)
        if version is None:
            continue
        for spec in classes:
            module, cls, *called = spec.split(":")
            write(out, name, version, *(called or [cls]), package.fields(f"{name}.{module}", cls))
        if name in PLUGINS:
            write(out, name, version, "plugins", plugin_fields(package, root, name))
        if name == "transformers":
            write(out, name, version, "models", set(model_lines(package, root / name / "models")))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
