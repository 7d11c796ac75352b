#!/usr/bin/env python3
"""Does the advice contain what helped? Each labelled log whose thread says how it ended is diagnosed, and its first three
actions are held against the ids in fixes.txt; so are the logs of threads.txt, which are part of it.

usage: bench/accuracy/fixes.py --program build/release/oomplan --labels LABELS.json --logs DIR

A row a thread: whether it was among them, the source, what helped, the first three. The exit code is 1 under 85 %."""
import argparse, json, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
HELPFUL = os.path.join(HERE, "fixes.txt")
THREADS = os.path.join(HERE, "threads.txt")
ASKED = 3


def known():
    rows = [line.split(" | ") for line in open(HELPFUL) if line.strip() and not line.startswith("#")]
    return {source: (helped, set(ids.split()) - {"-"}) for source, helped, ids in rows}


def labelled(labels, logs):
    fixes = known()
    for label in json.load(open(labels)):
        if label["source"] in fixes and label.get("fixed_by"):
            yield label["source"], *fixes[label["source"]], open(os.path.join(logs, label["file"]), "rb").read()


def threads():
    for part in open(THREADS).read().split("\n=== ")[1:]:
        head, log = part.split("\n", 1)
        source, helped, ids = head.split(" | ")
        yield source, helped, set(ids.split()), log.encode()


def first_actions(program, log):
    done = subprocess.run([program, "diagnose", "--json", "-"], input=log, capture_output=True)
    return [action["id"] for action in json.loads(done.stdout)["to_do"][:ASKED]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--labels", required=True)
    parser.add_argument("--logs", required=True)
    args = parser.parse_args()
    hits = []
    for source, helped, ids, log in [*labelled(args.labels, args.logs), *threads()]:
        first = first_actions(args.program, log)
        hits.append(bool(ids & set(first)))
        print(f"{'yes' if hits[-1] else 'no ':3} {source}: {helped}: {', '.join(first)}")
    print(f"{sum(hits)} of {len(hits)} contain what helped")
    sys.exit(0 if hits and sum(hits) >= 0.85 * len(hits) else 1)


main()
