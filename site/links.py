"""Which links of a folder of Markdown pages lead nowhere: to no file, or to no heading of one."""

import functools
import re

FENCE = re.compile(r"^( *)(`{3,}|~{3,})")
LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*?)\s*#*$")
ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.I)


def without_code(text):
    """Lines with code left out: numbers of lines stay."""
    fence = None
    for line in text.splitlines():
        mark = FENCE.match(line)
        if fence:
            fence = None if mark and mark[2].startswith(fence) and not line.strip().strip(fence[0]) else fence
            yield ""
        elif mark:
            fence = mark[2]
            yield ""
        else:
            yield re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", lambda found: "`" + " " * (len(found[0]) - 2) + "`", line)


def slug(heading):
    """As GitHub and pymdownx.slugs make an anchor of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"\\(.)", r"\1", text).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", text.strip()).replace(" ", "-")


@functools.cache
def anchors(path):
    text, out, fenced = path.read_text(), {}, without_code(path.read_text())
    for line, kept in zip(text.splitlines(), fenced):
        if kept.startswith("#") and (found := HEADING.match(line)):
            name = slug(found[1])
            out[name] = out.get(name, -1) + 1
    return {name if number == 0 else f"{name}_{number}" for name, most in out.items() for number in range(most + 1)}


def links(path):
    """(line, target) of each link within the site."""
    for number, line in enumerate(without_code(path.read_text()), 1):
        for found in LINK.finditer(line):
            if not ELSEWHERE.match(found[1]):
                yield number, found[1]


def why_broken(path, target):
    file, _, anchor = target.partition("#")
    to = (path.parent / file).resolve() if file else path
    if not to.is_file():
        return "no such page"
    if anchor and to.suffix == ".md" and anchor not in anchors(to):
        return "no such heading there"
    return ""


def broken(docs):
    """A line for each, as a compiler writes it."""
    out = []
    for path in sorted(docs.resolve().rglob("*.md")):
        for number, target in links(path):
            if why := why_broken(path, target):
                out.append(f"{path}:{number}: {target}: {why}")
    return out
