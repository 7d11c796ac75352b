"""streaming_dataset_reader: what it gives for each format, for what is broken, and for what the budget does not hold."""

import datetime
import decimal
import json
import os
import signal
import subprocess
import sys
import threading
import unittest
import warnings
from pathlib import Path

import oomplan
import pyarrow as pa
from samples import PROGRAM, folder, in_child, ordinary_rows, read, rows_of, write_all, write_csv

SANITIZED = bool(os.environ.get("OOMPLAN_SANITIZED"))


class Formats(unittest.TestCase):
    def test_every_format_has_the_rows_in_batches_of_the_size(self):
        rows = ordinary_rows(250)
        with folder() as where:
            for file, kind in write_all(where, rows):
                with self.subTest(file=file, kind=kind):
                    batches = read(str(where / file), kind, 100)
                    self.assertEqual([len(batch["id"]) for batch in batches], [100, 100, 50])
                    self.assertEqual(list(batches[0]), list(rows[0]))
                    self.assertEqual(rows_of(batches), rows)

    def test_a_table_of_text(self):
        rows = [{key: value for key, value in row.items() if key != "tokens"} for row in ordinary_rows(50)]
        with folder() as where:
            write_csv(where / "rows.csv", rows)
            self.assertEqual(rows_of(read(where / "rows.csv", "csv", 7)), rows)

    def test_cells_are_what_json_would_take_them_for(self):
        with folder() as where:
            (where / "a.tsv").write_text('a\tb\n1.0\t"1"\n007\t\nTrue\tx\n')
            (batch,) = read(where / "a.tsv", "tsv")
            self.assertEqual(repr(batch), repr({"a": [1.0, "007", True], "b": ["1", None, "x"]}))

    def test_lines_of_text(self):
        with folder() as where:
            (where / "a.txt").write_text("one\n\ntwo\r\nthree")
            self.assertEqual(read(where / "a.txt", "text", 3), [{"text": ["one", "", "two"]}, {"text": ["three"]}])

    def test_every_type_of_a_column(self):
        at = datetime.datetime(2020, 2, 29, 3, 4, 5, 678)
        table = pa.table(
            {
                "i8": pa.array([-1, None], pa.int8()),
                "u64": pa.array([1 << 63, None], pa.uint64()),
                "f16": pa.array([0.5, None], pa.float16()),
                "f32": pa.array([1.1, None], pa.float32()),
                "large": pa.array(["é", None], pa.large_string()),
                "view": pa.array(["v", None], pa.string_view()),
                "bytes": pa.array([b"\x00\xff", None]),
                "fixed": pa.array([b"ab", None], pa.binary(2)),
                "decimal": pa.array([decimal.Decimal("-1.20"), None]),
                "null": pa.nulls(2),
                "bool": pa.array([False, None]),
                "stamp": pa.array([at, None], pa.timestamp("us")),
                "nano": pa.array([at, None], pa.timestamp("ns")),
                "zoned": pa.array([at, None], pa.timestamp("ms", "Asia/Tokyo")),
                "before": pa.array([datetime.datetime(1950, 1, 1, 1), None]),
                "date": pa.array([datetime.date(1969, 12, 31), None]),
                "date64": pa.array([datetime.date(2000, 1, 1), None], pa.date64()),
                "clock": pa.array([datetime.time(23, 59, 58, 7), None]),
                "second": pa.array([datetime.time(1), None], pa.time32("s")),
                "long": pa.array([datetime.timedelta(days=-1, microseconds=5), None]),
                "list": pa.array([[1, None], None]),
                "lists": pa.array([[[], ["x"]], None], pa.large_list(pa.list_(pa.string()))),
                "pair": pa.array([[1, 2], None], pa.list_(pa.int64(), 2)),
                "word": pa.array(["w", None]).dictionary_encode(),
                "object": pa.array(
                    [{"a": 1, "b": {"c": None}}, None],
                    pa.struct([("a", pa.int64()), ("b", pa.struct([("c", pa.string())]))]),
                ),
            }
        )
        with folder() as where:
            for file, make in (("a.arrow", pa.ipc.new_file), ("b.arrow", pa.ipc.new_stream)):
                with make(str(where / file), table.schema) as out:
                    out.write_table(table)
                (batch,) = read(where / file, "arrow")
                self.assertEqual(
                    batch, table.drop(["nano", "zoned"]).to_pydict() | {"nano": [at, None], "zoned": batch["zoned"]}
                )
                self.assertEqual(batch["zoned"][0], at.replace(microsecond=0, tzinfo=datetime.timezone.utc))
                self.assertEqual(
                    {key: type(value[0]) for key, value in batch.items() if key not in ("nano", "zoned")},
                    {key: type(value[0]) for key, value in table.drop(["nano", "zoned"]).to_pydict().items()},
                )

    def test_a_map_is_a_list_of_its_entries(self):
        table = pa.table({"m": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64()))})
        with folder() as where:
            pa.parquet.write_table(table, where / "a.parquet")
            self.assertEqual(read(where / "a.parquet", "parquet"), [{"m": [[{"key": "k", "value": 1}], []]}])

    def test_samples_of_tar_and_whole_files_are_bytes(self):
        import tarfile

        with folder() as where:
            (where / "1.txt").write_bytes(b"\xff one")
            (where / "1.cls").write_bytes(b"7")
            with tarfile.open(where / "a.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
                tar.add(where / "1.txt", "1.txt")
                tar.add(where / "1.cls", "1.cls")
            self.assertEqual(read(where / "a.tar", "auto"), [{"__key__": ["1"], "cls": [b"7"], "txt": [b"\xff one"]}])

    def test_a_saved_dataset_has_the_order_that_it_says(self):
        with folder() as where:
            for name, value in (("data-00000-of-00002.arrow", 1), ("data-00001-of-00002.arrow", 2)):
                with pa.ipc.new_stream(str(where / name), pa.schema([("a", pa.int64())])) as out:
                    out.write_table(pa.table({"a": [value]}))
            self.assertEqual(read(where, "hf_dataset"), [{"a": [1, 2]}])
            (where / "state.json").write_text(
                json.dumps(
                    {
                        "_data_files": [
                            {"filename": "data-00001-of-00002.arrow"},
                            {"filename": "data-00000-of-00002.arrow"},
                        ]
                    }
                )
            )
            self.assertEqual(read(where, "hf_dataset"), [{"a": [2, 1]}])
            self.assertEqual(read(where, "auto"), [{"a": [2, 1]}])
            for state in ("{}", '{"_data_files": [{"filename": ".."}]}', '{"_data_files": [{"filename": ""}]}'):
                (where / "state.json").write_text(state)
                with self.assertRaisesRegex(oomplan.DataError, r"state.json: .*\[measure/bad-file\]"):
                    read(where, "auto")

    def test_of_splits_one_is_to_be_given(self):
        with folder() as where:
            (where / "dataset_dict.json").write_text('{"splits": ["test", "train"]}')
            for split, value in (("test", 1), ("train", 2)):
                (where / split).mkdir()
                (where / split / "state.json").write_text('{"_data_files": [{"filename": "a.arrow"}]}')
                (where / split / "dataset_info.json").write_text('{"features": {}}')
                with pa.ipc.new_stream(str(where / split / "a.arrow"), pa.schema([("a", pa.int64())])) as out:
                    out.write_table(pa.table({"a": [value]}))
            with self.assertRaisesRegex(oomplan.DataError, r"it has the splits test, train; .*\[measure/bad-file\]"):
                read(where, "hf_dataset")
            self.assertEqual(read(where / "train", "hf_dataset"), [{"a": [2]}])
            self.assertEqual(read(where, "auto"), [{"a": [1, 2]}])
            (where / "dataset_dict.json").write_text("[" * 100_000)
            with self.assertRaisesRegex(oomplan.DataError, r"dataset_dict.json: error: it names no splits"):
                read(where, "hf_dataset")

    def test_a_folder_without_arrow_files_is_no_saved_dataset(self):
        with folder() as where:
            (where / "a.parquet").touch()
            with self.assertRaisesRegex(oomplan.DataError, r"it has no \.arrow file"):
                read(where, "hf_dataset")

    def test_names_of_files_need_not_be_text(self):
        with folder() as where:
            path = os.fsencode(where) + b"/\xff.txt"
            Path(os.fsdecode(path)).write_text("x")
            self.assertEqual(read(path, "text"), [{"text": ["x"]}])

    def test_a_folder_is_read_in_the_order_of_the_commands(self):
        with folder() as where:
            for i in (10, 9, 1):
                (where / f"part-{i}.jsonl").write_text(json.dumps({"i": i}))
            self.assertEqual(read(where, "jsonl", 2), [{"i": [1, 9]}, {"i": [10]}])


class Rows(unittest.TestCase):
    def read_lines(self, text, *arguments, **options):
        with folder() as where:
            (where / "a.jsonl").write_text(text)
            return read(where / "a.jsonl", "jsonl", *arguments, **options)

    def test_a_missing_key_is_none_so_that_rows_stay_rows(self):
        self.assertEqual(
            self.read_lines('{"a":1}\n{"b":2}\n{"a":3,"c":null}\n'),
            [{"a": [1, None, 3], "b": [None, 2, None], "c": [None, None, None]}],
        )

    def test_of_two_keys_of_one_name_the_last_counts(self):
        self.assertEqual(
            self.read_lines('{"a":1,"b":0,"a":2}\n{"b":1,"a":{"x":1,"x":2}}\n'), [{"a": [2, {"x": 2}], "b": [0, 1]}]
        )

    def test_columns_may_come_in_any_order(self):
        self.assertEqual(
            self.read_lines('{"a":1,"b":2,"c":3}\n{"c":6,"a":4,"b":5}\n{}\n{"b":8}\n'),
            [{"a": [1, 4, None, None], "b": [2, 5, None, 8], "c": [3, 6, None, None]}],
        )

    def test_numbers_stay_what_they_are(self):
        (batch,) = self.read_lines(
            '{"a":1.0}\n{"a":-0.0}\n{"a":1}\n{"a":18446744073709551615}\n{"a":-9223372036854775808}\n'
        )
        self.assertEqual(repr(batch["a"]), "[1.0, -0.0, 1, 18446744073709551615, -9223372036854775808]")

    def test_values_nest(self):
        row = {"a": [{"b": [[], {}, [None, True]]}, "é\u0000🚀"], "": {"": ""}}
        self.assertEqual(rows_of(self.read_lines(json.dumps(row))), [row])

    def test_no_rows_are_no_batches(self):
        self.assertEqual(self.read_lines(""), [])


class Errors(unittest.TestCase):
    def test_they_say_what_the_command_says(self):
        with folder() as where:
            for name, kind, content in (
                ("bad.jsonl", "jsonl", b'{"a":1}\n{bad\n'),
                ("cut.parquet", "parquet", b"PAR1 and no end"),
                ("cut.jsonl.gz", "jsonl.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\3\xab"),
                ("a.csv", "csv", b"a,b\n1\n"),
            ):
                with self.subTest(name):
                    (where / name).write_bytes(content)
                    form = {"jsonl": "json-lines"}.get(kind.split(".")[0], kind)
                    said = subprocess.run(
                        [PROGRAM, "stream", "--format", form, name], cwd=where, stderr=subprocess.PIPE, text=True
                    ).stderr
                    with self.assertRaises(oomplan.DataError) as caught:
                        read(where / name, kind)
                    self.assertIsInstance(caught.exception, RuntimeError)
                    self.assertIn(str(caught.exception).replace(f"{where}/", ""), said)
                    self.assertEqual(caught.exception.path, str(where / name))
                    self.assertIn(f"[{caught.exception.code}]", said)

    def test_the_rows_before_it_come_first(self):
        with folder() as where:
            (where / "a.jsonl").write_text('{"a":1}\n{"a":2}\n{bad\n{"a":3}\n')
            batches = oomplan.streaming_dataset_reader(where / "a.jsonl", "jsonl")
            self.assertEqual(next(batches), {"a": [1, 2]})
            with self.assertRaisesRegex(oomplan.DataError, r"row 3, at byte 16: .*\[measure/bad-row\]"):
                next(batches)
            self.assertEqual(list(batches), [])

    def test_skipped_rows_are_warned_of(self):
        with folder() as where:
            (where / "a.jsonl").write_text('{"a":1}\n{bad\n[1]\n{"a":3}\n')
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.assertEqual(read(where / "a.jsonl", "jsonl", on_error="skip"), [{"a": [1, 3]}])
            self.assertEqual([warning.category for warning in caught], [oomplan.SkippedRow] * 2)
            self.assertIn("row 2, at byte 8", str(caught[0].message))

    def test_no_row_is_skipped_in_silence(self):
        with folder() as where:
            (where / "a.jsonl").write_text('{"a":1}\n{bad\n' * 2500)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                read(where / "a.jsonl", "jsonl", on_error="skip")
            self.assertEqual(sum(warning.message.count for warning in caught), 2500)
            self.assertEqual(str(caught[100].message), "warning: and 2,400 more")
            self.assertEqual(caught[100].filename, caught[0].filename)
            with warnings.catch_warnings(), self.assertRaises(oomplan.SkippedRow):
                warnings.simplefilter("error")
                read(where / "a.jsonl", "jsonl", on_error="skip")

    def test_nothing_is_opened_before_the_first_batch_is_wanted(self):
        batches = oomplan.streaming_dataset_reader("no such file", "parquet")
        with self.assertRaisesRegex(oomplan.DataError, r"no such file.*\[read/missing\]"):
            next(batches)

    def test_arguments(self):
        with folder() as where:
            (where / "a.txt").write_text("x")
            for error, arguments, options in (
                (ValueError, ("text", 0), {}),
                (OverflowError, ("text", -1), {}),
                (TypeError, ("text", 1.5), {}),
                (OverflowError, ("text", 1, -1), {}),
                (RuntimeError, ("txt",), {}),
                (RuntimeError, ("text.lz4",), {}),
                (ValueError, ("text",), {"budget": "much"}),
                (TypeError, ("text",), {"budget": None}),
                (ValueError, ("text",), {"on_error": "ignore"}),
                (oomplan.DataError, ("text",), {"budget": 1 << 20}),
            ):
                with self.subTest(arguments=arguments, options=options), self.assertRaises(error):
                    read(where / "a.txt", *arguments, **options)

    def test_what_python_cannot_hold_is_an_error(self):
        with folder() as where:
            for column in (
                pa.array([1], pa.timestamp("ns")),
                pa.array([1 << 62], pa.timestamp("s")),
                pa.array([1 << 62], pa.duration("s")),
            ):
                with pa.ipc.new_file(str(where / "a.arrow"), pa.schema([("a", column.type)])) as out:
                    out.write_table(pa.table({"a": column}))
                with self.assertRaises((ValueError, OverflowError)):
                    read(where / "a.arrow", "arrow")

    def test_a_value_that_python_cannot_hold_leaves_the_rows_before_it_whole(self):
        table = pa.table({"a": [1, 2, 3], "t": pa.array([1000, None, 1], pa.timestamp("ns")), "b": ["x", "y", "z"]})
        with folder() as where:
            with pa.ipc.new_file(str(where / "a.arrow"), table.schema) as out:
                out.write_table(table)
            batches = oomplan.streaming_dataset_reader(where / "a.arrow", "arrow")
            self.assertEqual({name: len(values) for name, values in next(batches).items()}, {"a": 2, "t": 2, "b": 2})
            with self.assertRaises(ValueError):
                next(batches)

    def test_text_that_is_no_utf8_is_an_error(self):
        broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")])
        with folder() as where:
            pa.parquet.write_table(pa.table({"a": broken}), where / "a.parquet")
            with self.assertRaises(UnicodeDecodeError):
                read(where / "a.parquet", "parquet")

    def test_an_error_can_be_pickled(self):
        import pickle

        error = pickle.loads(pickle.dumps(oomplan.DataError("text", "measure/bad-row", "file")))
        self.assertEqual((str(error), error.code, error.path), ("text", "measure/bad-row", "file"))


    def test_what_a_handler_of_a_signal_raises_comes_at_once(self):
        def handler(*_):
            raise TimeoutError("rang")

        before = signal.signal(signal.SIGALRM, handler)
        try:
            with folder() as where:
                (where / "a.txt").write_text("line\n" * 4_000_000)
                batches = oomplan.streaming_dataset_reader(where / "a.txt", "text", 3_000_000, budget="4GiB")
                signal.setitimer(signal.ITIMER_REAL, 0.03)
                with self.assertRaisesRegex(TimeoutError, "rang"):
                    next(batches)
                self.assertEqual(list(batches), [])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def test_a_reader_that_is_left_before_its_error_closes_its_file(self):
        script = """if True:
            import oomplan, os, sys
            def begin():
                for _ in oomplan.streaming_dataset_reader(sys.argv[1], "jsonl"): break
            begin()  # After which libraries have what they keep open: newer ones of libffi their own file.
            before = len(os.listdir("/proc/self/fd"))
            for _ in range(5): begin()
            print(len(os.listdir("/proc/self/fd")) - before)"""
        with folder() as where:
            (where / "a.jsonl").write_text('{"a":1}\n{bad\n')
            done = subprocess.run(
                [sys.executable, "-c", script, where / "a.jsonl"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
        self.assertEqual(done.stdout, b"0\n")  # and nothing of leaks


class Budget(unittest.TestCase):
    def test_batches_are_cut_short_where_they_would_be_past_it(self):
        with folder() as where:
            with open(where / "a.jsonl", "w") as out:
                for i in range(60):
                    out.write(json.dumps({"i": i, "text": "x" * 1_000_000}) + "\n")
            batches = read(where / "a.jsonl", "jsonl", budget="64MiB")
            self.assertGreater(len(batches), 3)
            self.assertEqual([i for batch in batches for i in batch["i"]], list(range(60)))

    def test_a_row_that_it_does_not_hold_is_refused(self):
        nothing = pa.ListArray.from_arrays(pa.array([0, 100_000_000], pa.int32()), pa.nulls(100_000_000))
        with folder() as where:
            with pa.ipc.new_file(str(where / "a.arrow"), pa.schema([("a", nothing.type)])) as out:
                out.write_table(pa.table({"a": nothing}))
            with self.assertRaisesRegex(oomplan.DataError, r"row 1 of all .*64.00 MiB .*\[measure/over-budget\]"):
                read(where / "a.arrow", "arrow")

    def test_keys_count_with_their_length(self):
        keys = [f"{i:03}" + "k" * 1_000_000 for i in range(40)]
        with folder() as where:
            for row in ({"a": {key: 1 for key in keys[:2]}}, {keys[0]: 1}, {"a": {"ü" + keys[0]: 1}}):
                (where / "a.jsonl").write_text(json.dumps(row, ensure_ascii=False) + "\n")
                self.assertEqual(rows_of(read(where / "a.jsonl", "jsonl", budget="64MiB")), [row])
            (where / "a.jsonl").write_text("".join(json.dumps({"a": {key: 1}}) + "\n" for key in keys))
            batches = read(where / "a.jsonl", "jsonl", budget="64MiB")  # 16 MiB each
            self.assertEqual([len(batch["a"]) for batch in batches], [16, 16, 8])
            self.assertEqual([list(cell) for batch in batches for cell in batch["a"]], [[key] for key in keys])
            (where / "a.jsonl").write_text("".join(json.dumps({"a": {"🚀" + key: 1}}) + "\n" for key in keys[:6]))
            batches = read(where / "a.jsonl", "jsonl", budget="64MiB")  # four bytes a character
            self.assertLessEqual(max(len(batch["a"]) for batch in batches), 5)

    def test_rows_that_share_no_column_do_not_fill_a_square(self):
        with folder() as where:
            with open(where / "a.jsonl", "w") as out:
                for i in range(400):
                    out.write(json.dumps({f"{i}-{j}": j for j in range(500)}) + "\n")
            batches = read(where / "a.jsonl", "jsonl", budget="64MiB")
            self.assertGreater(len(batches), 1)
            self.assertEqual(sum(len(next(iter(batch.values()))) for batch in batches), 400)

    @unittest.skipIf(SANITIZED, "a sanitizer's memory is not ours")
    def test_a_long_file_takes_no_more_than_a_short_one(self):
        script = """if True:
            import oomplan, resource, sys
            rows = sum(len(b["text"]) for b in oomplan.streaming_dataset_reader(sys.argv[1], "jsonl.gz"))
            print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"""
        import gzip

        peaks = []
        with folder() as where:
            for rows in (20_000, 400_000):
                with gzip.open(where / "a.jsonl.gz", "wt", compresslevel=1) as out:
                    out.writelines(json.dumps({"i": i, "text": "some text of a row " * 20}) + "\n" for i in range(rows))
                read_rows, peak = map(int, in_child(script, where / "a.jsonl.gz").split())
                self.assertEqual(read_rows, rows)
                peaks.append(peak)
        self.assertLess(peaks[1], 100 << 10)
        self.assertLess(peaks[1], 1.15 * peaks[0])


class Process(unittest.TestCase):
    def test_other_threads_run_while_it_reads(self):
        ran = threading.Event()
        interval = sys.getswitchinterval()
        with folder() as where:
            (where / "a.txt").write_text("line\n" * 1_000_000)
            sys.setswitchinterval(1000)  # so that only who gives the lock away lets others run
            try:
                thread = threading.Thread(target=ran.set)
                batches = oomplan.streaming_dataset_reader(where / "a.txt", "text", 1_000_000)
                thread.start()
                next(batches)
                self.assertTrue(ran.is_set())
            finally:
                sys.setswitchinterval(interval)
                thread.join()

    def test_two_threads_cannot_be_in_one_reader(self):
        from oomplan import _native

        errors, rows = [], []

        def read_on():
            try:
                while (batch := reader.next(10_000)) is not None:
                    rows.append(len(batch["text"]))
            except RuntimeError as error:
                errors.append(str(error))

        with folder() as where:
            (where / "a.txt").write_text("line\n" * 2_000_000)
            reader = _native.ValueReader([os.fsencode(where / "a.txt")], "text", "256MiB", False)
            threads = [threading.Thread(target=read_on) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(sum(rows), 2_000_000)
        self.assertEqual(set(errors) - {"another thread reads from this already"}, set())

    def test_there_is_one_arrow_in_the_process_whoever_comes_first(self):
        script = """if True:
            import importlib, sys
            for name in sys.argv[1:]: importlib.import_module(name)
            import pyarrow, tempfile, oomplan, pyarrow.parquet
            with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
                pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), file.name)
                assert list(oomplan.streaming_dataset_reader(file.name, "parquet")) == [{"a": [1]}]
            maps = {line.split()[-1] for line in open("/proc/self/maps") if "/libarrow.so" in line}
            print(len(maps), next(iter(maps)).startswith(pyarrow.__path__[0]))"""
        for first in (["pyarrow", "oomplan"], ["oomplan", "pyarrow"], ["oomplan", "pyarrow.dataset"]):
            self.assertEqual(in_child(script, *first), "1 True")

    def test_a_pyarrow_of_another_version_is_named(self):
        script = """if True:
            import pathlib, sys
            pathlib.Path(sys.argv[1], "pyarrow").mkdir()
            pathlib.Path(sys.argv[1], "pyarrow", "__init__.py").touch()
            sys.path.insert(0, sys.argv[1])
            import oomplan
            oomplan.streaming_dataset_reader"""
        with folder() as where:
            self.assertRegex(
                in_child(script, where), r"ImportError: oomplan was built with libarrow\.so\.\d+, which is not"
            )


if __name__ == "__main__":
    unittest.main()
