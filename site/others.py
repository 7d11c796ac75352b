"""One page for each other folder of models/ and rules/, with a part for each of its files."""

from data import ROOT, as_written, read, remark
from marked import block, code, flat, listed, one_line, plain, prose

PAGED = {"models/architectures", "models/gpus", "models/presets", "rules/messages", "rules/causes", "rules/ladder"}
NAMES = {
    "models/generations": "Generations of GPUs", "models/layouts": "Layouts over several GPUs", "models/libraries": "Libraries in a process",
    "models/optimizers": "Optimizers", "models/runtimes": "Runtimes", "models/stacks": "Stacks: defaults of frameworks by version",
    "models/towers": "Towers: encoders of pictures and sounds", "rules/actions": "Actions", "rules/advice": "Advice where more is known",
    "rules/alike": "Measures that are alike", "rules/launchers": "Launchers that a log shows", "rules/moments": "Moments of a run",
    "rules/suggestions": "What logs themselves suggest",
    "rules/wording": "Phrases that tell texts and programs apart",
}


def part(path):
    of, written = read(path), as_written(path)
    short = [(code(key), one_line(value)) for key, value in of.items() if flat(value)]
    long = "\n".join(written[key] for key in of if not flat(of[key]))
    out = f"## {plain(path.stem)}\n\n" + (f"{prose(remark(path), '../')}\n\n" if remark(path) else "") + listed(short)
    return out + (block(long, "yaml") + "\n" if long else "")


def folders():
    pages = {}
    for folder in sorted(path for of in ("models", "rules") for path in (ROOT / of).iterdir() if path.is_dir()):
        name = str(folder.relative_to(ROOT))
        if name in PAGED:
            continue
        head = f"# {NAMES[name]}\n\nThe files of `{name}`.\n\n"
        pages[f"data/{folder.name}.md"] = head + "".join(part(path) for path in sorted(folder.glob("*.yaml")))
    links = [f"- [{NAMES[name]}]({name.partition('/')[2]}.md)\n" for name in sorted(NAMES)]
    pages["data/index.md"] = "# Other data\n\n" + "".join(links)
    return pages
