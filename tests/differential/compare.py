#!/usr/bin/env python3
"""Holds oomplan's readers of YAML, JSON and TOML against PyYAML's safe_load, json and tomllib.

    compare.py --program build/release/tests/read_json [--count N | --seconds S] [--seed N] [SYNTAX...]

Texts are the suites of others that scripts/suites fetched, the texts in texts/ here, and as many made ones as asked for:
put together from the pieces of each syntax, and mutated. Both sides must refuse a text or read the same from it; where
they differ on purpose, PURPOSE below says why. Prints a table; ends with 1 where anything else differs, and 77 where
Python lacks PyYAML.
"""

import argparse
import datetime
import json
import math
import pathlib
import random
import subprocess
import sys
import time
import tomllib

try:
    import yaml
except ImportError:
    yaml = None

HERE = pathlib.Path(__file__).resolve().parent
SUITES = HERE.parent.parent / ".deps" / "suites"

# Refused by oomplan alone, by code or by the beginning of its message.
PURPOSE = {
    "read/duplicate-key": "a key twice: Python takes the last without a word",
    "read/empty": "nothing but comments: there is no config in it",
    "read/too-deep": "a budget: hostile files",
    "read/too-many-nodes": "a budget: hostile files",
    "read/too-large": "a budget: hostile files",
    "a key must be a single word or string": "keys that are lists or mappings",
    "this alias stands for a value it is part of": "values within themselves",
    "this tag has no meaning here": "!!binary, !!set, !!omap, !!pairs: no key of a framework takes them",
    "no character has this number": "a lone surrogate is no text of UTF-8",
    "the file begins with two byte order marks": "the second would be part of a key",
    "invalid string: surrogate": "a lone surrogate is no text of UTF-8",
    "NaN is not JSON": "not JSON, and no key takes it",
    "nan is not JSON": "not JSON, and no key takes it",
    "Infinity is not JSON": "not JSON, and no key takes it",
    "-Infinity is not JSON": "not JSON, and no key takes it",
    "the number is too large": "Python reads infinity, and no key takes it",
    "not a valid TOML value: strings": "a number of more than 64 bits: TOML leaves it open",
    "this is no !!": "infinity, nan and numbers with space in them, which Python's float and int take from a !!tag",
}
# Refused by Python alone, by the beginning of its message.
PYTHON_ONLY = {
    "Invalid statement (at line 1, column 1)": "a byte order mark: TOML 1.1 ignores it",
    "Exceeds the limit": "a number of more than 4300 digits: no key takes it",
    "maximum recursion depth": "Python's own depth",
}
EQUAL_KEYS = "keys that Python takes for one (1, 1.0, true): no key of a framework is a number"


# ---- Both sides -----------------------------------------------------------------------------------------------------


class Oomplan:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def read(self, syntax, data):
        self.process.stdin.write(syntax.encode() + b" " + data.hex().encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"compare: the reader died of {syntax} {data!r}")
        return json.loads(line)


def python_read(syntax, data):
    """(True, value), or (False, why). As the frameworks open files: as text, with any end of line."""
    try:
        if syntax == "toml":
            return True, tomllib.loads(data.decode("utf-8"))
        text = data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        return True, yaml.safe_load(text) if syntax == "yaml" else json.loads(text)
    except RecursionError:
        return False, "maximum recursion depth"
    except Exception as error:  # PyYAML lets all kinds through
        return False, str(error) or type(error).__name__


# ---- The same? ------------------------------------------------------------------------------------------------------


def same_key(ours, theirs):
    if isinstance(theirs, str):
        return ours == theirs
    try:
        return yaml.safe_load(ours) == theirs  # "1" of 1, "yes" of True; oomplan keeps keys as written
    except Exception:
        return False


def same_scalar(a, b):
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
        return True
    return type(a) is type(b) and a == b


def same(ours, theirs):
    if isinstance(ours, dict) and "number" in ours:
        return isinstance(theirs, (int, float)) and not isinstance(theirs, bool) and beyond(theirs)
    if isinstance(theirs, dict):
        return isinstance(ours, dict) and same_mapping(ours["map"], theirs)
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, (datetime.date, datetime.time)):
        return isinstance(ours, str)
    return same_scalar(ours, theirs)


def beyond(number):
    return not math.isfinite(number) or number == 0 if isinstance(number, float) else not -(2**63) <= number < 2**63


def same_mapping(ours, theirs):
    if len(ours) != len(theirs):
        return False
    left = list(ours)
    for key, value in theirs.items():
        found = next((pair for pair in left if same_key(pair[0], key) and same(pair[1], value)), None)
        if found is None:
            return False
        left.remove(found)
    return True


def purpose_of(refusal):
    for beginning, why in PURPOSE.items():
        if refusal["refused"] == beginning or refusal["why"].startswith(beginning):
            return why
    return None


def merges_keys(theirs, ours):
    """Whether a mapping has keys that are different texts and equal in Python."""
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        return any(map(merges_keys, theirs, ours))
    if not isinstance(theirs, dict) or not isinstance(ours, dict) or "map" not in ours:
        return False
    if len(ours["map"]) > len(theirs) and not all(isinstance(key, str) for key in theirs):
        return True
    return any(merges_keys(value, pair[1]) for value in theirs.values() for pair in ours["map"])


def verdict(ours, theirs):
    """"equal", "both refuse", "on purpose: …", or None where they differ."""
    good, value = theirs
    if "refused" in ours:
        return "both refuse" if not good else "on purpose: " + purpose_of(ours) if purpose_of(ours) else None
    if good:
        return "equal" if same(ours["is"], value) else "on purpose: " + EQUAL_KEYS if merges_keys(value, ours["is"]) else None
    why = next((why for beginning, why in PYTHON_ONLY.items() if value.startswith(beginning)), None)
    return "on purpose: " + why if why else None


# ---- Texts ----------------------------------------------------------------------------------------------------------


def own_texts(syntax):
    """texts/<syntax>.txt: texts between lines of ====; \\uXXXX within ⟦⟧ is that character."""
    path = HERE / "texts" / f"{syntax}.txt"
    for text in path.read_text(encoding="utf-8").removesuffix("\n").split("\n====\n"):
        while "⟦" in text:
            before, _, rest = text.partition("⟦")
            code, _, after = rest.partition("⟧")
            text = before + chr(int(code, 16)) + after
        yield text.encode("utf-8")


def suite_texts(syntax):
    path = SUITES / f"{syntax}.json"
    if path.is_file():
        for text in json.loads(path.read_text(encoding="utf-8")):
            yield text.encode("utf-8", "surrogatepass")


PIECES = {
    "yaml": [
        "a", "b", "key", "1", "0x1F", "0b_", "0o7", "010", "1_0", "1:30", "-1", "+.inf", "1.5", "1e5", "1.e+5", ".5", "~",
        "null", "yes", "off", "=", "<<", "2024-01-30", "2024-02-30", "2024-1-1 1:02:03", "é", "'q'", '"q"', "''", '""',
        '"\\x41\\n\\\n b"', "'it''s'", ": ", ":", " :", "- ", "-", "? ", ", ", ",", "[", "]", "{", "}", "&x ", "*x", "*x ",
        "&y ", "*y", "!", "! ", "!!str ", "!!int ", "!!float ", "!!bool ", "!!map ", "!t ", "| ", "|\n", "|-\n", ">+2\n",
        ">\n", "# c", " # c\n", "#", "\n", "\n", "\n", "\n  ", "\n  ", "\n    ", " ", "  ", "\t", "\r", "\r\n", "---\n",
        "--- ", "...\n", "%YAML 1.1\n", "%TAG ! tag:x,1:\n", "\x85", "\u2028", "\u2029", "\ufeff", "\x7f", "\xa0", "'", '"',
        "a: 1\n", "b: 2\n", "  c: 3\n", "- d\n", "  - e\n", "f: [1, 2]\n", "g: {h: i}\n", "<<: *x\n", "k: &x {l: m}\n",
        "micro_batch_size: 64\n", "lr: 1e-4\n", "@", "`", "%", "\\",
    ],
    "json": [
        "{", "}", "[", "]", ",", ":", '"a"', '"b"', '"\\u00e9"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\/"', '"\\x"', '"\t"',
        "1", "-1", "-0", "01", "1.5", "1.", ".5", "1e5", "1E+5", "1e999", "-", "+1", "0x1", "true", "false", "null", "True",
        "NaN", "Infinity", "-Infinity", " ", "\n", "\t", "\r", "\u2028", "\xa0", "'a'", "//", '"é"', '"\x7f"', '""',
        '{"a": 1}', '{"a": {"b": [1, 2, {"c": null}]}}', '"\u2029"', "12345678901234567890", '"',
    ],
    "toml": [
        "a", "b.c", '"q"', "'q'", "=", " = ", "1", "-1", "+1", "0", "01", "1_0", "1__0", "_1", "0x1F", "0o17", "0b1", "1.5",
        "1.", ".5", "1e5", "1.5e-3", "inf", "-nan", "true", "false", "True", '"a\\u00e9"', '"\\x41"', '"\\ud800"',
        '"""a\nb"""', '"""a\\\n  b"""', "'''a\nb'''", "1979-05-27", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00.5-01:00",
        "07:32:00", "1979-02-30", "25:00:00", "[", "]", "[[", "]]", "{", "}", ", ", ",", "\n", "\n", "\n", " ", "\t", "\r\n",
        "\r", "# c\n", "#", ".", "a = 1\n", "[t]\n", "[t.u]\n", "[[r]]\n", "b = [1, 2]\n", "c = {d = 1, e = 'f'}\n", "\x7f",
        "é", "\ufeff", "\x85", "a.b = 2\n", "'", '"',
    ],
}


def put_together(syntax, random_):
    return "".join(random_.choice(PIECES[syntax]) for _ in range(random_.randint(1, 14))).encode("utf-8")


def nested(syntax, random_, depth=0):
    """A text that is mostly right."""
    if syntax == "json":
        return json.dumps(made_value(random_), ensure_ascii=random_.random() < 0.5, indent=random_.choice([None, 1]))
    if syntax == "yaml":
        return yaml.safe_dump(made_value(random_), default_flow_style=random_.choice([None, True, False]),
                              allow_unicode=random_.random() < 0.7, default_style=random_.choice([None, None, '"', "'", "|"]),
                              width=random_.choice([10, 80]), explicit_start=random_.random() < 0.2)
    lines = [f"{random_.choice('abcdefgh')}{n} = {json.dumps(made_leaf(random_))}\n" for n in range(random_.randint(1, 5))]
    return "".join(lines).replace("null", "0").replace("NaN", "nan").replace("Infinity", "inf")


def made_leaf(random_):
    return random_.choice([0, 1, -7, 2**40, 0.5, 1e-5, 1e300, True, False, None, "", "a", "x y", "é", "yes", "1", "1e5", " a ",
                           "a\nb", "a: b", "- c", "#d", "\u2028", "\x85", "2024-01-01", "null", "~", "'", '"', "\t", "\\n"])


def made_value(random_, depth=0):
    kind = random_.random()
    if depth > 3 or kind < 0.4:
        return made_leaf(random_)
    if kind < 0.65:
        return [made_value(random_, depth + 1) for _ in range(random_.randint(0, 4))]
    return {str(made_leaf(random_)): made_value(random_, depth + 1) for _ in range(random_.randint(0, 4))}


def mutated(syntax, data, random_):
    text = data.decode("utf-8", "ignore")
    for _ in range(random_.randint(1, 3)):
        at = random_.randint(0, len(text))
        kind = random_.random()
        if kind < 0.5:
            text = text[:at] + random_.choice(PIECES[syntax]) + text[at:]
        elif kind < 0.75:
            text = text[:at] + text[at + random_.randint(1, 3):]
        else:
            begin = random_.randint(0, len(text))
            text = text[:at] + text[begin:begin + random_.randint(1, 12)] + text[at:]
    return text.encode("utf-8")


def made_texts(syntax, random_, seeds):
    while True:
        kind = random_.random()
        if kind < 0.35:
            yield put_together(syntax, random_)
        elif kind < 0.5:
            yield nested(syntax, random_).encode("utf-8")
        elif kind < 0.75:
            yield mutated(syntax, nested(syntax, random_).encode("utf-8"), random_)
        else:
            yield mutated(syntax, random_.choice(seeds), random_)


# ---- The comparison -------------------------------------------------------------------------------------------------


def smaller(syntax, data, differs):
    """The text with as much left out as still differs."""
    step = max(len(data) // 2, 1)
    while step:
        at = 0
        while at < len(data):
            shorter = data[:at] + data[at + step:]
            if shorter and differs(shorter):
                data = shorter
            else:
                at += step
        step //= 2
    return data


class Comparison:
    def __init__(self, oomplan, syntax):
        self.oomplan = oomplan
        self.syntax = syntax
        self.found = {}

    def judge(self, data):
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            return "not UTF-8"
        return verdict(self.oomplan.read(self.syntax, data), python_read(self.syntax, data))

    def run(self, texts, most=None, until=None):
        counts = {}
        for number, data in enumerate(texts):
            if (most is not None and number >= most) or (until is not None and time.monotonic() > until):
                break
            judged = self.judge(data)
            counts["tried"] = counts.get("tried", 0) + 1
            counts[judged or "DIFFER"] = counts.get(judged or "DIFFER", 0) + 1
            if judged is None and len(self.found) < 10:
                least = smaller(self.syntax, data, lambda text: self.judge(text) is None)
                self.found[least] = (self.oomplan.read(self.syntax, least), python_read(self.syntax, least))
        return counts


def print_counts(syntax, source, counts):
    purposes = {name: count for name, count in counts.items() if name.startswith("on purpose")}
    shown = "  ".join(f"{name} {counts.get(name, 0):6,}" for name in ("tried", "equal", "both refuse"))
    print(f"{syntax:5} {source:7} {shown}  on purpose {sum(purposes.values()):5,}  differ {counts.get('DIFFER', 0):,}")
    for name, count in sorted(purposes.items()):
        print(f"{'':14}{count:6,} {name}")


def compare(oomplan, syntax, options):
    comparison = Comparison(oomplan, syntax)
    random_ = random.Random(f"{options.seed} {syntax}")
    seeds = list(own_texts(syntax)) + list(suite_texts(syntax))
    until = time.monotonic() + options.seconds if options.seconds else None
    parts = {"own": own_texts(syntax), "suite": suite_texts(syntax), "made": made_texts(syntax, random_, seeds)}
    for source, texts in parts.items():
        made = source == "made"
        print_counts(syntax, source, comparison.run(texts, options.count if made and not until else None, until if made else None))
    for data, (ours, theirs) in comparison.found.items():
        print(f"{syntax}: {data.decode('utf-8')!r}\n  oomplan {ours}\n  Python  {theirs}")
    return not comparison.found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("syntaxes", nargs="*", metavar="SYNTAX")
    options = parser.parse_args()
    if yaml is None:
        print("compare: skipped, Python has no PyYAML (scripts/setup brings it)")
        sys.exit(77)
    oomplan = Oomplan(options.program)
    good = [compare(oomplan, syntax, options) for syntax in options.syntaxes or PIECES]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
