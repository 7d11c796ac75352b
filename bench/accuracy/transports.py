#!/usr/bin/env python3
"""Does the verdict survive the way a log travels? Each log of a folder is diagnosed as it is, then as a shipper, a
terminal or a paste would have changed it: the cause must stay, and none may be invented.

usage: bench/accuracy/transports.py --program build/release/oomplan FOLDER [--only NAME] [--jobs 2] [--names]

A line a transport: the same cause, lost (no longer an out-of-memory), another cause, invented. "Invented" is an
out-of-memory in a log in which there was none. The exit code is 1 where one is invented or under 99 % stay the same."""
import argparse, concurrent.futures, gzip, html, json, os, subprocess, sys, tempfile, textwrap

MEMORY = {"vram_exhausted", "vram_fragmentation", "vram_other_process", "vram_leak_suspected", "gpu_library_alloc",
          "cgroup_oom", "global_host_oom", "userspace_oom_daemon", "k8s_oomkilled", "slurm_oom", "shm_exhausted",
          "host_alloc_failed"}


def lines(text):
    return text.replace("\r\n", "\n").rstrip("\n").split("\n")


def each(change):
    return lambda text: "\n".join(change(i, line) for i, line in enumerate(lines(text))) + "\n"


def head(shape):
    return each(lambda i, line: shape.format(s=i % 60, m=i // 60 % 60, n=i + 1) + line)


def wrap(width):
    return lambda text: "\n".join(line[i:i + width] for line in lines(text) for i in range(0, max(len(line), 1), width)) + "\n"


def bar(i):
    return f" {i % 100:2d}%|##   | {i % 100}/100 [00:01<00:09,  7.41it/s]"


TRANSPORTS = {
    "CRLF": lambda t: "\r\n".join(lines(t)) + "\r\n",
    "BOM": lambda t: "\ufeff" + t,
    "UTF-16": lambda t: t.encode("utf-16"),
    "gzip": lambda t: gzip.compress(t.encode("utf-8", "surrogateescape")),
    "ANSI": each(lambda i, l: "\x1b[31m" + l + "\x1b[0m"),
    "tqdm between": each(lambda i, l: bar(i) + "\n" + l),
    "tqdm glued": each(lambda i, l: bar(i) + l),
    "srun -l": head("0: "),
    "torchrun rank": head("[rank0]: "),
    "torchrun role": head("[default0]:"),
    "mpirun tag": head("[1,0]<stderr>:"),
    "CRI": head("2024-05-01T10:{m:02d}:{s:02d}.123456789Z stderr F "),
    "docker JSON": each(lambda i, l: json.dumps({"log": l + "\n", "stream": "stderr", "time": "2024-05-01T10:00:00Z"})),
    "JSON message": each(lambda i, l: json.dumps({"ts": i, "level": "error", "message": l})),
    "one JSON field": lambda t: json.dumps({"level": "error", "exc_info": "\n".join(lines(t))}) + "\n",
    "JSON in JSON": lambda t: json.dumps({"log": json.dumps({"exc": "\n".join(lines(t))}) + "\n"}) + "\n",
    "repr": lambda t: "failed: " + repr("\n".join(lines(t))) + "\n",
    "repr of bytes": lambda t: "stderr: " + repr("\n".join(lines(t)).encode("utf-8", "replace")) + "\n",
    "list of lines": lambda t: repr([l + "\n" for l in lines(t)]) + "\n",
    "#012": lambda t: "May  1 10:00:00 gpu-7 train[77]: " + "#012".join(lines(t)) + "\n",
    "<br>": lambda t: "<br>".join(html.escape(l) for l in lines(t)) + "\n",
    "HTML escapes": lambda t: html.escape("\n".join(lines(t))) + "\n",
    "no-break spaces": lambda t: t.replace(" ", "\u00a0"),
    "&nbsp;": lambda t: html.escape(t, quote=False).replace(" ", "&nbsp;"),
    "tabs": lambda t: t.replace(" ", "\t"),
    "smart quotes": lambda t: t.replace("'", "\u2019").replace('"', "\u201d"),
    "quote marks": head("> "),
    "wrapped at 72": wrap(72),
    "wrapped at 80": wrap(80),
    "wrapped at 120": wrap(120),
    "wrapped at 132": wrap(132),
    "wrapped at blanks": lambda t: "\n".join("\n".join(textwrap.wrap(l, 80)) for l in lines(t)) + "\n",
    "syslog": head("May  1 10:{m:02d}:{s:02d} gpu-7 python3[77]: "),
    "ISO stamp": head("2024-05-01T10:{m:02d}:{s:02d}.123456Z "),
    "bracket stamp": head("[2024-05-01 10:{m:02d}:{s:02d},123] "),
    "loguru": head("2024-05-01 10:{m:02d}:{s:02d}.123 | ERROR    | __main__:main:33 - "),
    "glog": head("E0501 10:{m:02d}:{s:02d}.123456 77 train.py:33] "),
    "clock": head("10:{m:02d}:{s:02d}.123 "),
    "cat -n": head("{n:6d}\t"),
    "grep -n": head("{n}:"),
    "diff": head("+"),
    "another rank between": each(lambda i, l: f"[rank3] still waiting for the barrier ({i} s)\n" + l),
    "head cut by 5": lambda t: "\n".join(lines(t)[5:]) + "\n",
    "tail cut by 5": lambda t: "\n".join(lines(t)[:-5]) + "\n",
}
CUT = {"head cut by 5", "tail cut by 5"}  # the sentence itself may be gone: only what is invented counts


def text_of(path):
    raw = open(path, "rb").read()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    return raw.decode(encoding, "surrogateescape" if encoding == "utf-8" else "replace")


def cause_of(program, path):
    done = subprocess.run([program, "diagnose", "--json", path], capture_output=True, text=True, errors="replace")
    return json.loads(done.stdout)["verdict"]["cause"]


def sent(program, path, change, folder):
    text = change(text_of(path))
    out = os.path.join(folder, os.path.basename(path))
    with open(out, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
    return cause_of(program, out)


def compare(before, after):
    if before == after:
        return "same"
    if before in MEMORY:
        return "other" if after in MEMORY else "lost"
    return "invented" if after in MEMORY else "same" if {before, after} <= {"not_oom", "unknown"} else "other"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--program", required=True)
    parser.add_argument("--only")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--names", action="store_true", help="say which logs changed")
    args = parser.parse_args()
    paths = sorted(os.path.join(args.folder, name) for name in os.listdir(args.folder))
    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
    causes = list(pool.map(lambda p: cause_of(args.program, p), paths))
    print(f"{len(paths)} logs, {sum(c in MEMORY for c in causes)} of them out of memory")
    print(f"{'transport':24} same  lost other invented")
    bad = False
    for name, change in TRANSPORTS.items():
        if args.only and args.only != name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            after = list(pool.map(lambda p: sent(args.program, p, change, folder), paths))
        kinds = [compare(b, a) for b, a in zip(causes, after)]
        count = {kind: kinds.count(kind) for kind in ("same", "lost", "other", "invented")}
        print(f"{name:24} {count['same']:4} {count['lost']:5} {count['other']:5} {count['invented']:8}", flush=True)
        bad = bad or count["invented"] > 0 or (name not in CUT and count["same"] < 0.99 * len(paths))
        for path, before, now, kind in zip(paths, causes, after, kinds):
            if args.names and kind != "same":
                print(f"    {os.path.basename(path)}: {before} -> {now}")
    sys.exit(1 if bad else 0)


main()
