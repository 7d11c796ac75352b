#!/usr/bin/env python3
"""Runs `oomplan estimate` over every config in a folder and counts the outcomes and their reasons.

    real_configs.py FOLDER --program build/release/oomplan [--gpu rtx-4090] [--set FACT=VALUE ...] [--json OUT]
    real_configs.py FOLDER --program build/release/oomplan --assume-features

Lists the files whose model's id or family is not known, whatever else they wait for. With --assume-features nothing else is
counted, as if everything else were modelled: each file's model is asked for by itself, also where a missing fact or another error
hides it.
For folders of real people's configs (Axolotl's, TRL's, LLaMA-Factory's examples, Unsloth's notebooks), which do not go into the project.
Exits 1 when the program crashed, hung or answered with an undocumented exit code on any file.
"""

import argparse
import collections
import concurrent.futures
import functools
import json
import pathlib
import re
import subprocess
import sys
import time

OUTCOMES = {
    0: "estimate",
    1: "estimate",
    2: "usage error",
    3: "invalid input",
    4: "cannot be decided",
}
BAD = ("crash", "timeout", "bad output")


def dicts(value):
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def outcome_of(code, answer):
    """The outcome's name. An answer in JSON is owed whenever the exit code says that the question was answered."""
    if code not in OUTCOMES:
        return "crash"
    if code in (0, 1, 4) and answer is None:
        return "bad output"
    codes = {d.get("code") for d in dicts((answer or {}).get("diagnostics"))}
    return "no training run" if code == 4 and "ingest/no-training" in codes else OUTCOMES[code]


def run(program, path, gpu, facts, timeout):
    command = [program, "estimate", str(path), "--json"] + (["--gpu", gpu] if gpu else [])
    command += [word for fact in facts for word in ("--set", fact)]
    started = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return {"outcome": "timeout", "exit": None, "seconds": timeout, "plan": None, "diagnostics": [], "unmodelled": [], "stderr": ""}
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        answer = None
    return {
        "outcome": outcome_of(done.returncode, answer),
        "exit": done.returncode,
        "seconds": round(time.monotonic() - started, 4),
        "plan": (answer or {}).get("plan"),
        "diagnostics": dicts((answer or {}).get("diagnostics")),
        "unmodelled": dicts((answer or {}).get("unmodelled")),
        "stderr": done.stderr.decode("utf-8", "replace")[-2000:],
    }


def reasons(result):
    """Why there is no estimate: diagnostics that are errors, and the features that are not modelled, once each."""
    if result["outcome"] == "estimate":
        return []
    found = {str(d.get("code", "?")) for d in result["diagnostics"] if d.get("severity") != "warning"}
    found |= {"unmodelled: " + str(u.get("feature", "?")) for u in result["unmodelled"]}
    if not found and result["outcome"] not in BAD:
        found = {"(no reason given)"}
    return sorted(found)


def waits_for_model(diagnostic):
    """No preset has the id, or no architecture the model_type."""
    return diagnostic.get("code") in ("catalog/unknown-model", "catalog/unknown-architecture")


# Where the program made no plan of a file, the model that its text names.
NAMED = re.compile(r"""^[\s"',\\n]*(?:base_model|model_name_or_path|model_name)["']?\s*[:=]\s*[\\]?["']?([\w.-]+/[\w.-]+)""", re.M)
BUILT = re.compile(r"^model:\n(?:[ #].*\n)*?\s+_component_:\s*(torchtune\.models\.\w+\.)(?:q?lora_)?(\w+)", re.M)


def models_of(path, result):
    """The models that a file names, of its plan where there is one."""
    facts = dicts(((result["plan"] or {}).get("facts")))
    of_plan = [fact["value"] for fact in facts if fact.get("name") == "model" and fact.get("value")]
    text = path.read_text(errors="replace")
    return of_plan or NAMED.findall(text) or ["".join(found) for found in BUILT.findall(text)]


def assume_features(names, files, results, program):
    """Counts files by what is known of their models, whatever else is said of them."""
    @functools.cache
    def unknown(model):
        done = run(program, model, "h200", (), 60)
        return next((d["message"] for d in done["diagnostics"] if waits_for_model(d)), None)

    counts, waiting = collections.Counter(), []
    for name, path, result in zip(names, files, results):
        models = models_of(path, result)
        said = next(filter(None, map(unknown, models)), None)
        kind = ("no training run, or names no model" if not models or result["outcome"] == "no training run"
                else "its model is known" if not said
                else "a family whose code comes with the checkpoint" if "code comes with" in said
                else "waits for an id or a family")
        counts[kind] += 1
        if said:
            waiting.append((name, said))
    table("By what is known of the model", counts)
    print()
    for name, message in waiting:
        print(f"  {name}: {message}")


def is_unknown_key(diagnostic):
    return "unknown-key" in str(diagnostic.get("code", ""))


def table(title, counts):
    print(f"\n{title}")
    if not counts:
        print("  none")
    width = max((len(str(n)) for n in counts.values()), default=0)
    for name, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        print(f"  {n:>{width}}  {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", required=True)
    parser.add_argument("--gpu")
    parser.add_argument("--set", action="append", default=[], metavar="FACT=VALUE", help="what the data decide")
    parser.add_argument("--assume-features", action="store_true", help="count what waits for an id or a family alone")
    parser.add_argument("--json", type=pathlib.Path, metavar="OUT")
    parser.add_argument("--timeout", type=float, default=5.0, help="seconds per file (default 5)")
    args = parser.parse_args()
    if not args.folder.is_dir():
        parser.error(f"{args.folder} is not a folder")
    if not pathlib.Path(args.program).is_file():
        parser.error(f"{args.program} is not a program")
    program = str(pathlib.Path(args.program).resolve())

    files = sorted(p for p in args.folder.rglob("*") if p.suffix in (".yml", ".yaml", ".json", ".py", ".ipynb") and p.is_file())
    if not files:
        parser.error(f"no .yml, .yaml, .json, .py or .ipynb file under {args.folder}")
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(lambda path: run(program, path, args.gpu, args.set, args.timeout), files))
    names = [str(path.relative_to(args.folder)) for path in files]
    if args.assume_features:
        print(f"{len(files)} files under {args.folder}")
        assume_features(names, files, results, program)
        return 0

    outcomes = collections.Counter(r["outcome"] for r in results)
    by_reason = collections.Counter(reason for r in results for reason in reasons(r))
    unknown = [
        f"{name}:{d.get('line', '?')}: {d.get('message', '')}"
        for name, r in zip(names, results)
        for d in r["diagnostics"]
        if is_unknown_key(d)
    ]
    bad = [(name, r) for name, r in zip(names, results) if r["outcome"] in BAD]
    silent = [name for name, r in zip(names, results) if reasons(r) == ["(no reason given)"]]

    print(f"{len(files)} files under {args.folder}")
    table("By outcome", outcomes)
    table("Why there is no estimate (files; a file can have several reasons)", by_reason)
    waiting = [(name, d["message"]) for name, r in zip(names, results) for d in r["diagnostics"] if waits_for_model(d)]
    print(f"\nFiles that wait for an id or a family: {len({name for name, _ in waiting})}")
    for name, message in waiting:
        print(f"  {name}: {message}")
    print(f"\nUnknown keys: {len(unknown)}")
    for line in unknown:
        print(f"  {line}")
    if silent:
        print("\nNo estimate and no reason given:")
        for name in silent:
            print(f"  {name}")
    if bad:
        print("\nBROKEN:")
        for name, r in bad:
            print(f"  {name}: {r['outcome']}, exit {r['exit']}")
            for line in r["stderr"].strip().splitlines()[-3:]:
                print(f"      {line}")
    slowest = max(zip(names, results), key=lambda item: item[1]["seconds"])
    print(f"\nslowest: {slowest[1]['seconds']:.3f} s, {slowest[0]}")

    if args.json:
        report = {
            "folder": str(args.folder),
            "files": len(files),
            "outcomes": dict(outcomes),
            "reasons": dict(by_reason),
            "unknown_keys": unknown,
            "results": [{"file": name, **{key: r[key] for key in r if key != "plan"}} for name, r in zip(names, results)],
        }
        args.json.write_text(json.dumps(report, indent=1) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
