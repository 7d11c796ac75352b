#!/usr/bin/env python3
"""Wall time of `oomplan gate` over many generated configs.

    bench/speed/gate.py [--program build/release/oomplan] [--configs 1000] [--runs 5] [--sarif]

Axolotl and TRL configs over models of 0.1 to 70 billion parameters, full, LoRA and QLoRA, checkpointed or not, in every
mixture of batch, length and accumulation, against an RTX 4090 and a policy-free 5 % of headroom. The median is printed
with what the configs came to; exit is 1 where it misses 3 s. With --sarif the gate writes SARIF too, and so looks for the
fix of each config that does not fit; how many it finds is printed, and no time is missed.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GOAL_S = 3
MODELS = ["openai-community/gpt2", "Qwen/Qwen2.5-0.5B", "Qwen/Qwen2.5-7B", "meta-llama/Llama-3.1-8B",
          "meta-llama/Llama-3.1-70B"]


def axolotl(i):
    length = [256, 512, 768, 1024][i // 60 % 4] if MODELS[i // 3 % len(MODELS)].endswith("gpt2") else \
        [512, 1024, 2048, 4096][i // 60 % 4]
    adapter = [None, "lora", "qlora"][i % 3]
    lines = [f"base_model: {MODELS[i // 3 % len(MODELS)]}",
             f"micro_batch_size: {1 << i // 15 % 4}",
             f"sequence_len: {length}",
             f"gradient_accumulation_steps: {1 + i // 240 % 4}",
             f"gradient_checkpointing: {'true' if i % 2 else 'false'}",
             "bf16: true", "optimizer: adamw_torch_fused", "flash_attention: true", "pad_to_sequence_len: true",
             "datasets:\n  - path: data.jsonl\n    type: alpaca"]
    if adapter:
        lines += [f"adapter: {adapter}", f"lora_r: {8 << i % 4}", "lora_alpha: 16", "lora_dropout: 0.05",
                  "lora_target_linear: true"]
    if adapter and MODELS[i // 3 % len(MODELS)].endswith("gpt2"):  # Axolotl would stop at its attention.
        lines += ["lora_qkv_kernel: false", "lora_o_kernel: false"]
    if adapter == "qlora":
        lines.append("load_in_4bit: true")
    return "\n".join(lines) + f"\noutput_dir: out/{i}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build/release/oomplan"))
    parser.add_argument("--configs", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sarif", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for i in range(options.configs):
            Path(folder, f"{i:04}.yml").write_text(axolotl(i))
        command = [Path(options.program).resolve(), "gate", "*.yml", "--gpu", "rtx-4090", "--format", "json"]
        command += ["--output", "sarif=out.sarif"] if options.sarif else []
        walls = []
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(options.runs):
            start = time.perf_counter()
            done = subprocess.run(command, cwd=folder, capture_output=True)
            walls.append(time.perf_counter() - start)
        sarif = json.loads(Path(folder, "out.sarif").read_text()) if options.sarif else None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / options.runs
    counts = json.loads(done.stdout)["counts"]
    if counts["undecided"] or counts["invalid"]:
        sys.exit(f"not a fair question: {counts}")
    print(f"{statistics.median(walls):.2f} s for {options.configs} configs, median of {options.runs}, "
          f"of {processor:.2f} s on all cores together; {counts['fits']} fit, {counts['does_not_fit']} do not")
    if sarif:
        print(f"{sum('fixes' in one for one in sarif['runs'][0]['results'])} of {counts['does_not_fit']} have a fix")
        return 0
    return 0 if statistics.median(walls) < GOAL_S else 1


if __name__ == "__main__":
    sys.exit(main())
