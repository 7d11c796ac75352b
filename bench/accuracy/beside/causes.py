"""Why estimators are off. What each counts is put into groups, beside what there was of each group at the measured peak; then what is named as a
cause is taken out of a tool's figures, one cause after the other, and what is left of the error is printed.

What there was is oomplan's account of the peak, which adds up to the measured bytes.
"""

import statistics

median = statistics.median

GROUPS = {"states": ("weights", "gradients", "optimizer"), "activations": ("activations", "attention_scores"), "logits": ("logits_and_loss",),
          "gathered, reduced": ("gathered", "communication"), "temporary": ("temporaries", "inputs", "autocast_copies")}
TITAN = {"states": ("Sharded Param", "Sharded Grad", "Unsharded Grad", "OptState"), "activations": ("Activation", "Temp"), "logits": (),
         "gathered, reduced": ("Unsharded Param", "All Gather", "Reduce Scatter"), "temporary": ("Inputs", "Buffer")}


def errors(said, layouts):
    """In per cent of what was measured."""
    return [100 * (said[layout["id"]] / layout["measured"] - 1) for layout in layouts if layout["id"] in said]


def grouped(parts, groups):
    return {group: sum(parts.get(name, 0) for name in names) for group, names in groups.items()}


def of_llm_analysis(answer, _):
    """Its peak has the larger of activations and gradients, and the larger of what is gathered ahead and the loss's gradient."""
    of = answer["parts"]
    kept, ahead = of["activations"] >= of["gradients"], of["gathered"] >= of["loss"]
    return {"states": of["weights"] + of["optimizer"] + (0 if kept else of["gradients"]), "activations": (of["activations"] - of["logits"]) * kept,
            "logits": of["logits"] * kept + of["loss"] * (not ahead), "gathered, reduced": of["gathered"] * ahead, "temporary": 0}


def of_deepspeed(answer, layout):
    gathered = 4 * layout["sizes"]["embedding"] if layout["kind"] == "zero3" else 0
    return {"states": answer["bytes"] - gathered, "activations": 0, "logits": 0, "gathered, reduced": gathered, "temporary": 0}


def of_megatron(answer, layout):
    """Logits and the head's input, in its two formulas; none in a pipeline."""
    of = answer["parts"]
    tokens, sizes, tensor = layout["length"] * layout["micro_batch"], layout["sizes"], layout["tensor"]
    selective = layout["sequence_parallel"] and not layout["checkpoints"]
    logits = 4 * tokens * (sizes["hidden"] + sizes["vocabulary"]) / tensor if selective else 2.1 * tokens * (sizes["hidden"] + sizes["vocabulary"] / tensor)
    logits = round(logits) if layout["stages"] == 1 else 0
    return {"states": of["states"], "activations": of["activations"] - logits, "logits": logits, "gathered, reduced": 0, "temporary": 0}


def sorted_out(name, answer, layout):
    """A tool's figure in groups, which add up to it."""
    groups = SORTED[name](answer, layout)
    if abs(sum(groups.values()) - answer["bytes"]) > 100:
        raise SystemExit(f"{name}, {layout['id']}: {groups} are not {answer['bytes']}")
    return groups


def of_torchtitan(answer, _):
    return grouped(answer["parts"], TITAN)


SORTED = {"llm-analysis": of_llm_analysis, "DeepSpeed": of_deepspeed, "Megatron-LM": of_megatron, "torchtitan": of_torchtitan,
          "torchtitan, shapes apart": of_torchtitan}


def state_bytes(layout):
    """Of a parameter, of all ranks' together: weight, gradient and Adam's two moments, as held; DeepSpeed has fp32 masters and moments beside 16 bits."""
    if layout["kind"].startswith("zero"):
        return 4, 12
    return (2 * 4, 2 * 4) if layout["held"] == "fp32" else (2 * 2, 2 * 2)


def states_as_held(said, layout, _):
    """Megatron's 18 bytes a parameter, or 6 and 12 shared, as the run's own."""
    split = 6 + 12 / layout["ranks"] if layout["kind"] == "zero1" else 18
    whole, moments = state_bytes(layout)
    return said | {"states": said["states"] / split * (whole + (moments / layout["ranks"] if layout["kind"] == "zero1" else moments))}


def all_parameters(said, layout, _, answer):
    """Of llm-analysis: a head of its own, heads wider than the model, biases."""
    if layout["stages"] > 1:
        return said
    return said | {"states": said["states"] * layout["sizes"]["parameters"] / answer["parameters"]}


def as_it_was(*groups):
    return lambda said, layout, was: said | {group: was[group] for group in groups}


STEPS = {
    "llm-analysis": [("all parameters counted", all_parameters), ("logits as they were (fp32 copies, the loss's own tensors)", as_it_was("logits")),
                     ("what is gathered and reduced as it was (embedding and head, buffers)", as_it_was("gathered, reduced")),
                     ("activations as they were", as_it_was("activations")), ("temporary tensors", as_it_was("temporary")),
                     ("weights, gradients and optimizer as they were", as_it_was("states"))],
    "DeepSpeed": [("activations and logits", as_it_was("activations", "logits")), ("what is gathered and reduced as it was", as_it_was("gathered, reduced")),
                  ("temporary tensors", as_it_was("temporary")), ("weights, gradients and optimizer as they were", as_it_was("states"))],
    "Megatron-LM": [("bytes of a parameter as the run's", states_as_held), ("logits as they were", as_it_was("logits")),
                    ("activations as they were (checkpoints)", as_it_was("activations")), ("what is gathered and reduced", as_it_was("gathered, reduced")),
                    ("temporary tensors", as_it_was("temporary")), ("weights, gradients and optimizer as they were", as_it_was("states"))],
}


def shares(name, of_tool, was, layouts):
    """Medians over a tool's layouts of what it counts beyond what there was, in per cent of what was measured."""
    rows = [(sorted_out(name, of_tool[one["id"]], one), was[one["id"]], one["measured"]) for one in layouts if "bytes" in of_tool[one["id"]]]
    return [median(100 * (said[group] - there[group]) / measured for said, there, measured in rows) for group in GROUPS]


def steps(name, of_tool, was, layouts):
    asked = [one for one in layouts if "bytes" in of_tool[one["id"]]]
    said = {one["id"]: sorted_out(name, of_tool[one["id"]], one) for one in asked}
    left = errors({key: sum(groups.values()) for key, groups in said.items()}, asked)
    print(f"\n| {name} | median error | worst |\n| --- | ---: | ---: |\n| as it says | {median(map(abs, left)):.1f} % | {max(left, key=abs):+.1f} % |")
    for why, change in STEPS.get(name, []):
        for one in asked:
            more = (of_tool[one["id"]],) if change is all_parameters else ()
            said[one["id"]] = change(said[one["id"]], one, was[one["id"]], *more)
        left = errors({key: sum(groups.values()) for key, groups in said.items()}, asked)
        print(f"| {why} | {median(map(abs, left)):.1f} % | {max(left, key=abs):+.1f} % |")


def tell(answers, layouts):
    was = {key: grouped(row["parts"], GROUPS) for key, row in answers["oomplan"].items() if "parts" in row}
    print("\n| counted beyond what there was, median | " + " | ".join(GROUPS) + " |\n| --- |" + " ---: |" * len(GROUPS))
    for name, of_tool in answers.items():
        if name in SORTED:
            print(f"| {name} | " + " | ".join(f"{share:+.1f} %" for share in shares(name, of_tool, was, layouts)) + " |")
    for name, of_tool in answers.items():
        if name in STEPS:
            steps(name, of_tool, was, layouts)
