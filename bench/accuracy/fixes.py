#!/usr/bin/env python3
"""Does the advice contain what helped? Each labelled log whose thread says how it ended is diagnosed, and its first three
actions are held against the ids in fixes.txt.

usage: bench/accuracy/fixes.py --program build/release/oomplan --labels LABELS.json --logs DIR

A row a thread: whether it was among them, the source, what helped, the first three. The exit code is 1 under 85 %."""
import argparse, json, os, subprocess, sys

HELPFUL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixes.txt")
ASKED = 3


def known():
    rows = [line.split(" | ") for line in open(HELPFUL) if line.strip() and not line.startswith("#")]
    return {source: (helped, set(ids.split()) - {"-"}) for source, helped, ids in rows}


def first_actions(program, path):
    done = subprocess.run([program, "diagnose", "--json", path], capture_output=True, text=True, errors="replace")
    return [action["id"] for action in json.loads(done.stdout)["to_do"][:ASKED]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--labels", required=True)
    parser.add_argument("--logs", required=True)
    args = parser.parse_args()
    fixes = known()
    hits = []
    for label in json.load(open(args.labels)):
        if label["source"] not in fixes or not label.get("fixed_by"):
            continue
        helped, ids = fixes[label["source"]]
        first = first_actions(args.program, os.path.join(args.logs, label["file"]))
        hits.append(bool(ids & set(first)))
        print(f"{'yes' if hits[-1] else 'no ':3} {label['source']}: {helped}: {', '.join(first)}")
    print(f"{sum(hits)} of {len(hits)} contain what helped")
    sys.exit(0 if hits and sum(hits) >= 0.85 * len(hits) else 1)


main()
