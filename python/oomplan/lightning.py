"""A callback for Lightning's Trainer.

    trainer = lightning.Trainer(..., callbacks=[OomplanCallback("train.yaml", gpu="rtx-4090")])

What it does is what oomplan.transformers.OomplanCallback does. Lightning has no arguments that say how a model is trained,
so a prediction is made only where a `config` is given, as estimate() takes it.
"""

from __future__ import annotations

import os
from typing import Any

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback

from oomplan._watching import MEASURED_STEPS, Watch, is_out_of_memory, say_diagnosis


class OomplanCallback(Callback):  # type: ignore[misc,unused-ignore]
    """`config` and the named arguments are those of estimate(); `runs` is where records go, None for nowhere."""

    def __init__(
        self,
        config: Any = None,
        gpu: str | None = None,
        runs: str | os.PathLike[str] | None = "runs.jsonl",
        **estimate: Any,
    ) -> None:
        self.watch = Watch(gpu, runs, estimate)
        self._config = config

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Before the first step: predicts."""
        if self._config is not None and trainer.is_global_zero:
            self.watch.predict(self._config)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """After the steps 1 to 3: records."""
        if trainer.is_global_zero and trainer.global_step in MEASURED_STEPS:
            self.watch.after("step", trainer.global_step)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """After each evaluation, but that of a few batches before the run: records."""
        if trainer.is_global_zero and not trainer.sanity_checking:
            self.watch.after("evaluation", trainer.global_step)

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        """The run is over."""
        self.watch.end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Prints the diagnosis of an out-of-memory error, which Lightning then raises."""
        if is_out_of_memory(exception):
            say_diagnosis(exception, self.watch)
