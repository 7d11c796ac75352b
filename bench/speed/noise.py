"""What logs are full of, a function a kind: each gives the lines of about half a megabyte, for bench/speed/logs.py."""

LINES = 4000


def each(shape):
    return lambda: "".join(shape(i) for i in range(LINES)).encode()


def loss(i):
    return (f"[rank{i % 8}]: {{'loss': {2 + i % 7 / 10:.4f}, 'grad_norm': 1.{i % 999:03d}, 'epoch': 0.{i % 99:02d}}}\n"
            f"node{i % 4}: 2026-01-21 10:{i % 60:02d}:00 INFO step {i} of 200000, {i % 300} samples/s\n")


def progress_bar(i):
    end = "\n" if i % 50 == 49 else "\r"
    return f"Epoch {i // 50}:  {i % 100:3d}%|{'█' * (i % 10)}{' ' * (10 - i % 10)}| {i}/4000 [00:{i % 60:02d}<11:32,  1.2{i % 9}it/s, loss=2.{i % 997:03d}]{end}"


def nccl_info(i):
    return f"gpu-{i % 64}:{4000 + i % 8}:{4100 + i % 8} [{i % 8}] NCCL INFO Channel {i % 32:02d}/0 : {i % 8}[{i % 8}] -> {(i + 1) % 8}[{(i + 1) % 8}] via P2P/CUMEM/read\n"


def nccl_warnings(i):
    return f"gpu-{i % 64}:{4000 + i % 8}:{4100 + i % 8} [{i % 8}] misc/socket.cc:{400 + i % 90} NCCL WARN socketProgress: Connection closed by remote peer gpu-{(i + 1) % 64}<{40000 + i}>\n"


def asserts(i):
    return f"[rank{i % 512}]: RuntimeError: CUDA error: device-side assert triggered\n"


def caught(i):
    return (f"2026-01-21 10:{i % 60:02d}:00 | WARNING | fairseq.trainer | OOM: Ran out of memory with exception: CUDA out of memory. Tried to allocate {i % 900}.00 MiB\n"
            f"2026-01-21 10:{i % 60:02d}:00 | WARNING | fairseq.trainer | attempting to recover from OOM in forward/backward pass\n")


def overflow(i):
    return f"[2026-01-21 10:{i % 60:02d}:00,{i % 999:03d}] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank {i % 8} Skipping step. Attempted loss scale: {2 ** (i % 16)}, reducing to {2 ** (i % 15)}\n"


def memory_prints(i):
    return f"[2026-01-21 10:{i % 60:02d}:00,{i % 999:03d}] [INFO] [utils.py:782:see_memory_usage] MA 12.{i % 99:02d} GB         Max_MA 14.{i % 97:02d} GB         CA 15.{i % 91:02d} GB         Max_CA 16 GB\n"


def tracebacks(i):
    return (f"Traceback (most recent call last):\n  File \"/opt/conda/lib/python3.11/site-packages/torch/utils/data/_utils/worker.py\", line {i % 400}, in _worker_loop\n"
            f"    data = fetcher.fetch(index)\nKeyError: 'image_{i}'\n")


def json_lines(i):
    return f'{{"ts": "2026-01-21T10:{i % 60:02d}:00.{i % 999:03d}Z", "level": "info", "rank": {i % 8}, "msg": "step", "step": {i}, "loss": 2.{i % 997:03d}, "memory_allocated": {i * 1048576}}}\n'


def coloured(i):
    return f"\x1b[36m(RayTrainWorker pid={3000 + i % 8})\x1b[0m \x1b[32mINFO\x1b[0m {i:6d} \x1b[1mloss\x1b[0m=\x1b[33m2.{i % 997:03d}\x1b[0m lr=1e-{i % 5}\n"


def kernel(i):
    return f"Jan 21 10:{i % 60:02d}:00 node{i % 16} kernel: [{i * 7}.{i:06d}] nfs: server store-{i % 9} not responding, still trying\n"


def deprecations(i):
    return (f"/opt/conda/lib/python3.11/site-packages/torch/utils/checkpoint.py:{i % 600}: UserWarning: torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly.\n"
            f"  warnings.warn(\n")


def prose(i):
    return f"训练 第{i}步\u00a0损失 2.{i % 997:03d}\u3000学习率 1e-{i % 5}，显存 {i % 80} GiB — “正常”\n"


def encoded(i):
    return f"{'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVowMTIzNDU2Nzg5' * 4}{i}\n"


def shapes(i):
    return f"  (layers.{i % 80}.self_attn.q_proj): Linear4bit(in_features=4096, out_features={4096 + i % 3}, bias=False)\n"


KINDS = {shape.__name__.replace("_", " "): each(shape)
         for shape in (loss, progress_bar, nccl_info, nccl_warnings, asserts, caught, overflow, memory_prints, tracebacks,
                       json_lines, coloured, kernel, deprecations, prose, encoded, shapes)}
