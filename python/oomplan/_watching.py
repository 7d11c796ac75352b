"""What a trainer's callback does, whoever's trainer it is: predicts, measures, writes both down, diagnoses."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import weakref
from typing import Any

from oomplan._errors import OomplanError

log = logging.getLogger("oomplan")
GIB = 1 << 30
MEASURED_STEPS = (1, 2, 3)
# Of what estimate() is asked, what a diagnosis is asked too.
ASKED_AGAIN = ("set", "dialect", "trainer", "launch", "framework", "requirements")
_said_of: weakref.ref[BaseException] | None = None
_running: weakref.ref[Watch] | None = None


def _torch() -> Any:
    """torch, where it is loaded; it is never imported here."""
    return sys.modules.get("torch")


def _card() -> Any:
    """torch's properties of the card in use; None where there is none, or torch has not touched it yet: asking would
    make a CUDA context in a run that needs none."""
    torch = _torch()
    if torch is None or not torch.cuda.is_available() or not torch.cuda.is_initialized():
        return None
    try:
        return torch.cuda.get_device_properties(torch.cuda.current_device())
    except Exception as error:
        log.warning("the card is not known: %s", error)
        return None


def gpu_here() -> str | None:
    """The GPU of this process as --gpu takes it; None where torch uses none."""
    found = _card()
    if found is None:
        return None
    from oomplan._asking import Reply

    known = Reply(["estimate", "gpt2", "-q", f"--gpu={found.name}"]).code in (0, 1)
    return str(found.name) if known else f"{found.total_memory}B"


def measured() -> dict[str, int]:
    """torch's own peaks, and what is reserved and in use on the device now, in bytes; empty where there is no GPU."""
    torch = _torch()
    if torch is None or not torch.cuda.is_available() or not torch.cuda.is_initialized():
        return {}
    return {
        "max_memory_allocated": int(torch.cuda.max_memory_allocated()),
        "max_memory_reserved": int(torch.cuda.max_memory_reserved()),
        "memory_reserved": int(torch.cuda.memory_reserved()),
        **_device_used(torch),
    }


def _device_used(torch: Any) -> dict[str, int]:
    """What is in use on the device, by whomever; empty where the driver does not say."""
    try:
        free, total = torch.cuda.mem_get_info()
    except Exception:
        return {}
    return {"device_used": int(total - free)}


def runs_on() -> dict[str, Any]:
    """The card as torch names it, and the versions of what is loaded."""
    torch = _torch()
    card = _card()
    names = ("transformers", "trl", "peft", "accelerate", "bitsandbytes", "lightning")
    versions = {name: getattr(sys.modules.get(name), "__version__", None) for name in names}
    return {
        "card": str(card.name) if card else None,
        "torch": str(torch.__version__) if torch else None,
        "versions": {name: str(version) for name, version in versions.items() if version},
    }


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether it is torch.OutOfMemoryError, or was raised because of one."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if any(cls.__name__ == "OutOfMemoryError" for cls in type(error).__mro__):
            return True
        error = error.__cause__ or error.__context__
    return False


def say_diagnosis(error: BaseException, watch: Watch | None = None) -> None:
    """Prints to standard error what an out-of-memory error says, and what to do, once an error: held against the config
    and the GPU of `watch`, or of the run that goes on. Never raises.
    """
    global _said_of
    if _said_of is not None and _said_of() is error:
        return
    try:
        _said_of = weakref.ref(error)
        from oomplan._functions import diagnose

        watch = watch or (_running() if _running else None)
        found = diagnose(error, **(watch.asked() if watch else {}))
        print("\noomplan: " + found.text.rstrip(), file=sys.stderr, flush=True)
    except Exception as problem:  # what is being raised matters more than what is wrong here
        print(f"oomplan: no diagnosis: {problem}", file=sys.stderr, flush=True)


class Watch:
    """A run: what was predicted of it, and what was measured. Nothing that goes wrong here reaches the run."""

    def __init__(self, gpu: str | None, runs: str | os.PathLike[str] | None, named: dict[str, Any]) -> None:
        self.gpu = gpu
        self.runs = runs
        self.named = named
        self.estimate: Any = None
        self._config: Any = None
        self._done: set[Any] = set()

    def predict(self, config: Any, **said: Any) -> None:
        """Estimates, and warns where the run does not fit or that cannot be said."""
        global _running
        _running = weakref.ref(self)
        try:
            from oomplan._functions import estimate
            from oomplan._objects import Said, config_of

            gpu = self.gpu or gpu_here()
            named = {**said, **self.named}
            self._config = config_of(config, Said(*(named.pop(name, None) for name in Said._fields)))
            self.estimate = found = estimate(self._config, gpu, outlook=False, **named)
            for line in found.warnings:
                log.warning("%s", line)
            log.info("predicted: %.2f GiB of tensors at the peak", found.peak / GIB)
            if gpu is not None and not found.fits():
                log.warning("the run is predicted not to fit on %s:\n%s", gpu, found.text.rstrip())
        except OomplanError as error:
            log.warning("no prediction: %s", error)
        except Exception as error:
            log.warning("no prediction, by a bug of oomplan's callback: %r", error)
        self._write("prediction", self._predicted())

    def asked(self) -> dict[str, Any]:
        """What a diagnosis is held against; nothing where no config could be read."""
        if self._config is None:
            return {}
        named = {name: self.named[name] for name in ASKED_AGAIN if name in self.named}
        return {"config": self._config, "gpu": self.gpu or gpu_here(), **named}

    def end(self) -> None:
        """The run is over: what fails then is not held against it."""
        global _running
        if _running is not None and _running() is self:
            _running = None

    def after(self, moment: str, step: int) -> None:
        """Writes what torch measured, once a moment."""
        if (moment, step) in self._done:
            return
        self._done.add((moment, step))
        try:
            found = measured()
            if found and self.estimate is not None and self.estimate.code in (0, 1):
                predicted = self._predicted()
                log.info(
                    "%s %d: %.2f GiB allocated at the peak so far; %.2f predicted of the whole run",
                    moment,
                    step,
                    found["max_memory_allocated"] / GIB,
                    (predicted["max_memory_allocated"] or predicted["peak"]) / GIB,
                )
            self._write(moment, {"step": step, **found})
        except Exception as error:
            log.warning("nothing recorded, by a bug of oomplan's callback: %r", error)

    def _predicted(self) -> dict[str, Any]:
        if self.estimate is None or self.estimate._found["footprint"] is None:
            return {"peak": None, "max_memory_allocated": None, "max_memory_reserved": None}
        found = self.estimate._found
        reserved = found["footprint"]["reserved"] or {}
        on = found["gpus"][0] if found["gpus"] else {}
        return {
            "peak": self.estimate.peak,
            "max_memory_allocated": on.get("max_memory_allocated") or reserved.get("max_memory_allocated"),
            "max_memory_reserved": on.get("max_memory_reserved") or reserved.get("peak"),
            "verdict": self.estimate.verdict,
        }

    def _write(self, what: str, values: dict[str, Any]) -> None:
        if self.runs is None:
            return
        try:
            record = {"time": round(time.time(), 3), "process": os.getpid(), "what": what, **values}
            if what == "prediction":
                calibrated = self.named.get("calibration") is not None
                record |= {"gpu": self.gpu or gpu_here(), **runs_on(), "calibrated": calibrated}
            with open(self.runs, "a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
        except OSError as error:
            log.warning("%s: %s", os.fspath(self.runs), error)
        except Exception as error:
            log.warning("nothing recorded, by a bug of oomplan's callback: %r", error)
