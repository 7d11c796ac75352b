"""A rank of a training job that holds its model on the host: loads it, offloads it, saves it. Prints what its process holds
of anonymous memory over what it held before there was a model (PSS, bytes), as JSON: {"load": the most, "run": between two
steps, "save": the most}. Started by bench/loader/models.py."""
import argparse
import json
import os
import sys
import threading
import time
import warnings

warnings.filterwarnings("ignore")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True, help="a folder with config.json and safetensors")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--job", choices=["load", "fsdp2"], default="load")
    parser.add_argument("--lora", action="store_true")
    parser.add_argument("--steps", type=int, default=2)
    return parser.parse_args()


def held():
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss_Anon"))


class Most:
    """The most that the process holds while it is open."""

    def __enter__(self):
        self.most, self.over = 0, False
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.over:
            self.most = max(self.most, held())
            time.sleep(0.005)

    def __exit__(self, *_):
        self.over = True
        self.thread.join()


def adapted(model):
    from peft import LoraConfig, get_peft_model

    return get_peft_model(model, LoraConfig(r=16, target_modules="all-linear", lora_alpha=16))


def fsdp2(model, args, out, base):
    import torch
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, get_optimizer_state_dict
    from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard

    if args.lora:
        model = adapted(model)
    policy = {"offload_policy": CPUOffloadPolicy(pin_memory=False)}
    layers = model.base_model.model.model.layers if args.lora else model.model.layers
    for layer in layers:
        fully_shard(layer, **policy)
    fully_shard(model, **policy)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], foreach=True)
    for _ in range(args.steps):
        model(input_ids=torch.ones(1, 8, dtype=torch.long), labels=torch.ones(1, 8, dtype=torch.long)).loss.backward()
        optimizer.step()
    for module in model.modules():
        if hasattr(module, "reshard"):
            module.reshard()
    out["run"] = settled() - base
    before = held()
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    with Most() as most:  # As accelerate's save_fsdp_model and save_fsdp_optimizer.
        get_model_state_dict(model, options=options)
        state = get_optimizer_state_dict(model, optimizer, options=options)
        time.sleep(0.05)
    out["save"] = most.most - before
    del state


def settled():
    """What is held once freed memory is given back."""
    import ctypes
    import gc

    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    return held()


def main():
    args = arguments()
    import torch
    import torch.distributed as dist
    import transformers

    transformers.utils.logging.disable_progress_bar()
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    transformers.LlamaForCausalLM  # Imported before memory is looked at.
    if args.lora:
        import peft  # noqa: F401
    dist.barrier()
    base = settled()
    out = {}
    with Most() as most:
        model = transformers.AutoModelForCausalLM.from_pretrained(args.model, dtype=getattr(torch, args.dtype))
        time.sleep(0.05)
    out["load"] = most.most - base
    dist.barrier()
    if args.job == "fsdp2":
        fsdp2(model, args, out, base)
    gathered = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, out)
    if dist.get_rank() == 0:
        print(json.dumps(gathered), flush=True)
    dist.barrier()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
