#!/usr/bin/env python3
"""Adds measured runs to tests/data/oracle/families.

    scripts/add_cases.py MODELS.json CASES.json RESULTS [--into tests/data/oracle/families]

MODELS: name -> {arch, config}; those that the cases name are taken. CASES: a list, each with an id. RESULTS: a folder
with ID.json for each, as the runs wrote it: params, peak, peak_phase and the steps' phases. Peaks and counts are kept,
of a 4-bit run that of what is trained alone, as its weights are packed. An id that is there already, or a case without
a result, is an error, and nothing is written.
"""

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PHASES = ("fwd", "loss", "bwd", "opt", "between")


def read(path):
    return json.loads(Path(path).read_text())


def line(value):
    return json.dumps(value, ensure_ascii=False)


def write_map(path, values):
    path.write_text("{\n" + ",\n".join(f"{line(name)}: {line(value)}" for name, value in values.items()) + "\n}\n")


def write_list(path, values):
    path.write_text("[\n" + ",\n".join(map(line, values)) + "\n]\n")


def result_of(case, measured):
    steps = [{phase: {"peak": of["peak"]} for phase, of in step.items() if phase in PHASES}
             for step in measured["steps"]]
    return {"id": case["id"], "peak": measured["peak"], "peak_phase": measured["peak_phase"], "steps": steps}


def count_of(case, measured):
    count = {name: measured["params"][name] for name in ("total", "trainable")}
    return {"trainable": count["trainable"]} if case["method"] == "qlora" else count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models")
    parser.add_argument("cases")
    parser.add_argument("results")
    parser.add_argument("--into", default=str(ROOT / "tests/data/oracle/families"))
    options = parser.parse_args()
    into = Path(options.into)
    files = {name: into / f"{name}.json" for name in ("models", "cases", "results", "params")}
    known = {name: read(path) for name, path in files.items()}
    models, cases = read(options.models), read(options.cases)
    there = {case["id"] for case in known["cases"]}
    for case in cases:
        path = Path(options.results, case["id"] + ".json")
        if case["id"] in there or not path.exists():
            sys.exit(f"{case['id']}: " + ("is there already" if case["id"] in there else f"no {path}"))
        measured = read(path)
        known["models"].setdefault(case["model"], {key: models[case["model"]][key] for key in ("arch", "config")})
        known["cases"].append(case)
        known["results"].append(result_of(case, measured))
        known["params"][case["id"]] = count_of(case, measured)
    write_map(files["models"], known["models"])
    write_map(files["params"], known["params"])
    write_list(files["cases"], known["cases"])
    write_list(files["results"], known["results"])
    print(f"{len(cases)} cases added to {into}")


if __name__ == "__main__":
    main()
