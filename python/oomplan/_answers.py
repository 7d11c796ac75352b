"""What questions come to."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Any

from oomplan._asking import Reply, answered, error_of, line_of
from oomplan._errors import UsageError

GIB = 1 << 30
# Buckets that are in no tensor of the pool: what the allocator has beside them, and what lies outside of it.
BESIDE_TENSORS = ("slack", "fragmentation", "paged", "runtime")


def tensors_in(moment: dict[str, Any]) -> int:
    """Bytes of tensors at a moment that has `by_bucket`."""
    return sum(size for name, size in moment["by_bucket"].items() if name not in BESIDE_TENSORS)



class Answer:
    """An answer: `json` is the text that the program prints with --json, `code` its exit code (0 or 1; 4 is undecided)."""

    def __init__(self, reply: Reply, ask: Callable[[list[Any]], Reply], *, also: tuple[int, ...] = ()) -> None:
        self._ask = ask
        self.code: int = reply.code
        self.json: str = reply.out
        if reply.code not in (0, 1, *also):
            answered(reply)

    def to_dict(self) -> dict[str, Any]:
        """The object that the program prints with --json, sizes in bytes. A new one each time."""
        found: dict[str, Any] = json.loads(self.json)
        return found

    @property
    def _found(self) -> dict[str, Any]:
        """The same, parsed once; nothing changes it."""
        found = self.__dict__.get("_parsed")
        if found is None:
            found = self.__dict__["_parsed"] = self.to_dict()
        return found

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """Errors and warnings: severity, code, message, file, line, column and hint (None where there is none)."""
        return list(self._found.get("diagnostics") or [])

    @property
    def warnings(self) -> list[str]:
        """The warnings, each as one line of text."""
        return [line_of(one) for one in self.diagnostics if one["severity"] == "warning"]

    @property
    def text(self) -> str:
        """What the program prints for people, which is asked for anew."""
        reply = self._ask([])
        return reply.out + reply.err

    def __str__(self) -> str:
        return self.text


class Estimate(Answer):
    """The memory of a training run. All sizes are in bytes.

    An estimate that cannot be decided is one too: what asks it for a number raises Undecided, with the reasons.
    """

    def __init__(self, reply: Reply, ask: Callable[[list[Any]], Reply], gpus: list[str], headroom: str | None) -> None:
        super().__init__(reply, ask, also=(4,))
        self._gpus = gpus
        self._headroom = headroom
        self._others: dict[tuple[str, str | None], Estimate] = {}

    @property
    def verdict(self) -> str:
        """ "answered" (no GPU was named), "fits", "does_not_fit" or "undecided"."""
        return str(self._found["verdict"])

    def fits(self, gpu: str | None = None, headroom: str | None = None) -> bool:
        """Whether the run ends on `gpu` ("rtx-4090", "24GiB", "8xh100") and leaves `headroom` ("5%") of it free.

        Without `gpu`: whether it does on each GPU that was named. Raises Undecided where that cannot be said, and
        UsageError where there is no such GPU, or none was named.
        """
        if gpu is None:
            if not self._gpus:
                raise UsageError("name a GPU: estimate.fits('rtx-4090')")
            if self.code == 4:
                raise self._undecided()
            return self.code == 0
        return self._on(gpu, headroom).fits()

    def needed(self, gpu: str) -> int:
        """The smallest memory, in bytes, of a card like `gpu` on which the run ends. Raises as fits() does."""
        other = self._on(gpu, None)
        if other.code == 4:
            raise other._undecided()
        return int(other._found["gpus"][0]["needed"])

    @property
    def peak(self) -> int:
        """Bytes of all tensors at the highest moment of the run: what torch.cuda.max_memory_allocated() comes to, but for
        cuBLAS's workspaces. Raises Undecided where there is no number.
        """
        return tensors_in(self._footprint["peak"])

    @property
    def table(self) -> list[dict[str, Any]]:
        """The highest moment of each phase, the worst of the steps: phase, step, by_bucket and total, in bytes. Of these
        slack and fragmentation are the allocator's, beside the tensors. Raises Undecided.
        """
        worst: dict[str, dict[str, Any]] = {}
        for moment in self._footprint["peaks"]:
            before = worst.get(moment["phase"])
            if before is None or tensors_in(moment) > tensors_in(before):
                worst[moment["phase"]] = moment
        return list(worst.values())

    @property
    def largest(self) -> list[dict[str, Any]]:
        """What is alive at the peak, the largest first: bucket, op, module, layers, count, shape, dtype, bytes (of all
        `count` together). Raises Undecided.
        """
        return sorted(self._footprint["at_peak"], key=lambda group: -int(group["bytes"]))

    @property
    def parameters(self) -> int:
        """How many parameters the model has, with adapters. Raises Undecided."""
        return int(self._footprint["parameters"])

    @property
    def facts(self) -> list[dict[str, Any]]:
        """What the answer rests on: name, value, and the origin of each. Empty where nothing could be read."""
        return list((self._found["plan"] or {}).get("facts") or [])

    @property
    def host(self) -> dict[str, Any] | None:
        """Memory of the ranks and loaders of a machine, and whether the loader feeds the step (`feed`), as the JSON has
        them (docs/host.md); None where neither a loader nor a limit was given.
        """
        found: dict[str, Any] | None = self._found.get("host")
        return found

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame: a row a phase, a column a bucket and `total`, in bytes. Needs pandas. Raises Undecided."""
        import pandas

        rows = [{"phase": one["phase"], **one["by_bucket"], "total": one["total"]} for one in self.table]
        return pandas.DataFrame(rows).set_index("phase")

    @property
    def _footprint(self) -> dict[str, Any]:
        found: dict[str, Any] | None = self._found["footprint"]
        if found is None:
            raise self._undecided()
        return found

    def _undecided(self) -> Exception:
        return error_of(4, self.diagnostics)

    def _on(self, gpu: str, headroom: str | None) -> Estimate:
        """This estimate, held against that GPU alone."""
        if self._gpus == [gpu] and headroom in (None, self._headroom):
            return self
        other = self._others.get((gpu, headroom))
        if other is None:
            headroom = headroom or self._headroom
            reply = self._ask(["--json", f"--gpu={gpu}", *([f"--headroom={headroom}"] if headroom else [])])
            other = self._others[gpu, headroom] = Estimate(reply, self._ask, [gpu], headroom)
        return other

    @property
    def text(self) -> str:
        """What the program prints for people, which is asked for anew."""
        headroom = [f"--headroom={self._headroom}"] if self._headroom else []
        reply = self._ask([*(f"--gpu={gpu}" for gpu in self._gpus), *headroom])
        return reply.out + reply.err

    def __repr__(self) -> str:
        on = " on " + ", ".join(self._gpus) if self._gpus else ""
        if self._found["footprint"] is None:
            return f"<oomplan.Estimate undecided{on}>"
        return f"<oomplan.Estimate {self.verdict}{on}, peak {self.peak / GIB:.2f} GiB>"

    def _repr_html_(self) -> str:
        """For notebooks: the verdict of each GPU, and a table of phases in GiB."""
        if self._found["footprint"] is None:
            reasons = "".join(f"<li>{html.escape(line_of(one))}</li>" for one in self.diagnostics)
            return f"<p><b>cannot be decided</b></p><ul>{reasons}</ul>"
        lines = [
            f"<p><b>{html.escape(one['verdict'].replace('_', ' '))}</b> on {html.escape(one['title'])}:"
            f" {one['needed'] / GIB:.2f} GiB needed of {one['total'] / GIB:.2f} GiB</p>"
            for one in self._found["gpus"]
        ]
        phases = self.table
        buckets = [name for name in phases[0]["by_bucket"] if any(one["by_bucket"][name] for one in phases)]
        rows = [*((name, [one["by_bucket"][name] for one in phases]) for name in buckets)]
        rows.append(("total", [one["total"] for one in phases]))
        head = "".join(f"<th>{html.escape(one['phase'])}</th>" for one in phases)
        body = "".join(
            f"<tr><th>{html.escape(name)}</th>" + "".join(f"<td>{size / GIB:.2f}</td>" for size in sizes) + "</tr>"
            for name, sizes in rows
        )
        warnings = "".join(f"<p>{html.escape(line)}</p>" for line in self.warnings)
        return "".join(lines) + f"<table><tr><th>GiB</th>{head}</tr>{body}</table>{warnings}"


class Fix(Answer):
    """The cheapest changes that make a run fit."""

    @property
    def fits_now(self) -> bool:
        """Whether nothing has to change."""
        return bool(self._found["now"]["fits"])

    @property
    def found(self) -> bool:
        """Whether the run fits, now or with the fixes."""
        return self.code == 0

    @property
    def fixes(self) -> list[dict[str, Any]]:
        """The fixes that are taken, in order: id, title, how, what they cost. Empty where none is needed or found."""
        return list(self._found.get("fixes") or [])

    @property
    def patch(self) -> str:
        """A unified diff of the config, or "" where there is none."""
        return str(self._found.get("patch") or "")

    def __repr__(self) -> str:
        what = "fits now" if self.fits_now else ", ".join(one["id"] for one in self.fixes) or "nothing found"
        return f"<oomplan.Fix {what}>"


class Sweep(Answer):
    """A grid of settings."""

    @property
    def points(self) -> list[dict[str, Any]]:
        """Each combination: values, needed (bytes, None where undecided), fits, undecided (why, or None)."""
        return list(self._found["points"])

    @property
    def largest(self) -> dict[str, Any] | None:
        """The largest combination that fits, as points has it; None where none does."""
        found: dict[str, Any] | None = self._found["largest"]
        return found

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame: a row a point, a column an axis, and needed (bytes), fits, undecided. Needs pandas."""
        import pandas

        keys = [axis["key"] for axis in self._found["axes"]]
        rows = [
            {**dict(zip(keys, one["values"])), **{name: one[name] for name in ("needed", "fits", "undecided")}}
            for one in self.points
        ]
        return pandas.DataFrame(rows)


class Gate(Answer):
    """Many configs against the GPUs that a policy names."""

    @property
    def passed(self) -> bool:
        """Whether all fit. False also where one is invalid or cannot be decided: `counts` says how many."""
        return self.code == 0

    @property
    def counts(self) -> dict[str, int]:
        """How many configs came to each verdict."""
        return dict(self._found["counts"])

    @property
    def configs(self) -> list[dict[str, Any]]:
        """Each config: verdict, checks (a GPU, needed and limit in bytes), peak, diagnostics."""
        return list(self._found["configs"])


class Diagnosis(Answer):
    """What a dead run died of."""

    @property
    def cause(self) -> str:
        """The cause's id ("vram_exhausted", docs/diagnose.md); "unknown" where the text does not say."""
        return str(self._found["verdict"]["cause"])

    @property
    def headline(self) -> str:
        """One sentence."""
        return str(self._found["headline"])

    @property
    def out_of_memory(self) -> bool:
        """Whether memory ended."""
        return bool(self._found["out_of_memory"])

    @property
    def to_do(self) -> list[dict[str, Any]]:
        """What to do, the first thing first."""
        return list(self._found["to_do"])

    def __repr__(self) -> str:
        return f"<oomplan.Diagnosis {self.headline}>"
