#!/usr/bin/env python3
"""Holds estimates against the peaks that litgpt publishes of its own configs, measured on an A10G.

    litgpt_table.py LITGPT --program build/release/oomplan

LITGPT: a checkout of Lightning-AI/litgpt, whose config_hub/finetune/README.md has the table. Rows of one GPU are compared,
in GB of 10^9 bytes, as torch.cuda.max_memory_allocated() is printed there. Its QLoRA rows are of versions before 0.5.13, which
did not yet have StableEmbedding.
"""

import argparse
import json
import pathlib
import subprocess


def rows_of(page):
    """The config's path and its peak in GB, of each row of one GPU that did not run out of memory."""
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 9 and cells[1].endswith(".yaml") and cells[6] == "1xA10G" and cells[9].endswith("GB"):
            yield cells[1], float(cells[9].removesuffix("GB"))


def found(folder, name):
    """The table's spelling of a path is not always the file's."""
    def plain(text):
        return text.lower().replace("gemma2b/qlora", "gemma2-2b/qlora")
    files = {plain(str(file.relative_to(folder))): file for file in folder.rglob("*.yaml")}
    return files.get(plain(name))


def estimated(program, config):
    """In GB; None where there is no estimate."""
    run = subprocess.run([program, "estimate", config, "--json"], capture_output=True, text=True, check=False)
    return json.loads(run.stdout)["footprint"]["reserved"]["max_memory_allocated"] / 1e9 if run.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("litgpt", type=pathlib.Path)
    parser.add_argument("--program", default="build/release/oomplan")
    asked = parser.parse_args()
    folder = asked.litgpt / "config_hub" / "finetune"
    print("| config | published, GB | estimated, GB | off |\n| --- | ---: | ---: | ---: |")
    for name, published in rows_of((folder / "README.md").read_text()):
        config = found(folder, name)
        mine = estimated(asked.program, config) if config else None
        off = f"{mine / published - 1:+.1%}" if mine else "no estimate"
        print(f"| {name} | {published:.2f} | {mine or 0:.2f} | {off} |")


if __name__ == "__main__":
    main()
