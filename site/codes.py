"""Pages of error codes, as the program explains them, with the files of its sources that raise them."""

import re
import subprocess

from data import ROOT
from marked import code, listed, prose, table


def ask(program, *words):
    return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout


def raised_in():
    """{code: files that have its name as a text}"""
    out = {}
    for path in sorted((ROOT / "src").rglob("*.cpp")):
        if path.name == "codes.cpp":
            continue
        for name in set(re.findall(r'"([a-z]+/[a-z0-9-]+)"', path.read_text())):
            out.setdefault(name, []).append(str(path.relative_to(ROOT)))
    return out


def codes(program):
    pages, rows, sources = {}, [], raised_in()
    for name in ask(program, "explain").split():
        head, _, text = ask(program, "explain", name).partition("\n")
        ends = head.partition(" (")[2].rstrip(")")
        pages[f"codes/{name}.md"] = f"# {name}\n\n{prose(text, '../../')}\n\n" + listed([
            ("ends with", f"{ends} ([exit codes](../../manual.md#exit-codes))"),
            ("raised in", ", ".join(map(code, sources.get(name, []))))])
        rows.append([f"[{name}]({name}.md)", ends])
    pages["codes/index.md"] = "# Error codes\n\nThe word in brackets after a message.\n\n" + table(["code", "ends with"], rows)
    return pages


def played_families(program):
    """{model_type: "3 of 4   not Unsloth"}"""
    lines = ask(program, "models", "--families").splitlines()
    return {line.split()[0]: " ".join(line.split()[1:]) for line in lines}
