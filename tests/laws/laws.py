#!/usr/bin/env python3
"""What must hold between two answers of oomplan, over every config of examples/ and of the cases that has an answer.

    tests/laws/laws.py --program build/dev/oomplan [LAW...]

A law is held on as many configs as SECONDS (20 each) allow, the same ones each time where all fit in; how many, it says.
"""

import argparse
import functools
import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GPU = "24GiB"
SCALAR = re.compile(r"^(?P<key>[A-Za-z_]\w*):[ ]+(?P<value>[\w.+-]+)[ ]*(?:#.*)?$")
TENSORS = {"weights", "optimizer", "gradients", "activations", "attention_scores", "logits_and_loss", "autocast_copies",
           "temporaries", "inputs"}
program = None


def oomplan(folder, *arguments, text=None):
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, input=text)
    if done.returncode not in (0, 1, 2, 3, 4):
        raise AssertionError(f"exit {done.returncode}: oomplan {' '.join(arguments)}\n{done.stderr}")
    return done


def answer(folder, *arguments):
    """Exit code and what the JSON holds; nothing of it where there is none."""
    done = oomplan(folder, *arguments, "--json")
    return done.returncode, json.loads(done.stdout)


def estimate(folder, config, *more):
    return answer(folder, "estimate", config, "--gpu", GPU, "-q", *more)


def facts(found):
    return {fact["name"]: fact["value"] for fact in found["plan"]["facts"]} if found.get("plan") else None


def numbers(found):
    """All that was worked out, without whence each came."""
    footprint = found.get("footprint")
    if footprint is None:
        return found["verdict"]
    fits = [(fit["verdict"], fit["needed"]) for fit in found["gpus"]]
    return footprint["peak"]["total"], footprint["peak"]["by_bucket"], footprint["reserved"], fits


def configs(folder):
    """Each config with the files beside it, in a folder of its own: those of examples/, and of the cases."""
    out = []
    for path in sorted(ROOT.glob("examples/*/*.y*ml")):
        place = folder / path.stem
        place.mkdir()
        shutil.copy(path, place)
        out.append((place, path.name))
    for path in sorted(ROOT.glob("tests/cases/estimate/*.case")):
        text = path.read_text(errors="replace")
        files = dict(re.findall(r"^--- file (\S+)\n(.*?)(?=^--- )", text, re.M | re.S))
        named = [name for name in files if re.fullmatch(r"[\w.-]+\.(ya?ml|json|toml)", name)]
        plain = re.search(r"^oomplan estimate (\S+\.\w+)", text, re.M)
        if "--- prepare" in text or not plain or plain[1] not in named or any("/" in name for name in files):
            continue
        place = folder / path.stem
        place.mkdir()
        for name, content in files.items():
            (place / name).write_text(content)
        out.append((place, plain[1]))
    return out


@functools.cache
def is_estimated(place, config):
    return estimate(place, config)[0] in (0, 1)


def edited(text, key, value):
    line = f"{key}: {value}"
    found = re.compile(rf"^{re.escape(key)}:.*$", re.M)
    return found.sub(line, text, count=1) if found.search(text) else text + line + "\n"


def other_value(value):
    if value in ("true", "false"):
        return "false" if value == "true" else "true"
    return str(int(value) * 2) if value.isdigit() and 0 < int(value) < 1 << 20 else None


def set_is_an_edit(folder, config):
    """`--set key=value` says what the same line in the file says, whatever that comes to."""
    text = (folder / config).read_text()
    if not config.endswith((".yml", ".yaml")):
        return 0
    held = 0
    for match in filter(None, map(SCALAR.match, text.splitlines())):
        value = other_value(match["value"])
        if value is None:
            continue
        (folder / "edited.yml").write_text(edited(text, match["key"], value))
        by_edit = estimate(folder, "edited.yml")
        by_set = estimate(folder, config, "--set", f"{match['key']}={value}")
        what = f"{match['key']}={value}"
        if any(one["code"] == "ingest/unknown-key" for one in by_set[1]["diagnostics"]):
            continue  # a warning of a file, but an error of a command line
        assert by_edit[0] == by_set[0], f"{what}: exit {by_edit[0]} by the file, {by_set[0]} by --set"
        assert facts(by_edit[1]) == facts(by_set[1]), f"{what}: other facts"
        assert numbers(by_edit[1]) == numbers(by_set[1]), f"{what}: other numbers"
        held += 1
    return held


def order_is_nothing(folder, config):
    """Top-level keys in another order, and comments between them, are the same config."""
    text = (folder / config).read_text()
    if not config.endswith((".yml", ".yaml")) or any(mark in text for mark in ("&", "<<", "---", "\t")):
        return 0
    entries = re.split(r"^(?=[A-Za-z_])", text, flags=re.M)
    turned = "# turned\n" + "\n# between\n".join(entry if entry.endswith("\n") else entry + "\n"
                                                 for entry in reversed(entries))
    (folder / "turned.yml").write_text(turned)
    assert numbers(estimate(folder, config)[1]) == numbers(estimate(folder, "turned.yml")[1]), "other numbers"
    return 1


def table_is_json(folder, config):
    """The table's columns are the JSON's peaks, rounded; its first lines are the verdict's numbers."""
    code, found = estimate(folder, config)
    done = oomplan(folder, "estimate", config, "--gpu", GPU, "--phases")
    assert done.returncode == code, f"exit {done.returncode} with the table, {code} with --json"
    fit = found["gpus"][0]
    wanted = re.search(r": needs (?:at least )?([\d.]+) (MiB|GiB|TiB) of ", done.stdout)
    unit = {"MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
    assert wanted and f"{fit['needed'] / unit[wanted[2]]:.2f}" == wanted[1], f"needed {fit['needed']}: {wanted and wanted[0]}"
    heads = list(re.finditer(r"^  (GiB|MiB|TiB) +([a-z_ ]+)\n +(step.*|)$", done.stdout, re.M))
    assert heads, "no table"
    ends = [head.start() for head in heads[1:]] + [len(done.stdout)]
    return sum(columns_are_peaks(found, head, unit[head[1]], done.stdout[head.end() : end]) for head, end in zip(heads, ends))


def columns_are_peaks(found, head, unit, text):
    """Of one of the tables that a narrow terminal has."""
    phases = head[2].split()
    steps = [None] * phases.count("load") + [int(step) for step in re.findall(r"step (\d+)", head[3])]
    rows = dict(re.findall(r"^  (= tensors|[a-z_]+) +((?:[\d.-]+ *)+)$", text, re.M))
    for at, (phase, step) in enumerate(zip(phases, steps, strict=True)):
        moment = next(one for one in found["footprint"]["peaks"] if one["phase"] == phase and step in (None, one["step"]))
        for bucket in TENSORS & set(moment["by_bucket"]):
            shown = rows[bucket].split()[at] if bucket in rows else "-"
            size = moment["by_bucket"][bucket] / unit
            assert shown in ("-", f"{size:.2f}") and (shown != "-" or size < 0.005), f"{phase}: {bucket}: {shown}, not {size}"
    return len(phases)


def patch_is_its_promise(folder, config):
    """What `fix` says the patched config needs, an estimate of it says too, and that fits."""
    held = 0
    needed = estimate(folder, config)[1]["gpus"][0]["needed"]
    for part in (0.85, 0.5):
        gpu = f"{int(needed * part) >> 20}MiB"
        code, advice = answer(folder, "fix", config, "--gpu", gpu)
        if code != 0 or not advice.get("patch"):
            continue
        place = folder / f"patched-{part}"
        shutil.copytree(folder, place, ignore=shutil.ignore_patterns("patched-*"))
        code, applied = answer(place, "fix", config, "--gpu", gpu, "--apply", "--yes")
        assert code == 0 and applied["patch"] == advice["patch"], f"{gpu}: --apply answers otherwise: {applied}"
        launch = ["--launch", advice["launcher"]["name"]] if advice["launcher"] else []
        code, found = answer(place, "estimate", config, "--gpu", gpu, "-q", *launch)
        assert code == 0, f"{gpu}: the patched config has exit {code}"
        assert found["gpus"][0]["needed"] == advice["found"]["needed"], \
            f"{gpu}: {found['fits'][0]['needed']} needed, {advice['found']['needed']} promised"
        held += 1
    return held


def cuts(text, most=24):
    """Lengths shorter than the text, its lines' ends among them."""
    ends = [match.start() for match in re.finditer("\n", text.rstrip())]
    step = max(1, len(text) // most)
    return sorted({*ends, *range(1, len(text.rstrip()), step)})


def as_flow(text):
    """The config as JSON, where its lines are plain enough for that: single words and numbers."""
    entries = []
    for line in filter(None, (line.split(" #")[0].rstrip() for line in text.splitlines())):
        match = re.fullmatch(r"([A-Za-z_]\w*): ([\w./-]+)", line)
        if not match and not line.startswith("#"):
            return ""
        if match:
            value = match[2] if re.fullmatch(r"true|false|null|0|[1-9]\d*", match[2]) else json.dumps(match[2])
            entries.append(f'  "{match[1]}": {value}')
    return "{\n" + ",\n".join(entries) + "\n}\n" if entries else ""


def cut_json_is_refused(folder, config):
    """JSON says where it ends, so that no part of it is an answer; nor is one of a model's config.json."""
    as_json = folder / "cut.json"
    text = (folder / config).read_text()
    plain = config.endswith(".json") or (config.endswith((".yml", ".yaml")) and as_flow(text))
    if plain:
        text = text if config.endswith(".json") else as_flow(text)
        for length in cuts(text, most=12):
            as_json.write_text(text[:length])
            code, _ = estimate(folder, "cut.json")
            assert code in (2, 3), f"exit {code} of the first {length} bytes"
    models = [path for path in folder.glob("*.json") if path.name != "cut.json" and path.name in text]
    for model in models:
        whole = model.read_text()
        for length in cuts(whole):
            model.write_text(whole[:length])
            code, _ = estimate(folder, config)
            assert code in (3, 4), f"exit {code} with the first {length} bytes of {model.name}"
        model.write_text(whole)
    return len(models) + bool(plain)


def cut_yaml_never_hides(folder, config):
    """YAML may end at any line, and then is a config of fewer lines: what it answers is what these lines say, with no
    fact from a line that is gone, and each that a whole line says is as that line says."""
    text = (folder / config).read_text()
    if not config.endswith((".yml", ".yaml")):
        return 0
    whole = {fact["name"]: {"value": fact["value"], "derived": fact["origin"]["derivation"]}
             for fact in estimate(folder, config)[1]["plan"]["facts"]}
    for length in cuts(text, most=6):
        part = text[:length]
        (folder / "cut.yml").write_text(part)
        code, found = estimate(folder, "cut.yml")
        if code not in (0, 1):
            continue
        lines = part.count("\n") + 1
        for fact in found["plan"]["facts"]:
            origin = fact["origin"]
            if origin["kind"] != "config" or origin["file"] != "cut.yml":
                continue
            assert origin["line"] <= lines, f"{fact['name']} comes from line {origin['line']} of {lines}"
            if origin["line"] < lines and not origin["derivation"] and not whole[fact["name"]]["derived"]:
                assert fact["value"] == whole[fact["name"]]["value"], f"{fact['name']} is {fact['value']} in the first {lines} lines"
    return 1


def packed_logs_say_that_they_are_cut():
    """The text before a cut is read, and that it was cut is said."""
    log = (b"step 1\n" * 4000 + b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total "
           b"capacity of 23.68 GiB of which 3.00 MiB is free.\n")
    packed = gzip.compress(log)
    with tempfile.TemporaryDirectory() as name:
        for length in range(20, len(packed), max(1, len(packed) // 20)):
            (Path(name) / "log.gz").write_bytes(packed[:length])
            done = oomplan(name, "diagnose", "log.gz")
            assert "read/" in done.stderr, f"nothing is said of the first {length} bytes of {len(packed)}"


LAWS = [set_is_an_edit, order_is_nothing, table_is_json, patch_is_its_promise, cut_json_is_refused, cut_yaml_never_hides]


def hold(law, one, until):
    """How often it held, or what does not hold."""
    if time.monotonic() > until or not is_estimated(*one):
        return 0, None
    try:
        return law(*one), None
    except AssertionError as error:
        return 0, f"{law.__name__}: {one[0].name}/{one[1]}: {error}"


def main():
    global program
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=20, help="for each law")
    parser.add_argument("law", nargs="*")
    options = parser.parse_args()
    program = options.program.resolve()
    broken = []
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        all_configs = configs(Path(name))
        for law in LAWS:
            if options.law and law.__name__ not in options.law:
                continue
            # Each law has other configs first: in its seconds it comes to some of them only.
            random.Random(law.__name__).shuffle(all_configs)
            until = time.monotonic() + options.seconds
            results = list(pool.map(lambda one: hold(law, one, until), all_configs))
            times = sum(count for count, _ in results)
            broken += [why for _, why in results if why]
            print(f"{law.__name__}: held {times} times over {sum(count > 0 for count, _ in results)} configs")
            if times == 0:
                broken.append(f"{law.__name__}: held on no config")
    if not options.law or "packed_logs_say_that_they_are_cut" in options.law:
        packed_logs_say_that_they_are_cut()
    print("\n".join(broken))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
