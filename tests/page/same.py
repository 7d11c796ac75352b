#!/usr/bin/env python3
"""The page's program says what the program says, byte for byte: exit code, both streams, and the reports that it writes.

    tests/page/same.py --program build/release/oomplan --page build/wasm [--most N] [--logs FOLDER]

Asked are the configs of examples/ and of the cases, each for an estimate, a fix and a plan; and the cases' logs. Both sides run
in the same folder. What takes long is sampled: every n-th file, so that no more than N of each are asked. All files below
FOLDER are logs too.
"""

import argparse
import base64
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/cases"))
from run import Case  # noqa: E402

CONFIGS = (".yml", ".yaml", ".json", ".toml", ".py")
GPUS = ["rtx-4090", "8GiB", "8xh100"]
REPORT = "answer.html"


class Page:
    """The WebAssembly in node, one instance for all questions of a folder, as a page has it."""

    def __init__(self, build, folder):
        self.process = subprocess.Popen(["node", ROOT / "page/oomplan.cjs", build, "--lines"], cwd=folder, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, words):
        print(json.dumps(words), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            return None, b"", b"", 0
        answer = json.loads(line)
        return answer["code"], base64.b64decode(answer["out"]), base64.b64decode(answer["err"]), answer["milliseconds"]


def program_says(program, words, folder):
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


def sampled(items, most):
    return items if not most or len(items) <= most else items[:: -(-len(items) // most)]


def written(folder, most):
    """The cases' files, each case's in a folder of its own; those of them that are configs, and the logs."""
    configs, logs = [], []
    for case in sorted((ROOT / "tests/cases").glob("*/*.case")):
        command = case.parent.name
        own = folder / command / case.stem
        files = [(name, text) for kind, name, text in Case(case).sections if kind == "file" and not name.startswith(("/", ".."))]
        for name, text in files:
            path = own / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            if command == "diagnose" and not name.endswith(CONFIGS):
                logs.append(path.relative_to(folder))
            elif command in ("estimate", "fix") and name.endswith(CONFIGS):
                configs.append(path.relative_to(folder))
    return sampled(configs, most), sampled(logs, most)


def shapes(folder):
    """Logs of other shapes: none, one long line, bytes that are no text, control characters, gzip."""
    import gzip
    log = b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.52 GiB of which 1.00 GiB is free.\n"
    made = {"empty.log": b"", "long.log": b"x" * 3_000_000 + b"\n" + log, "bytes.log": bytes(range(256)) * 50 + log,
            "ansi.log": b"\x1b[31m" + log + b"\x1b]0;<script>alert(1)</script>\x07", "crlf.log": log.replace(b"\n", b"\r\n") * 3,
            "packed.log.gz": gzip.compress(log * 1000), "cut.log.gz": gzip.compress(log * 1000)[:-20], "many.log": b"step\n" * 400_000 + log}
    for name, data in made.items():
        (folder / name).write_bytes(data)
    return list(made)


def questions(configs, logs):
    for config in configs:
        gpus = [word for gpu in GPUS for word in ("--gpu", gpu)]
        yield ["estimate", str(config), *gpus, "--all", "--html", REPORT]
        yield ["estimate", str(config), *gpus, "--json"]
        yield ["fix", str(config), "--gpu", "8GiB", "--html", REPORT]
        yield ["fix", str(config), "--gpu", "rtx-4090", "--json"]
    for log in logs:
        yield ["diagnose", str(log), "--html", REPORT]
        yield ["diagnose", str(log), "--json"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--logs", type=Path)
    options = parser.parse_args()
    program = options.program.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        configs, logs = written(folder, options.most)
        examples = [path for path in sorted((ROOT / "examples").rglob("*")) if path.suffix in CONFIGS]
        configs += sampled(examples, options.most)
        logs += shapes(folder)
        if options.logs:
            logs += sorted(path.resolve() for path in options.logs.rglob("*") if path.is_file())
        page, differ, count, taken, native = Page(options.page.resolve(), folder), [], 0, [], 0.0
        for words in questions(configs, logs):
            report = folder / REPORT
            answers = []
            for ask in (lambda: page.ask(words), lambda: program_says(program, words, folder)):
                report.unlink(missing_ok=True)
                began = time.monotonic()
                answer = ask()
                native += (time.monotonic() - began) * len(answers)
                taken += [(milliseconds, words) for milliseconds in answer[3:]]
                answers.append((*answer[:3], report.read_bytes() if report.exists() else None))
            count += 1
            if answers[0] != answers[1]:
                differ.append(words)
                print("differs:", *words, "\n  page:", *(str(one)[:300] for one in answers[0][:3]), "\n  program:",
                      *(str(one)[:300] for one in answers[1][:3]))
                if answers[0][0] is None:
                    page = Page(options.page.resolve(), folder)
        taken.sort()
        print(f"{len(configs)} configs and {len(logs)} logs: {count} answers, {len(differ)} differ; the page's took "
              f"{taken[len(taken) // 2][0]:.0f} ms at the median, {taken[-1][0]:.0f} at most ({' '.join(taken[-1][1])}); the program's "
              f"{1000 * native / count:.0f} on average")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
