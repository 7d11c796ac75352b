"""Text of data files as Markdown: nothing in it is markup, but for the links that it names."""

import re

SPECIAL = re.compile(r"([\\`*_{}\[\]>|])")
LINK = re.compile(r"https?://[^\s)\"',;]*[^\s)\"',;.:]|\bdocs/([\w-]+\.md)\b")


def plain(text):
    return SPECIAL.sub(r"\\\1", re.sub(r"\s+", " ", str(text)).replace("&", "&amp;")).replace("<", "&lt;")


def prose(text, up=""):
    """With its addresses as links, and `docs/x.md` as one to that page; `up` leads from the page's folder to the site's."""
    text, out, at = " ".join(str(text).split()), "", 0
    for found in LINK.finditer(text):
        out += plain(text[at : found.start()])
        out += f"[{plain(found[1])}]({up}{found[1]})" if found[1] else f"<{found[0]}>"
        at = found.end()
    return out + plain(text[at:])


def code(text):
    """A code span. Where its text would end it, or a table's cell, as HTML."""
    text = str(text)
    if text and text == text.strip() and not re.search(r"[`|\n]", text):
        return f"`{text}`"
    return "<code>" + "".join(c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in text) + "</code>"


def block(text, language="text"):
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def table(head, rows):
    if not rows:
        return ""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines) + "\n"


def flat(value):
    """Fits on one line: a scalar, a list of them, or a short mapping of them."""
    if isinstance(value, dict):
        return len(value) < 9 and all(isinstance(inner, str) for inner in value.values())
    return isinstance(value, str) or all(isinstance(inner, str) for inner in value)


def one_line(value, up="../"):
    if isinstance(value, dict):
        return ", ".join(f"{code(key)} {prose(inner, up)}" for key, inner in value.items())
    if isinstance(value, list):
        return ", ".join(prose(inner, up) for inner in value) or "none"
    return prose(value, up)


def listed(pairs, up="../"):
    return "".join(f"- {key}: {value if isinstance(value, str) else one_line(value, up)}\n" for key, value in pairs) + "\n"
