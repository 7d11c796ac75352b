#!/usr/bin/env python3
"""The pieces that `oomplan stream --tokens` counts, beside those that GPT-2's own tokenizer cuts.

    python3 -m venv .venv && .venv/bin/pip install tokenizers
    .venv/bin/python bench/loader/pieces.py --program build/release/oomplan-data

Random ASCII, where both are to be equal; random Unicode, where oomplan is to have no more, row by row; the project's own
documents, with the tokens of a byte-level BPE of 8,000 entries that is trained on half of them and asked about the other
half. Ends with 1 where one of the first two is not so.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

ROOT = Path(__file__).resolve().parent.parent.parent
CUT = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
ASCII = "abcXYZ019  \n\t.,!'\"()-_" + "'s'll't'd"
WIDE = ASCII + "éßñ中文字かなкириلعرب½²٣…“”—€😀\u00a0\u3000\u2009\u0301"


def pieces_of(program, texts, folder):
    path = Path(folder) / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    done = subprocess.run([program, "stream", "--tokens", "--json", str(path)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["tokens"]["text_pieces"]


def cut(texts):
    return sum(len(CUT.pre_tokenize_str(text)) for text in texts)


def random_texts(letters, count, length):
    draw = random.Random(1)
    return ["".join(draw.choices(letters, k=1 + draw.randrange(length))) for _ in range(count)]


def documents():
    texts = [path.read_text() for path in sorted(ROOT.glob("docs/*.md"))]
    return [part for text in texts for part in text.split("\n\n") if part]


def tokens_of(train, test):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = CUT
    tokenizer.train_from_iterator(train, trainers.BpeTrainer(
        vocab_size=8000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return sum(len(tokenizer.encode(text).ids) for text in test)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    with tempfile.TemporaryDirectory() as folder:
        ascii_texts = random_texts(ASCII, 20_000, 60)
        ours, theirs = round(pieces_of(program, ascii_texts, folder)["mean"] * len(ascii_texts)), cut(ascii_texts)
        print(f"random ASCII: {ours} pieces, GPT-2's {theirs}")
        wide = random_texts(WIDE, 400, 60)
        more = [text for text in wide if pieces_of(program, [text], folder)["longest"] > cut([text])]
        ours_wide = round(pieces_of(program, wide, folder)["mean"] * len(wide))
        print(f"random Unicode: {ours_wide} pieces, GPT-2's {cut(wide)}; rows with more: {len(more)}")
        parts = documents()
        test = parts[1::2]
        counted = round(pieces_of(program, test, folder)["mean"] * len(test))
        tokens = tokens_of(parts[::2], test)
        size = sum(len(text.encode()) for text in test)
        print(f"documents: {size} bytes, {counted} pieces, GPT-2's {cut(test)}, {tokens} tokens: "
              f"{tokens / counted:.2f} a piece, {size / tokens:.2f} bytes a token")
    return 0 if ours == theirs and not more else 1


if __name__ == "__main__":
    sys.exit(main())
