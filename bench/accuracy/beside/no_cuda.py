"""Lets code that names a CUDA device run under torch's FakeTensorMode where PyTorch has no CUDA: one stream, no kernels, no data.

prepare() before torch is imported, install() before anything that looks for CUDA is. Needs a C++ compiler and a torch for CPUs.
"""

import contextlib
import ctypes
import importlib.util
import pathlib
import subprocess
import types

SOURCE = pathlib.Path(__file__).with_suffix(".cc")  # Not .cpp: the project has no PyTorch to build or check it with.


def built(folder):
    """no_cuda.cc, compiled for the torch of this Python."""
    torch = pathlib.Path(importlib.util.find_spec("torch").origin).parent
    made = pathlib.Path(folder) / "no_cuda.so"
    headers = [f"-I{torch / 'include'}", f"-I{torch / 'include/torch/csrc/api/include'}"]
    subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", *headers, str(SOURCE), "-o", str(made)], check=True)
    return made


def prepare(made):
    """PyTorch asks for a device's hooks once, as it is imported: they have to be there first."""
    libraries = pathlib.Path(importlib.util.find_spec("torch").origin).parent / "lib"
    for name in ("libgomp*", "libc10.so", "libtorch_cpu.so"):
        for file in libraries.glob(name):
            ctypes.CDLL(str(file), mode=ctypes.RTLD_GLOBAL)
    ctypes.CDLL(str(made), mode=ctypes.RTLD_GLOBAL)


class Event:
    def __init__(self, *_, **__):
        pass

    def record(self, *_):
        return self

    def wait(self, *_):
        pass

    synchronize = wait

    def query(self):
        return True


class Stream:
    stream_id = 0

    def __init__(self, *_, **__):
        pass

    def record_event(self, event=None):
        return event or Event()

    def wait_stream(self, *_):
        pass

    wait_event = synchronize = wait_stream

    def is_capturing(self):
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def install():
    import torch

    cuda, only = torch.cuda, Stream()
    Stream.device = torch.device("cuda", 0)
    for name in ("set_device", "set_stream", "synchronize", "empty_cache", "reset_peak_memory_stats", "_lazy_init"):
        setattr(cuda, name, lambda *_, **__: None)
    cuda.Stream, cuda.Event = Stream, Event
    cuda.current_stream = cuda.default_stream = lambda *_, **__: only
    cuda.stream = lambda *_: contextlib.nullcontext()
    cuda.current_device = lambda: 0
    cuda.device_count = lambda: 1
    cuda.is_initialized = lambda: True
    cuda.get_device_capability = lambda *_: (9, 0)
    cuda.get_device_name = lambda *_: "none"
    cuda.get_device_properties = lambda *_: types.SimpleNamespace(name="none", total_memory=1 << 40, major=9, minor=0)
    cuda.memory_stats = lambda *_: dict.fromkeys(("active_bytes.all.peak", "reserved_bytes.all.peak", "num_alloc_retries"), 0)
    torch.accelerator.current_accelerator = lambda *_, **__: torch.device("cuda")
    torch.accelerator.current_stream = lambda *_: only
    torch.Tensor.record_stream = lambda *_: None
    attend_by_flash(torch)
    norm_by_kernel(torch)


def attend_by_flash(torch):
    """Attention goes to the flash kernel where its types allow that, as on a GPU; a PyTorch without CUDA chooses the one in plain operations."""
    functional, otherwise = torch.nn.functional, torch.nn.functional.scaled_dot_product_attention

    def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if attn_mask is None and query.dtype in (torch.bfloat16, torch.float16):
            return torch.ops.aten._scaled_dot_product_flash_attention(query, key, value, dropout_p, is_causal, scale=scale)[0]
        return otherwise(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)

    functional.scaled_dot_product_attention = attention


def norm_by_kernel(torch):
    """RMSNorm is one kernel on a GPU, which keeps its input and a number for each row; without CUDA it is taken apart, and keeps copies in fp32."""

    class Fused(torch.autograd.Function):
        @staticmethod
        def forward(ctx, values, weight):
            ctx.save_for_backward(values, weight, values.new_empty(*values.shape[:-1], 1, dtype=torch.float32))
            return torch.empty_like(values)

        @staticmethod
        def backward(ctx, _):
            values, weight, _ = ctx.saved_tensors
            return torch.empty_like(values), torch.empty_like(weight)

    torch.nn.functional.rms_norm = lambda values, _, weight=None, eps=None: Fused.apply(values, weight)
