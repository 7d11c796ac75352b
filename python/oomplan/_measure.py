"""How fast a loader of batches is, and what it holds, measured in this process."""

from __future__ import annotations

import copy
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from oomplan._errors import ConfigError, UsageError

MIB = 1 << 20
SHM = "/dev/shm"


class Measured:
    """What a loader gave: a profile for `oomplan estimate --loader` (docs/profile.schema.json). Sizes are in bytes."""

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found
        self._loader: dict[str, Any] = found["loader"]

    @property
    def rows_per_second(self) -> float:
        """Rows a second, of all workers together, with tokenizing, augmenting and collating."""
        return float(self._loader["rows_per_second"])

    @property
    def rows(self) -> int:
        """Rows that were timed: those of the warm-up are not among them."""
        return int(self._loader["rows"])

    @property
    def steps(self) -> int:
        """Batches that were timed."""
        return int(self._loader["steps"])

    @property
    def seconds(self) -> float:
        """What the timed batches took."""
        return float(self._loader["seconds"])

    @property
    def workers(self) -> int | None:
        """As the loader says it; None where it does not."""
        found: int | None = self._loader["workers"]
        return found

    @property
    def processes(self) -> list[dict[str, Any]]:
        """This process, then its descendants: pid, name, and the most `pss` that each held. Empty where no /proc is."""
        return copy.deepcopy(self._loader["processes"])

    @property
    def pss(self) -> int | None:
        """The most that all of them held at one time, what they share counted once; None where no /proc is."""
        return self._memory("pss")

    @property
    def dev_shm(self) -> int | None:
        """The most that /dev/shm grew by; None where there is none."""
        return self._memory("dev_shm")

    def _memory(self, name: str) -> int | None:
        found = self._found.get("memory")
        return int(found[name]) if found else None

    def to_dict(self) -> dict[str, Any]:
        """The profile. A new object each time."""
        return copy.deepcopy(self._found)

    def write(self, path: str | os.PathLike[str], dataset: str | os.PathLike[str] | None = None) -> None:
        """Writes the profile. `dataset` is the file of what `oomplan measure --json` said of the loader's dataset: with it
        the profile says how large that is too, which host memory rests on. Raises ConfigError where it is no such file.
        """
        found = {**_profile_of(dataset), "loader": self._loader} if dataset is not None else self._found
        with open(path, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
            file.write("\n")

    def __repr__(self) -> str:
        workers = "" if self.workers is None else f", with {self.workers} workers"
        memory = ""
        if self.pss is not None:
            memory = f"; {self.pss / MIB:.1f} MiB in {len(self._loader['processes'])} processes, "
            memory += f"{(self.dev_shm or 0) / MIB:.1f} MiB of {SHM}"
        a_batch = self.rows / self.steps
        return f"<oomplan.Measured {self.rows_per_second:.1f} rows a second, {a_batch:.1f} a batch{workers}{memory}>"


def measure(loader: Any, steps: int = 100, *, rows: int | Callable[[Any], int] | None = None) -> Measured:
    """Takes `steps` batches of a loader as fast as they come: rows a second, and the memory of this process and its workers.

    `loader` is any iterable, or a sequence of batches (`__len__` and `__getitem__`). One batch a worker comes before the
    clock starts. Where the loader ends earlier, what came is the answer. Rows are the first dimension of a batch's arrays,
    or the length of a list; `rows` says it otherwise, as a number or a function of a batch. An iterator is used up so far.

    Raises UsageError for what is no loader, an empty one, fewer than 1 step, and batches whose rows cannot be counted. What
    the loader raises goes on as it is.
    """
    if steps < 1:
        raise UsageError("steps is at least 1")
    count = rows if callable(rows) else _rows_in if rows is None else lambda _: rows
    workers = _workers_of(loader)
    warm_up = max(workers or 0, 1)
    batches = _batches_of(loader)
    counts, times = [0], [time.perf_counter()]
    with _Looks() as looks:
        for batch in islice(batches, warm_up + steps):
            times.append(time.perf_counter())
            counts.append(int(count(batch)))
            looks.go_on()
    if len(times) == 1:
        raise UsageError("the loader is empty")
    start = warm_up if len(times) > warm_up + 1 else 0
    timed = sum(counts[start + 1 :])
    if timed < 1:
        raise UsageError("the loader's batches have no rows")
    seconds = times[-1] - times[start]
    found = {
        "rows_per_second": timed / max(seconds, 1e-9),
        "rows": timed,
        "steps": len(times) - 1 - start,
        "seconds": seconds,
        "first_seconds": times[1] - times[0],
        "warm_up_steps": start,
        "workers": workers,
        "processes": looks.processes(),
    }
    return Measured({**_head(loader), **looks.memory(), "loader": found, "diagnostics": []})


def _head(loader: Any) -> dict[str, Any]:
    from oomplan._core import version

    kind = type(loader)
    command = f"oomplan.measure({kind.__module__}.{kind.__qualname__})"
    return {"schema": "oomplan/profile/1", "oomplan": version, "verdict": "answered", "command": command}


def _profile_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{os.fspath(path)}: {error}") from error
    if not isinstance(found, dict) or found.get("schema") != "oomplan/profile/1" or "read" not in found:
        raise ConfigError(f"{os.fspath(path)}: expected what `oomplan measure PATH --json` prints of a dataset")
    return found


# ---- Batches ---------------------------------------------------------------------------------------------------------


def _workers_of(loader: Any) -> int | None:
    """As torch's DataLoader says it."""
    found = getattr(loader, "num_workers", None)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def _batches_of(loader: Any) -> Iterator[Any]:
    """Of a sequence without __iter__ by its length: Python would ask it for more, and Keras' give empty batches then."""
    kind = type(loader)
    if not isinstance(loader, (str, bytes, Mapping)):
        if hasattr(kind, "__iter__"):
            return iter(loader)
        if hasattr(kind, "__getitem__") and hasattr(kind, "__len__"):
            return (loader[index] for index in range(len(loader)))
    raise UsageError(f"a loader is an iterable of batches, not {kind.__name__}")


def _rows_in(batch: Any) -> int:
    """The first dimension of an array, or of each array in a mapping or tuple; a list's length; 1 of a text or number."""
    if hasattr(batch, "shape"):
        return int(batch.shape[0]) if len(batch.shape) else 1
    if isinstance(batch, Mapping):
        return _same(batch.values())
    if isinstance(batch, tuple) or (isinstance(batch, list) and any(hasattr(one, "shape") for one in batch)):
        return _same(batch)
    return 1 if isinstance(batch, (str, bytes)) or not hasattr(batch, "__len__") else len(batch)


def _same(columns: Any) -> int:
    sizes = {_rows_in(column) for column in columns if column is not None}
    if len(sizes) == 1:
        return sizes.pop()
    raise UsageError("how many rows a batch has cannot be told, for its columns differ: rows=… says it")


# ---- Memory ----------------------------------------------------------------------------------------------------------


class _Looks:
    """Looks at this process and its descendants, beside the loader: so seldom that it takes a tenth of a core."""

    def __init__(self) -> None:
        self._known = os.path.exists("/proc/self/smaps_rollup")
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._count = 0
        self._most = {"Pss": 0, "Pss_Anon": 0, "Pss_Shmem": 0, "shm": 0, "processes": 0}
        self._peak_rss = 0
        self._names: dict[int, str] = {}
        self._pss: dict[int, int] = {}
        self._shm = _shm_used()
        self._look()

    def __enter__(self) -> _Looks:
        return self

    def go_on(self) -> None:
        """From the first batch on: by then the workers are forked, which a thread that runs should not be there for."""
        if self._known and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="oomplan.measure", daemon=True)
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join()
        self._look()

    def _run(self) -> None:
        pause = 0.0
        while not self._end.wait(pause):
            begin = time.perf_counter()
            self._look()
            pause = max(0.02, 10 * (time.perf_counter() - begin))

    def _look(self) -> None:
        if not self._known:
            return
        total = {"Pss": 0, "Pss_Anon": 0, "Pss_Shmem": 0, "shm": _shm_used() - self._shm, "processes": 0}
        for pid in _tree(os.getpid()):
            found = _fields(f"/proc/{pid}/smaps_rollup")
            if "Pss" in found:
                total["processes"] += 1
                self._peak_rss = max(self._peak_rss, _fields(f"/proc/{pid}/status").get("VmHWM", 0))
                self._names.setdefault(pid, _name_of(pid))
                self._pss[pid] = max(self._pss.get(pid, 0), found["Pss"])
                for name in ("Pss", "Pss_Anon", "Pss_Shmem"):
                    total[name] += found.get(name, 0)
        self._count += 1
        self._most = {name: max(most, total[name]) for name, most in self._most.items()}

    def processes(self) -> list[dict[str, Any]]:
        return [{"pid": pid, "name": self._names[pid], "pss": pss} for pid, pss in self._pss.items()]

    def memory(self) -> dict[str, Any]:
        """As the profile of a command has it."""
        if not self._known:
            return {}
        return {
            "memory": {
                "peak_rss": self._peak_rss,
                "looks": self._count,
                "pss": self._most["Pss"],
                "anonymous": self._most["Pss_Anon"],
                "shared": self._most["Pss_Shmem"],
                "dev_shm": self._most["shm"],
                "own_cgroup": False,
                "cgroup_peak": None,
                "page_cache": None,
                "processes": self._most["processes"],
            }
        }


def _shm_used() -> int:
    try:
        found = os.statvfs(SHM)
    except OSError:
        return 0
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def _fields(path: str) -> dict[str, int]:
    """Of a file of /proc, what is in kB, as bytes; empty where the process has ended or is another user's."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            words = [line.split() for line in file]
    except OSError:
        return {}
    return {one[0].rstrip(":"): int(one[1]) * 1024 for one in words if len(one) == 3 and one[2] == "kB"}


def _name_of(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def _tree(root: int) -> list[int]:
    """A process and its descendants."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                children.setdefault(int(file.read().rpartition(b")")[2].split()[1]), []).append(int(name))
        except OSError:  # it has ended
            continue
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found
