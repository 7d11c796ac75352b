"""Values written into configs as their users would: YAML, TOML, and the calls of a script."""
import json
import re


def yaml(value):
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, list):
        return "[" + ", ".join(value) + "]"
    return '"no"' if value == "no" else str(value)  # YAML 1.1 takes a bare one for false.


def in_yaml(text, key, value):
    outer, _, inner = key.rpartition(".")
    if not outer:
        lines = [line for line in text.splitlines() if not line.startswith(key + ":")]
        return "\n".join(lines) + f"\n{key}: {yaml(value)}\n"
    lines = text.splitlines()
    at = next((i for i, line in enumerate(lines) if line.startswith(outer + ":")), None)
    if at is None:
        return text + f"\n{outer}:\n  {inner}: {yaml(value)}\n"
    if "{" in lines[at]:  # In flow style.
        without = re.sub(rf"(, )?\b{inner}: [^,}}]*", "", lines[at])
        lines[at] = without.replace("}", f", {inner}: {yaml(value)}}}").replace("{, ", "{")
        return "\n".join(lines) + "\n"
    end = at + 1
    while end < len(lines) and (lines[end].startswith("  ") or not lines[end].strip()):
        end += 1
    body = lines[at + 1:end]
    kept = [line for line in body if not re.match(rf"  {inner}:( |$)", line)]
    return "\n".join(lines[:at + 1] + [f"  {inner}: {yaml(value)}"] + kept + lines[end:]) + "\n"


def in_toml(text, key, value):
    section, _, inner = key.rpartition(".")
    written = f"{inner} = {json.dumps(value)}"
    lines = text.splitlines()
    if f"[{section}]" not in lines:
        return text + f"\n[{section}]\n{written}\n"
    at = lines.index(f"[{section}]")
    end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("[")), len(lines))
    kept = [line for line in lines[at + 1:end] if not line.startswith(inner + " =")]
    return "\n".join(lines[:at + 1] + [written] + kept + lines[end:]) + "\n"


def in_script(text, key, value):
    """`from_pretrained.x` is an argument of that call, a bare name one of the trainer's config."""
    call, _, name = key.rpartition(".")
    call = call or "SFTConfig"
    text = re.sub(rf",? *\b{name} = [^,()\n]*", "", text)
    return re.sub(rf"\b{call}\((\s*(?:model, )?)", lambda m: f"{m.group(0)}{name} = {value!r}, ", text, count=1)


WRITERS = {".yaml": in_yaml, ".yml": in_yaml, ".toml": in_toml, ".py": in_script}


def with_value(name, text, key, value):
    """The text of the config `name` with the key set."""
    return WRITERS[name[name.rindex("."):]](text, key, value)


def on_command_line(value):
    """The same value as --set and --over take it; their own marks are left out."""
    return "no" if value == "no" else yaml(value)
