"""The layouts that estimators are asked about: runs of one rank of several that were measured (tests/data/oracle/ranks)."""

import json

# Ten of each kind of data parallelism, as far as there are so many, six of tensor parallelism and four of pipelines; chosen before any tool was asked.
CHOSEN = """
    d000 d001 d002 d005 d010
    d047 d048 d049 d051
    d015 d017 d023 d026 d029 d033 d034 d035 d039 d042 d044
    d070 l-z1-1b-w2 d071 d072 d075 l-z2-buckets-2e8-accum d077 d078 d079 l-z3-big-buckets
    d056 d059 d061 d065 d066 d067
    pp-1f1b-ckpt-qwen3-r0 pp-inter-8b-r0 pp-1f1b-fsdp2-8b-r0 pp-1f1b-ddp-qwen3-r0
""".split()

SCHEDULES = {"GPipe": "gpipe", "1F1B": "1f1b", "Interleaved1F1B": "interleaved 1f1b"}


def model_of(case, models):
    """The sizes that formulas ask for, of models built like Llama."""
    config = models[case["model"]]["config"] | case.get("config_override", {})
    heads = config["num_attention_heads"]
    sizes = {"family": config["model_type"], "hidden": config["hidden_size"], "ffn": config["intermediate_size"], "layers": config["num_hidden_layers"],
             "heads": heads, "kv_heads": config["num_key_value_heads"], "head": config.get("head_dim") or config["hidden_size"] // heads,
             "vocabulary": config["vocab_size"], "tied": config["tie_word_embeddings"], "longest": config["max_position_embeddings"]}
    return sizes | {"parameters": parameters(sizes), "embedding": sizes["vocabulary"] * sizes["hidden"]}


def parameters(of):
    hidden, head = of["hidden"], of["head"]
    queries, keys = of["heads"] * head, of["kv_heads"] * head
    layer = 2 * hidden * (queries + keys) + 3 * hidden * of["ffn"] + 2 * hidden
    layer += {"qwen2": queries + 2 * keys, "qwen3": 2 * head}.get(of["family"], 0)
    return of["layers"] * layer + hidden + of["vocabulary"] * hidden * (1 if of["tied"] else 2)


def kind_of(case):
    return f"zero{case['zero_stage']}" if case["parallel"] == "deepspeed" else case["parallel"]


def layout_of(case, models, measured):
    """What the tools are told of a case; a field for each thing that one of them has an option for."""
    parallel, held = case["parallel"], case.get("param_dtype", "fp32")
    tensor = case["world"] if parallel == "tp" else case.get("tp", 1)
    stages = case["world"] // case.get("dp", 1) if parallel == "pp" else 1
    sharded = parallel == "fsdp1" or parallel == "fsdp2" or case.get("dp_kind") == "fsdp2"
    compute = case.get("mp_param", "bf16") if sharded else "bf16" if case.get("precision") == "amp_bf16" else held
    return {"id": case["id"], "model": case["model"], "kind": kind_of(case), "data": case.get("dp_kind", "none") if parallel == "pp" else kind_of(case),
            "world": case["world"], "tensor": tensor, "stages": stages, "ranks": case["world"] // tensor // stages, "replicas": case.get("hsdp_replicate", 1),
            "schedule": SCHEDULES.get(case.get("schedule"), ""), "virtual": case.get("virtual", 1), "sequence_parallel": case.get("sequence_parallel", False),
            "micro_batch": case["micro_batch"], "length": case["seq_len"], "micro_batches": case.get("micro_batches", case.get("grad_accum", 1)),
            "checkpoints": case.get("gradient_checkpointing", False), "held": held,
            "compute": held if compute == "none" else compute, "reduce": case.get("mp_reduce", "fp32"), "offload": case.get("cpu_offload", False),
            "keeps": case.get("strategy") == "SHARD_GRAD_OP" or case.get("reshard") is False, "reshards": case.get("reshard", "default"),
            "sizes": model_of(case, models), "measured": measured}


def layouts(folder):
    """The chosen ones, in their order."""
    cases = {case["id"]: case for case in json.loads((folder / "cases.json").read_text())}
    peaks = {row["id"]: row["peak"] for row in json.loads((folder / "results.json").read_text())}
    models = json.loads((folder / "models.json").read_text())
    return [layout_of(cases[name], models, peaks[name]) for name in CHOSEN]


def told(layout):
    """A line of a table."""
    of = layout
    kind = of["kind"] + (f"+{of['data']}" if of["kind"] == "pp" and of["data"] != "none" else "")
    parts = [of["model"], kind, f"{of['world']} ranks", f"{of['micro_batch']}x{of['length']}",
             of["held"] if of["held"] == of["compute"] else f"{of['held']}/{of['compute']}"]
    return ", ".join(parts + [word for word in ("checkpoints", "offload") if of[word]])
