#!/usr/bin/env python3
"""Holds the classifiers that models/architectures have against those of the installed transformers; needs PyYAML too.

    python scripts/check_heads.py

Prints a line for each model_type that differs, and exits 1 where a file has a classifier that transformers has not.
What transformers has beyond ("not played") is said, and no error.
"""

import sys
from pathlib import Path

import yaml
from transformers.models.auto import modeling_auto as auto

FOLDER = Path(__file__).resolve().parent.parent / "models/architectures"
THEIRS = {
    "sequence_classification": auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
    "token_classification": auto.MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES,
    "question_answering": auto.MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES,
    "multiple_choice": auto.MODEL_FOR_MULTIPLE_CHOICE_MAPPING_NAMES,
}


def heads_of(family):
    heads = set(family.get("heads", ()))
    whole = "language" in family
    if family["task"] == "causal_lm" and family.get("sequence_classifier", not whole):
        heads.add("sequence_classification")
    return heads


def main():
    wrong = False
    for file in sorted(FOLDER.glob("*.yaml")):
        family = yaml.safe_load(file.read_text())
        for model_type in family["model_types"]:
            for head, theirs in THEIRS.items():
                ours = head in heads_of(family)
                if ours == (model_type in theirs):
                    continue
                wrong |= ours
                print(f"{model_type}: {head} {'is not in transformers' if ours else 'not played'}")
    sys.exit(wrong)


if __name__ == "__main__":
    main()
