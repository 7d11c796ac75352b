"""The questions, as functions. Each takes what the command of its name takes, and answers through the same code."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterable, Mapping
from typing import Any

from oomplan import _objects
from oomplan._answers import Diagnosis, Estimate, Fix, Gate, Sweep
from oomplan._asking import Reply, options, several
from oomplan._errors import UsageError

Config = Any  # a path, a mapping, a model's id, or an object of transformers, TRL or peft
Names = str | Iterable[str] | None
Path = str | os.PathLike[str]
Paths = Path | Iterable[Path] | None


class _Question:
    """A config with all that is said beside it, put to a command again and again."""

    def __init__(self, command: str, config: Config, said: _objects.Said, **named: Any) -> None:
        self._held = _objects.config_of(config, said)
        self._words = [command, *self._held.options, *options(**named)]

    def ask(self, more: Iterable[Any]) -> Reply:
        return Reply([*self._words, *more, "--", self._held.word], self._held.given)


def _of_config(
    command: str,
    config: Config,
    set: Mapping[str, Any] | None,
    model: Any,
    peft: Any,
    quantization: Any,
    dtype: Any,
    **named: Any,
) -> _Question:
    return _Question(command, config, _objects.Said(model, peft, quantization, dtype), set=set, **named)


def estimate(
    config: Config,
    gpu: Names = None,
    *,
    set: Mapping[str, Any] | None = None,
    model: Any = None,
    peft: Any = None,
    quantization: Any = None,
    dtype: Any = None,
    dialect: str | None = None,
    trainer: str | None = None,
    launch: Paths = None,
    framework: Names = None,
    requirements: Paths = None,
    headroom: str | None = None,
    alloc_conf: str | None = None,
    calibration: Path | None = None,
    method: str | None = None,
    batch: int | None = None,
    length: int | None = None,
    models: Path | None = None,
    loader: Path | None = None,
    host_ram: str | None = None,
    shm: str | None = None,
    cgroup: str | None = None,
    step_time: str | None = None,
    outlook: bool = True,
    replay: bool = True,
) -> Estimate:
    """The memory of a training run.

    `config` is the path of a config; a mapping, as the config's YAML or JSON has it; a model, by hub id or folder (then
    `method`, `batch` rows and `length` tokens say how it is trained); a PretrainedConfig, in the place of one; or a
    TrainingArguments, SFTConfig, DPOConfig or another of TRL's, with the `model` that it trains (an id, a folder, a
    PretrainedConfig or an nn.Module), and the LoraConfig and BitsAndBytesConfig that go with it as `peft` and
    `quantization`. `dtype` is what a model that is named is loaded as; a module's is its own.

    `gpu` is a name (`oomplan gpus`), a size ("24GiB") or a count of them ("8xh100"), or a list to compare. `set` changes
    keys of the config first. `loader` is the file of a profile (measure(), or `oomplan measure --json`), which is held
    against `host_ram`, `shm` and `cgroup` (sizes) and `step_time` ("1.3s"): `host` says so. The other arguments are the options of `oomplan estimate` (docs/manual.md). `outlook=False`
    leaves out what takes a search: the largest batch, the first fix, the smallest cards. `replay=False` leaves out PyTorch's
    allocator too: what tensors take, several times as quick; it takes no `gpu`, and fits() asks anew.

    Raises UsageError and ConfigError. An estimate that cannot be decided is returned: its numbers raise Undecided.
    """
    gpus = several(gpu)
    question = _of_config(
        "estimate",
        config,
        set,
        model,
        peft,
        quantization,
        dtype,
        dialect=dialect,
        trainer=trainer,
        launch=launch,
        framework=framework,
        requirements=requirements,
        alloc_conf=alloc_conf,
        calibration=calibration,
        method=method,
        batch=None if batch is None else str(batch),
        length=None if length is None else str(length),
        models=models,
        loader=loader,
        host_ram=host_ram,
        shm=shm,
        cgroup=cgroup,
        step_time=step_time,
        quiet=not outlook,
    )
    reply = question.ask(["--json", *options(gpu=gpus, headroom=headroom, no_replay=not replay)])
    return Estimate(reply, question.ask, gpus, headroom)


def fix(
    config: Config,
    gpu: str,
    *,
    set: Mapping[str, Any] | None = None,
    model: Any = None,
    peft: Any = None,
    quantization: Any = None,
    dtype: Any = None,
    allow: Names = None,
    forbid: Names = None,
    keep: Names = None,
    dialect: str | None = None,
    trainer: str | None = None,
    launch: Paths = None,
    framework: Names = None,
    requirements: Paths = None,
    headroom: str | None = None,
    method: str | None = None,
    batch: int | None = None,
    length: int | None = None,
    models: Path | None = None,
) -> Fix:
    """The cheapest changes with which the run fits on `gpu`.

    `allow` and `forbid` are ids of fixes (docs/ladder.md), `keep` is "adapter", "effective-batch" or "sequence-length".
    The others are those of estimate(). Nothing is written. Raises UsageError, ConfigError and Undecided.
    """
    question = _of_config(
        "fix",
        config,
        set,
        model,
        peft,
        quantization,
        dtype,
        gpu=gpu,
        allow=allow,
        forbid=forbid,
        keep=keep,
        dialect=dialect,
        trainer=trainer,
        launch=launch,
        framework=framework,
        requirements=requirements,
        headroom=headroom,
        method=method,
        batch=None if batch is None else str(batch),
        length=None if length is None else str(length),
        models=models,
    )
    return Fix(question.ask(["--json"]), question.ask)


def sweep(
    config: Config,
    over: Names,
    gpu: str,
    *,
    set: Mapping[str, Any] | None = None,
    model: Any = None,
    peft: Any = None,
    quantization: Any = None,
    dtype: Any = None,
    dialect: str | None = None,
    trainer: str | None = None,
    launch: Paths = None,
    framework: Names = None,
    requirements: Paths = None,
    headroom: str | None = None,
    method: str | None = None,
    batch: int | None = None,
    length: int | None = None,
    models: Path | None = None,
) -> Sweep:
    """A grid of settings on `gpu`: `over` is "micro_batch_size=1..64", "max_length=1024:8192:x2", or a list of them.

    The other arguments are those of estimate(). Uses all cores. Raises UsageError, ConfigError, and Undecided where no
    point has an answer; where only some have none, those points say why.
    """
    question = _of_config(
        "sweep",
        config,
        set,
        model,
        peft,
        quantization,
        dtype,
        over=over,
        gpu=gpu,
        dialect=dialect,
        trainer=trainer,
        launch=launch,
        framework=framework,
        requirements=requirements,
        headroom=headroom,
        method=method,
        batch=None if batch is None else str(batch),
        length=None if length is None else str(length),
        models=models,
    )
    return Sweep(question.ask(["--json"]), question.ask)


def max_batch_size(config: Config, gpu: str, *, most: int = 1024, **named: Any) -> int:
    """The largest micro-batch, in rows of a forward pass, with which the run fits on `gpu`; 0 where not even 1 does.

    It is searched for by halves, from 1 to `most`, with the arguments of estimate(). A larger batch that fits by luck of
    the allocator, above one that does not, is not looked for. Raises what estimate() raises, and Undecided.
    """
    if most < 1:
        raise UsageError("most is at least 1")
    said = dict(named.pop("set", None) or {})

    def holds(rows: int) -> bool:
        return estimate(config, gpu, set={**said, "micro_batch_size": rows}, outlook=False, **named).fits()

    if not holds(1):
        return 0
    good, bad = 1, most + 1
    probe = 2
    while good + 1 < bad:
        rows = min(probe, bad - 1) if bad == most + 1 else (good + bad) // 2
        if holds(rows):
            good, probe = rows, rows * 2
        else:
            bad = rows
    return good


def gate(
    configs: Paths,
    *,
    gpu: Names = None,
    policy: Path | None = None,
    baseline: str | None = None,
    headroom: str | None = None,
    trainer: str | None = None,
    allow_outside: Paths = None,
    models: Path | None = None,
) -> Gate:
    """Configs, or patterns of them ("configs/**/*.yaml"), against the GPUs that `policy` names, or against `gpu`.

    `baseline` is a git revision or a directory to compare with. One that is invalid or undecided is in the answer, and
    keeps it from passing. Raises UsageError, and ConfigError for a policy or baseline that cannot be read.
    """
    named = options(
        gpu=gpu,
        policy=policy,
        baseline=baseline,
        headroom=headroom,
        trainer=trainer,
        allow_outside=allow_outside,
        models=models,
    )
    words = ["gate", *named, "--", *several(configs)]

    def ask(more: Iterable[Any]) -> Reply:
        return Reply([words[0], *more, *words[1:]])

    reply = ask(["--format=json"])
    return Gate(reply, ask, also=(3, 4) if '"configs": [\n' in reply.out else ())


def diagnose(
    what: str | Path | BaseException | Iterable[Path],
    *,
    config: Config = None,
    gpu: str | None = None,
    set: Mapping[str, Any] | None = None,
    model: Any = None,
    peft: Any = None,
    quantization: Any = None,
    dtype: Any = None,
    dialect: str | None = None,
    trainer: str | None = None,
    launch: Paths = None,
    framework: Names = None,
    requirements: Paths = None,
    rules: Path | None = None,
) -> Diagnosis:
    """What a dead run died of, and what to do.

    `what` is the text of a log (a str with a line break); the path of one, of a memory snapshot or of a directory of
    them, or several paths; or an exception, of which its traceback is read. With `config`, as estimate() takes it with
    what goes with it, and `gpu` it says what the run was predicted to take, what makes it fit, and advises nothing that
    is on already. A text that tells of no failure has the cause "unknown". Raises UsageError and ConfigError.
    """
    held = _objects.Held("") if config is None else _objects.config_of(config, _objects.Said(model, peft, quantization, dtype))
    named = options(
        config=held.word or None,
        gpu=gpu,
        set=set,
        dialect=dialect,
        trainer=trainer,
        launch=launch,
        framework=framework,
        requirements=requirements,
        rules=rules,
    )
    log = _Log(what, held)

    def ask(more: Iterable[Any]) -> Reply:
        return log.ask(["diagnose", *held.options, *named, *more])

    return Diagnosis(ask(["--json"]), ask, also=(4,))


class _Log:
    """What is diagnosed: a text on standard input; in a file as long as it lives, where the config stands there."""

    def __init__(self, what: Any, held: _objects.Held) -> None:
        self._held = held
        self._folder: _objects.Folder | None = None
        self._given = held.given
        text = _text_of(what)
        if text is None:
            self._logs = several(what)
        elif held.word != "-":
            self._logs, self._given = ["-"], text
        else:
            self._folder = _objects.Folder("oomplan-log-")
            self._logs = [os.path.join(self._folder.name, "log")]
            with open(self._logs[0], "wb") as file:
                file.write(text)

    def ask(self, words: list[Any]) -> Reply:
        reply = Reply([*words, "--", *self._logs], self._given)
        if self._held.word == "-":
            reply.out, reply.err = map(self._named, (reply.out, reply.err))
        return reply

    def _named(self, text: str) -> str:
        """Says what the reader gave, and not where it stood for the time being."""
        text = text.replace("standard input", "the config")
        return text.replace(self._folder.name + os.sep, "") if self._folder else text


def _text_of(what: Any) -> bytes | None:
    """The text of a log or an exception; None where it is paths."""
    if isinstance(what, BaseException):
        return "".join(traceback.format_exception(type(what), what, what.__traceback__)).encode(errors="replace")
    return what.encode(errors="replace") if isinstance(what, str) and "\n" in what else None
