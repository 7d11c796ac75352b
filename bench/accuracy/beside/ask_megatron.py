"""What Megatron-LM's theoretical_memory_usage.py says of each layout on stdin: ask_megatron.py CHECKOUT. The file alone is loaded."""

import contextlib
import importlib.util
import io
import json
import pathlib
import sys
import types

MEBIBYTE = 1 << 20


def formula(checkout):
    """The module, with the two functions that it takes from its package, neither of which counts anything."""
    package = types.ModuleType("megatron_training")
    package.__path__ = []
    utilities = types.ModuleType("megatron_training.utils")
    utilities.is_hybrid_model = lambda args: args.hybrid_layer_pattern is not None
    utilities.print_rank_0 = print
    sys.modules |= {"megatron_training": package, "megatron_training.utils": utilities}
    file = pathlib.Path(checkout) / "megatron/training/theoretical_memory_usage.py"
    spec = importlib.util.spec_from_file_location("megatron_training.theoretical_memory_usage", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arguments(layout):
    """As Megatron's parser would leave them. What attention keeps is not kept by flash kernels either, so that layouts without checkpoints are
    asked with selective recomputation where there is sequence parallelism, which has a formula of its own."""
    of, selective = layout["sizes"], layout["sequence_parallel"] and not layout["checkpoints"]
    multiple = 128 * layout["tensor"]
    return types.SimpleNamespace(
        hybrid_layer_pattern=None, kv_channels=of["head"], num_attention_heads=of["heads"], hidden_size=of["hidden"], num_layers=of["layers"],
        group_query_attention=of["kv_heads"] != of["heads"], num_query_groups=of["kv_heads"], ffn_hidden_size=of["ffn"], swiglu=True,
        normalization="RMSNorm", multi_latent_attention=False, num_experts=None, moe_shared_expert_intermediate_size=None, moe_latent_size=None,
        mtp_num_layers=None, add_bias_linear=False, padded_vocab_size=-(-of["vocabulary"] // multiple) * multiple,
        untie_embeddings_and_output_weights=not of["tied"], tensor_model_parallel_size=layout["tensor"], pipeline_model_parallel_size=layout["stages"],
        expert_tensor_parallel_size=layout["tensor"], expert_model_parallel_size=1, world_size=layout["world"], data_parallel_size=layout["ranks"],
        use_distributed_optimizer=layout["kind"] == "zero1", seq_length=layout["length"], micro_batch_size=layout["micro_batch"],
        virtual_pipeline_model_parallel_size=layout["virtual"] if layout["virtual"] > 1 else None, sequence_parallel=layout["sequence_parallel"],
        recompute_granularity="full" if layout["checkpoints"] else "selective" if selective else None)


def answer(layout, module):
    if layout["data"] not in ("none", "ddp", "zero1", "tp"):
        return {"none": "knows replicas and the distributed optimizer (ZeRO's stage 1), no shards of weights or gradients"}
    with contextlib.redirect_stdout(io.StringIO()):
        states, activations, total = module.report_theoretical_memory(arguments(layout), num_microbatches=layout["micro_batches"])
    return {"bytes": round(total * MEBIBYTE), "parts": {"states": round(states * MEBIBYTE), "activations": round(activations * MEBIBYTE)}}


def main():
    module = formula(sys.argv[1])
    print(json.dumps({layout["id"]: answer(layout, module) for layout in json.load(sys.stdin)}))


if __name__ == "__main__":
    main()
