"""oomplan.ray on a cluster of two nodes, beside the command on one machine."""

import json
import os
import random
import subprocess
import sys
import unittest

try:
    import ray
    import ray.data
    from ray.cluster_utils import Cluster
except ImportError as error:
    print(f"ray: skipped, as Ray Data is not here ({error})")
    sys.exit(77)

import oomplan
import oomplan.ray
import pyarrow as pa
import pyarrow.parquet
from samples import PROGRAM, folder, write_csv


def command(*arguments):
    done = subprocess.run(
        [PROGRAM, *map(str, arguments), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout)


def rows_of(rng, count):
    return [
        {"id": rng.randrange(count), "text": f"row {rng.randrange(5)} é", "flag": rng.random() < 0.5}
        for _ in range(count)
    ]


def write_corpus(where):
    """Shards of five formats that have rows in common, within and between them."""
    rng = random.Random(11)
    where.mkdir()
    for i in range(2):
        pa.parquet.write_table(pa.Table.from_pylist(rows_of(rng, 700)), where / f"{i}.parquet", row_group_size=100)
        (where / f"{i}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows_of(rng, 700)))
    table = pa.Table.from_pylist(rows_of(rng, 700))
    with pa.ipc.new_file(str(where / "3.arrow"), table.schema) as out:
        out.write_table(table, 50)
    write_csv(where / "4.csv", rows_of(rng, 700))
    (where / "5.txt").write_text("same\nother\nsame\n")
    (where / "6.txt").write_text("")


class Machines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        node = {"num_cpus": 1, "object_store_memory": 80 << 20}
        cls.cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
        cls.cluster.add_node(**node)
        cls.cluster.wait_for_nodes()
        ray.init(address=cls.cluster.address, log_to_driver=False, logging_level="error")
        ray.data.DataContext.get_current().enable_progress_bars = False

    @classmethod
    def tearDownClass(cls):
        ray.shutdown()
        cls.cluster.shutdown()

    def same(self, where, *key):
        indices = where.parent / f"indices{len(key)}"
        alone = command("dedupe", where, "--indices", indices, "--key", ",".join(key) or "row")
        together = oomplan.ray.dedupe(where, key=key)
        self.assertEqual(
            (together.rows, together.unique, together.duplicates),
            (alone["read"]["rows"], alone["unique"], alone["duplicates"]),
        )
        self.assertEqual(together.indices().tolist(), [int(line) for line in indices.read_text().split()])
        return together

    def test_there_are_two_nodes_and_both_work(self):
        @ray.remote(num_cpus=1, scheduling_strategy="SPREAD")
        def node():
            import time

            time.sleep(1)
            return ray.get_runtime_context().get_node_id()

        self.assertEqual(len(set(ray.get([node.remote() for _ in range(4)]))), 2)

    def test_it_keeps_the_rows_that_one_machine_keeps(self):
        with folder() as where:
            write_corpus(where / "corpus")
            together = self.same(where / "corpus")
            self.assertGreater(together.duplicates, 100)
            self.same(where / "corpus", "text", "id")

    def test_it_reads_them(self):
        with folder() as where:
            write_corpus(where / "corpus")
            shards = [where / "corpus" / name for name in ("0.parquet", "0.jsonl", "1.parquet")]
            command("dedupe", *shards, "--output", where / "kept.jsonl")
            alone = sorted(
                json.dumps(json.loads(line), sort_keys=True) for line in (where / "kept.jsonl").read_text().splitlines()
            )
            together = sorted(json.dumps(row, sort_keys=True) for row in oomplan.ray.dedupe(shards).read(64).take_all())
            self.assertEqual(together, alone)

    def test_what_is_left_out_is_left_out_both_times(self):
        with folder() as where:
            (where / "a.jsonl").write_text('{"a":1}\n{"a":"' + "x" * 30_000_000 + '"}\n5\n{"a":2}\n{"a":1}\n{"a":3}\n')
            found = oomplan.ray.dedupe(where, on_error="skip")
            self.assertEqual((found.rows, found.unique), (4, 3))
            self.assertEqual(sorted(row["a"] for row in found.read().take_all()), [1, 2, 3])

    def test_files_that_change_are_not_read_again(self):
        with folder() as where:
            (where / "a.txt").write_text("a\nb\n")
            found = oomplan.ray.dedupe(where)
            (where / "a.txt").write_text("c\na\nb\n")
            with self.assertRaisesRegex(Exception, r"changed since it was read \[measure/changed\]"):
                found.read().take_all()

    def test_it_measures_them(self):
        with folder() as where:
            write_corpus(where / "corpus")
            alone = command("stream", where / "corpus", "--sizes")
            together = oomplan.ray.measure(where / "corpus")
            self.assertEqual(
                {name: together[name] for name in ("files", "rows")},
                {name: alone["read"][name] for name in ("files", "rows")},
            )
            self.assertEqual(together["longest"], alone["row_bytes"]["longest"])
            self.assertAlmostEqual(together["mean"], alone["row_bytes"]["mean"])

    def test_errors(self):
        with folder() as where:
            (where / "a.jsonl").write_text('{"a":1}\n{bad\n')
            with self.assertRaisesRegex(Exception, r"row 2, at byte 8: .*\[measure/bad-row\]"):
                oomplan.ray.measure(where)
            self.assertEqual(oomplan.ray.measure(where, on_error="skip")["rows"], 1)
            with self.assertRaisesRegex(oomplan.DataError, r"no row has the column 'b' \[measure/unknown-column\]"):
                oomplan.ray.dedupe(where, key=["a", "b"], on_error="skip")
            with self.assertRaisesRegex(oomplan.DataError, r"\[read/missing\]"):
                oomplan.ray.dedupe(where / "none")


if __name__ == "__main__":
    unittest.main()
