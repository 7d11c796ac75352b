"""The data files, as they are written: each scalar is its text."""

import functools
import pathlib

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def read(path):
    return yaml.load(path.read_text(), LOADER) or {}


@functools.cache
def folder(name):
    """{id: what its file says} of models/… or rules/…"""
    return {path.stem: read(path) for path in sorted((ROOT / name).glob("*.yaml"))}


def remark(path):
    """The comment at a file's head: what it is, and where it is from."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        lines.append(line[1:].strip())
    return " ".join(lines)


def as_written(path):
    """{key: the lines that give its value}, of a file's outermost mapping."""
    out, key = {}, None
    for line in path.read_text().splitlines():
        if line and line[0] not in " #-}]":
            key = line.partition(":")[0]
            out[key] = []
        if key:
            out[key].append(line)
    return {key: "\n".join(lines).rstrip() for key, lines in out.items()}


def hub_id(name):
    return name.replace("--", "/", 1)


@functools.cache
def diagnosed():
    """{"file/sentence": causes that its own examples are diagnosed as}, as a test of the program holds them."""
    out = {}
    for line in (ROOT / "tests/data/diagnose/messages.txt").read_text().splitlines():
        name, _, said = line.partition(" | ")
        if said:
            out.setdefault(name, []).append(said.split()[0])
    return out
