"""Pages of messages, causes and fixes, from rules/."""

from data import ROOT, as_written, diagnosed, folder, remark
from marked import block, code, listed, plain, prose, table


def message(file, of):
    path = ROOT / f"rules/messages/{file}.yaml"
    causes = sorted(set(diagnosed().get(f"{file}/{of['id']}", [])))
    out = f"# {plain(of['id'])}\n\n" + block(of["text"]) + "\n" + listed([
        ("says", code(of["says"]) + f", of the {plain(of['where'])}" if of["where"] else code(of["says"])),
        ("a log with this line alone", ", ".join(f"[{plain(cause)}](../../causes/{cause}.md)" for cause in causes) or "is not diagnosed"),
        ("versions", prose(of["versions"], "../../")),
        ("family", code(of["family"])),
        ("source", prose(of.get("source", "") or remark(path), "../../")),
        ("file", code(f"rules/messages/{file}.yaml")),
    ])
    rest = {key: of[key] for key in ("adds", "phase", "anchor", "letters", "whole_line", "whole_word") if key in of}
    out += listed([(code(key), value) for key, value in rest.items()], "../../") if rest else ""
    for number, example in enumerate(of["examples"], 1):
        out += f"## Example {number}\n\n" + block(example["text"]) + "\n"
        if values := example.get("values"):
            out += table(["value", ""], [[code(key), code(value)] for key, value in values.items()])
    return out


def messages():
    pages = {}
    for file, of in folder("rules/messages").items():
        for one in of["sentences"]:
            pages[f"messages/{file}/{one['id']}.md"] = message(file, one)
    return pages


def measures(title, of):
    return f"## {title}\n\n" + table(["", ""], [[code(key), prose(text, "../")] for key, text in of.items()]) if of else ""


def advice_for(cause):
    out = ""
    for name, of in folder("rules/advice").items():
        if cause not in of.get("when", {}).get("causes", []):
            continue
        path = ROOT / f"rules/advice/{name}.yaml"
        out += f"### {plain(name)}\n\n{prose(remark(path), '../')}\n\n" + block("\n".join(as_written(path).values()), "yaml") + "\n"
    return "## What is advised where more is known\n\n" + out if out else ""


def cause(name, of):
    out = f"# {name}\n\n{prose(of['title'], '../')}\n\n" + listed([
        ("file", code(f"rules/causes/{name}.yaml")), ("how it is told from others", "[diagnose.md](../diagnose.md)")])
    out += measures("What to do", of.get("do")) + measures("What does not help", of.get("do_not"))
    if prove := of.get("prove"):
        out += "## How to prove it\n\n" + block("\n".join(prove), "console") + "\n"
    known = [name_of for name_of, causes in diagnosed().items() if name in causes]
    links = [f"- [{plain(one)}](../messages/{one}.md)\n" for one in known if is_sentence(one)]
    return out + advice_for(name) + (f"## Messages that say it by themselves\n\n{''.join(links)}\n" if links else "")


def is_sentence(name):
    file, _, sentence = name.partition("/")
    of = folder("rules/messages").get(file, {"sentences": []})
    return any(one["id"] == sentence for one in of["sentences"])


def causes():
    known = folder("rules/causes")
    pages = {f"causes/{name}.md": cause(name, of) for name, of in known.items()}
    rows = [[f"[{plain(name)}]({name}.md)", prose(of["title"], "../")] for name, of in known.items()]
    pages["causes/index.md"] = "# Causes\n\nEach is a file of `rules/causes`.\n\n" + table(["cause", "is"], rows)
    return pages


def fix(name, of):
    path = ROOT / f"rules/ladder/{name}.yaml"
    first = [(code(key), prose(of[key], "../")) for key in ("order", "science", "effort", "verify", "how", "effect", "source") if key in of]
    slower = f"{' to '.join(of['slower'])} % ({prose(of['slower_source'], '../')})" if "slower" in of else "no slower"
    relieves = of["relieves"] if isinstance(of["relieves"], list) else [of["relieves"]]
    out = f"# {plain(name)}\n\n{prose(of['title'], '../')}\n\n" + listed([
        ("relieves", ", ".join(map(code, relieves))), ("slower", slower), *first, ("file", code(f"rules/ladder/{name}.yaml"))])
    told = {"title", "relieves", "slower", "slower_source", "order", "science", "effort", "verify", "how", "effect", "source"}
    written = as_written(path)
    rest = "\n".join(text for key, text in written.items() if key not in told)
    return out + "## When, and what it changes\n\nAs [ladder.md](../ladder.md) explains it.\n\n" + block(rest, "yaml")


def fixes():
    known = dict(sorted(folder("rules/ladder").items(), key=lambda one: int(one[1]["order"])))
    pages = {f"fixes/{name}.md": fix(name, of) for name, of in known.items()}
    rows = [[f"[{name}]({name}.md)", prose(of["title"], "../"), of["science"], of["effort"]] for name, of in known.items()]
    pages["fixes/index.md"] = "# Fixes\n\nEach is a file of `rules/ladder`, in the ladder's order.\n\n" + table(
        ["fix", "is", "changes the science", "effort"], rows)
    return pages
