"""Both functions beside fast-axolotl's own."""

import inspect
import random
import sys
import unittest

import oomplan
import pyarrow as pa
from samples import folder, ordinary_rows, rows_of, write_all, write_csv

try:
    import fast_axolotl
except ImportError as error:
    print(f"side_by_side: skipped, as fast-axolotl is not here ({error})")
    sys.exit(77)


def answer(function, *arguments, **options):
    """What came, or which kind of error."""
    try:
        result = function(*arguments, **options)
        return list(result) if inspect.isgenerator(result) else result
    except Exception as error:
        kinds = (UnicodeEncodeError, OverflowError, TypeError, ValueError, RuntimeError)
        return next(kind for kind in kinds if isinstance(error, kind))


try:
    import numpy as np
except ImportError:
    np = None


class SideBySide(unittest.TestCase):
    def same(self, name, *arguments, **options):
        theirs = answer(getattr(fast_axolotl, name), *arguments, **options)
        self.assertEqual(answer(getattr(oomplan, name), *arguments, **options), theirs)
        return theirs

    def test_names_and_defaults_of_the_arguments(self):
        for name in ("streaming_dataset_reader", "deduplicate_indices"):
            theirs = list(inspect.signature(getattr(fast_axolotl, name)).parameters.values())
            ours = list(inspect.signature(getattr(oomplan, name)).parameters.values())[: len(theirs)]
            self.assertEqual([(p.name, p.default) for p in ours], [(p.name, p.default) for p in theirs])

    def test_rows_of_every_format(self):
        rows = ordinary_rows(250)
        with folder() as where:
            for file, kind in write_all(where, rows):
                arrow = kind in ("arrow", "feather")
                for size in (100, 1000) if arrow else (1, 100, 1000):  # of theirs it drops rows, where size is small
                    with self.subTest(file=file, kind=kind, size=size):
                        ours = list(oomplan.streaming_dataset_reader(str(where / file), kind, size, 2))
                        theirs = list(fast_axolotl.streaming_dataset_reader(str(where / file), kind, size, 2))
                        self.assertEqual(rows_of(ours), rows_of(theirs))
                        if not arrow:  # which has theirs, whatever size was wanted
                            self.assertEqual(ours, theirs)
                        self.assertEqual(len(rows_of(ours)), 250)

    def test_rows_of_tables(self):
        rows = [{key: value for key, value in row.items() if key != "tokens"} for row in ordinary_rows(100)]
        with folder() as where:
            write_csv(where / "rows.csv", rows)
            batches = self.same("streaming_dataset_reader", str(where / "rows.csv"), "csv", 30, 2)
            self.assertEqual([len(batch["id"]) for batch in batches], [30, 30, 30, 10])

    def test_types_of_values(self):
        with folder() as where:
            table = pa.table(
                {
                    "i": [1, None],
                    "f": pa.array([0.1, None], pa.float32()),
                    "b": [True, None],
                    "s": ["é", None],
                    "l": [[1.5], None],
                    "t": pa.array([["x"], []], pa.list_(pa.string())),
                }
            )
            pa.parquet.write_table(table, where / "a.parquet")
            (batch,) = self.same("streaming_dataset_reader", str(where / "a.parquet"), "parquet")
            (ours,) = oomplan.streaming_dataset_reader(str(where / "a.parquet"), "parquet")
            self.assertEqual({key: repr(ours[key]) for key in ours}, {key: repr(batch[key]) for key in batch})

    def both(self, path, kind):
        return answer(oomplan.streaming_dataset_reader, path, kind), answer(
            fast_axolotl.streaming_dataset_reader, path, kind
        )

    def test_what_docs_say_of_json(self):
        pretty = '{\n "a": 1\n}\n'
        for kind, text, ours, theirs in (
            ("jsonl", '{"a":18446744073709551616}\n', RuntimeError, [{"a": [2.0**64]}]),
            ("jsonl", '{"a":1e400}\n', RuntimeError, []),
            ("json", pretty, RuntimeError, [{"a": [1]}]),
            ("json", '{"a":1}\n{"a":2}\n', [{"a": [1, 2]}], RuntimeError),
        ):
            with self.subTest(text), folder() as where:
                (where / "a").write_text(text)
                self.assertEqual(self.both(str(where / "a"), kind), (ours, theirs))

    def test_what_docs_say_of_csv(self):
        for cell, theirs in (
            ("nan", float("nan")),
            ("inf", float("inf")),
            (".5", 0.5),
            ("1.", 1.0),
            ("+1", 1),
            ("007", 7),
            ("1e400", float("inf")),
            ('"1"', 1),
            ("tRue", True),
        ):
            with self.subTest(cell), folder() as where:
                (where / "a").write_text(f"a,b\n{cell},x\n")
                ours, there = self.both(str(where / "a"), "csv")
                self.assertEqual((ours[0]["a"], repr(there[0]["a"])), ([cell.strip('"')], repr([theirs])))
        for text, ours, theirs in (
            ("a,a\n1,2\n", [{"a": [1], "a.1": [2]}], [{"a": [1, 2]}]),
            ('a,b\n"x"y,2\n', RuntimeError, [{"a": ["xy"], "b": [2]}]),
        ):
            with self.subTest(text), folder() as where:
                (where / "a").write_text(text)
                self.assertEqual(self.both(str(where / "a"), "csv"), (ours, theirs))
        with folder() as where:
            (where / "a").write_text("a\n9223372036854775808\n")
            self.assertEqual(str(self.both(str(where / "a"), "csv")[0]), "[{'a': [9223372036854775808]}]")

    def test_kinds_of_errors(self):
        with folder() as where:
            (where / "a.jsonl").write_text('{"a":1}\n')
            path = str(where / "a.jsonl")
            for arguments in (
                (path, "jsonl", 0),
                (path, "jsonl", -1),
                (path, "jsonl", 1.5),
                (path, "JSONL"),
                (path, "parquet"),
                (path, "arrow"),
                (str(where / "none"), "csv"),
                (path, "jsonl", 1, -1),
                (path, "jsonl", 1 << 70),
                (path, "jsonl", 1, 1 << 70),
            ):
                with self.subTest(arguments=arguments[1:]):
                    self.assertIsInstance(self.same("streaming_dataset_reader", *arguments), type)

    @unittest.skipIf(np is None, "numpy is not here")
    def test_deduplication_of_arrays(self):
        rows = np.array(["a", "b", "a"])
        hashes = self.same("deduplicate_indices", rows)[1]
        for arguments in ((rows, np.array(hashes[:1])), (rows.astype(object), np.array([], str)), (np.array([1]),)):
            with self.subTest(arguments=str(arguments)):
                self.same("deduplicate_indices", *arguments)

    def test_deduplication(self):
        rng = random.Random(3)
        rows = ["".join(rng.choices("ab é日", k=rng.randrange(5))) for _ in range(5000)]
        hashes = self.same("deduplicate_indices", rows[:100])[1]
        for arguments in (
            (rows,),
            (rows, hashes),
            (rows, hashes, 2),
            ((),),
            (["a"], ["no hash"]),
            ("ab",),
            ([1],),
            ([b"a"],),
            ({"a"},),
            (iter(["a"]),),
            (["a"], {"x"}),
            (["a"], [1]),
            (["a"], [None]),
            (["a"], ""),
            (["a"], {}),
            ({"a": 0},),
            (range(2),),
            (["\ud800"],),
            (["a"], None, -1),
            (["a"], None, 1 << 70),
        ):
            with self.subTest(arguments=str(arguments)[:40]):
                self.same("deduplicate_indices", *arguments)


if __name__ == "__main__":
    unittest.main()
