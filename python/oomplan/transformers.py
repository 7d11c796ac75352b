"""A callback for transformers.Trainer and TRL's trainers.

    trainer = SFTTrainer(..., callbacks=[OomplanCallback()])

Before the first step it predicts what the run takes, and warns where that does not fit. After the steps 1 to 3 and each
evaluation it records what torch measured. Both go to the log ("oomplan") and to `runs.jsonl`. Of an out-of-memory error it
prints the diagnosis, and the error goes on. It reads the run and changes nothing of it: no number is drawn, no batch is
taken, no tensor made, no setting touched.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import Any

from transformers import TrainerCallback

from oomplan._hooks import install_excepthook
from oomplan._watching import MEASURED_STEPS, Watch, is_out_of_memory, say_diagnosis

# What of a trainer takes memory on the GPU, and is looked up anew each time that it is called.
WATCHED = ("training_step", "evaluate")


class OomplanCallback(TrainerCallback):  # type: ignore[misc,unused-ignore]
    """`gpu`: as estimate() takes it; without it that of the process. `runs`: where records go, None for nowhere. The
    other arguments are those of estimate(), for what the trainer does not know: `set={"max_length": 2048}`.
    """

    def __init__(
        self, gpu: str | None = None, runs: str | os.PathLike[str] | None = "runs.jsonl", **estimate: Any
    ) -> None:
        self.watch = Watch(gpu, runs, estimate)
        self._guard: _Guard | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
        """Before step 1: predicts."""
        install_excepthook()
        trainer = _trainer_of(self)
        if trainer is not None:
            self._guard = _Guard(trainer, self.watch)
        if state.is_world_process_zero:
            self.predict(args, model)

    def predict(self, args: Any, model: Any) -> None:
        """From the trainer's own arguments."""
        self.watch.predict(args, model=model)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """After the steps 1 to 3: records."""
        if state.is_world_process_zero and state.global_step in MEASURED_STEPS:
            self.watch.after("step", state.global_step)

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """After each evaluation: records."""
        if state.is_world_process_zero:
            self.watch.after("evaluation", state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Leaves the trainer as it was."""
        self.watch.end()
        if self._guard is not None:
            self._guard.leave()


def _trainer_of(callback: OomplanCallback) -> Any:
    """The trainer that calls: callbacks are not told of it."""
    frame = sys._getframe(1)
    while frame is not None:
        found = frame.f_locals.get("self")
        handler = getattr(found, "callback_handler", None)
        if any(one is callback for one in getattr(handler, "callbacks", [])):
            return found
        frame = frame.f_back  # type: ignore[assignment]
    return None


class _Guard:
    """Trainers tell callbacks nothing of errors, so one that leaves the trainer's own methods is looked at there."""

    def __init__(self, trainer: Any, watch: Watch) -> None:
        self._trainer = trainer
        self._watch = watch
        self._names = [name for name in WATCHED if callable(getattr(trainer, name, None))]
        self._names = [name for name in self._names if name not in vars(trainer)]
        for name in self._names:
            setattr(trainer, name, self._guarded(getattr(trainer, name)))

    def _guarded(self, method: Any) -> Any:
        @functools.wraps(method)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            try:
                return method(*args, **kwargs)
            except BaseException as error:
                self.leave()
                if is_out_of_memory(error):
                    say_diagnosis(error, self._watch)
                raise

        return guarded

    def leave(self) -> None:
        for name in self._names:
            vars(self._trainer).pop(name, None)
