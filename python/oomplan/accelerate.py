"""For a loop of one's own with accelerate.

    with watching(accelerator, "train.yaml", gpu="rtx-4090"):
        for batch in loader: ...

What it does is what oomplan.transformers.OomplanCallback does, in the main process.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from torch.optim.optimizer import register_optimizer_step_post_hook

from oomplan._watching import MEASURED_STEPS, Watch, is_out_of_memory, say_diagnosis


@contextlib.contextmanager
def watching(
    accelerator: Any,
    config: Any = None,
    gpu: str | None = None,
    runs: str | os.PathLike[str] | None = "runs.jsonl",
    **estimate: Any,
) -> Iterator[Watch]:
    """Predicts from `config`, if it is given; records what torch measured after the steps 1 to 3 of the optimizer; prints
    the diagnosis of an out-of-memory error, which goes on. The other arguments are those of OomplanCallback.

    A step is one that an optimizer takes, not one that waits for more gradients. Of several optimizers the first counts.
    After an evaluation `.after("evaluation", step)` of what it gives records that too.
    """
    watch = Watch(gpu, runs, estimate)
    steps, counted = 0, None

    def stepped(optimizer: Any, *_: Any) -> None:
        nonlocal steps, counted
        counted = counted or id(optimizer)
        steps += id(optimizer) == counted
        if id(optimizer) == counted and steps in MEASURED_STEPS:
            watch.after("step", steps)

    if config is not None and accelerator.is_main_process:
        watch.predict(config)
    hook = register_optimizer_step_post_hook(stepped) if accelerator.is_main_process else None
    try:
        yield watch
    except BaseException as error:
        if is_out_of_memory(error):
            say_diagnosis(error, watch)
        raise
    finally:
        watch.end()
        if hook is not None:
            hook.remove()
