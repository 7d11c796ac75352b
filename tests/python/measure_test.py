"""oomplan.measure() beside loaders whose speed and memory are known, and its profile in `oomplan estimate`."""

import importlib.util
import json
import mmap
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import oomplan

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = str(ROOT / "examples/oomplan/gpt2-full.yaml")
DATASET = ROOT / "examples/loader/profile.json"
ON_LINUX = os.path.exists("/proc/self/smaps_rollup")


class Array:
    """As far as rows go."""

    def __init__(self, *shape):
        self.shape = shape


class Sequence:
    """As Keras has them: no __iter__, and never an IndexError."""

    def __init__(self, length):
        self.length = length
        self.asked = []

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        self.asked.append(index)
        return Array(4, 2), Array(4)


def slow(batches, seconds=0.01, rows=8):
    for _ in range(batches):
        time.sleep(seconds)
        yield [0] * rows


class Rate(unittest.TestCase):
    def test_of_a_generator(self):
        found = oomplan.measure(slow(30), steps=20)
        self.assertEqual((found.steps, found.rows, found.workers), (20, 160, None))
        self.assertTrue(300 < found.rows_per_second <= 800, found)
        self.assertAlmostEqual(found.rows_per_second, found.rows / found.seconds)

    def test_takes_no_more_than_it_was_asked_for(self):
        rest = iter(range(1000))
        oomplan.measure(rest, steps=5)
        self.assertEqual(next(rest), 6)

    def test_the_start_is_not_in_the_rate(self):
        def late():
            time.sleep(1)
            yield from slow(6)

        found = oomplan.measure(late(), steps=5).to_dict()["loader"]
        self.assertGreater(found["first_seconds"], 1)
        self.assertLess(found["seconds"], 1)
        self.assertEqual(found["warm_up_steps"], 1)

    def test_of_one_batch_the_start_is_all_there_is(self):
        found = oomplan.measure(slow(1))
        self.assertEqual((found.steps, found.rows, found.to_dict()["loader"]["warm_up_steps"]), (1, 8, 0))

    def test_of_a_sequence_that_has_no_end(self):
        sequence = Sequence(3)
        found = oomplan.measure(sequence)
        self.assertEqual(sequence.asked, [0, 1, 2])
        self.assertEqual((found.steps, found.rows), (2, 8))


class Rows(unittest.TestCase):
    def counted(self, batch, **named):
        return oomplan.measure([batch, batch], steps=1, **named).rows

    def test_are_the_first_dimension(self):
        self.assertEqual(self.counted(Array(16, 512)), 16)
        self.assertEqual(self.counted({"input_ids": Array(16, 512), "labels": Array(16)}), 16)
        self.assertEqual(self.counted((Array(16, 3), Array(16))), 16)
        self.assertEqual(self.counted([Array(16, 3), Array(16)]), 16)
        self.assertEqual(self.counted(({"a": Array(16, 3)}, Array(16), None)), 16)

    def test_of_a_list_are_its_length(self):
        self.assertEqual(self.counted(["a", "b", "c"]), 3)
        self.assertEqual(self.counted([{"input_ids": Array(512)}] * 3), 3)

    def test_of_one_row(self):
        self.assertEqual(self.counted("a text"), 1)
        self.assertEqual(self.counted({"text": "a", "label": 2}), 1)
        self.assertEqual(self.counted(Array()), 1)

    def test_are_as_they_are_said(self):
        self.assertEqual(self.counted({"input_ids": [1, 2, 3]}, rows=1), 1)
        self.assertEqual(self.counted({"a": "bc"}, rows=lambda batch: len(batch["a"])), 2)

    def test_that_cannot_be_told(self):
        with self.assertRaisesRegex(oomplan.UsageError, "rows="):
            self.counted((Array(3, 224, 224), 7))


class Wrong(unittest.TestCase):
    def test_what_is_no_loader(self):
        for wrong in (3, None, "path.jsonl", {"a": [1]}):
            with self.assertRaisesRegex(oomplan.UsageError, "a loader is"):
                oomplan.measure(wrong)

    def test_empty_and_no_steps(self):
        with self.assertRaisesRegex(oomplan.UsageError, "is empty"):
            oomplan.measure([])
        with self.assertRaisesRegex(oomplan.UsageError, "no rows"):
            oomplan.measure([[], []])
        with self.assertRaisesRegex(oomplan.UsageError, "at least 1"):
            oomplan.measure(slow(1), steps=0)

    def test_what_the_loader_raises_goes_on(self):
        def broken():
            yield [1]
            raise OSError("the disk is gone")

        with self.assertRaisesRegex(OSError, "the disk is gone"):
            oomplan.measure(broken())
        self.assertNotIn("oomplan.measure", [one.name for one in threading.enumerate()])


def mapped(mebibytes):
    """Memory that is the system's again once it is closed: an allocator may keep what was freed, and take it once more."""
    memory = mmap.mmap(-1, mebibytes << 20)
    for _ in range(mebibytes):
        memory.write(os.urandom(1 << 20))
    return memory


@unittest.skipUnless(ON_LINUX, "there is no /proc")
class Memory(unittest.TestCase):
    def test_of_this_process(self):
        def holding():
            yield [1]
            held = mapped(64)
            yield [len(held)]

        before = oomplan.measure([[1]]).pss
        found = oomplan.measure(holding(), steps=1)
        self.assertGreater(found.pss - before, 60 << 20)
        self.assertEqual(found.processes[0]["pid"], os.getpid())

    def test_of_processes_that_it_starts(self):
        def working():
            script = "import sys; held = bytearray(64 << 20); print(flush=True); sys.stdin.read()"
            with subprocess.Popen([sys.executable, "-c", script], stdin=-1, stdout=-1) as worker:
                worker.stdout.readline()
                while True:
                    yield [worker.pid]

        found = oomplan.measure(working(), steps=1)
        self.assertEqual(len(found.processes), 2, found)
        self.assertGreater(found.processes[1]["pss"], 64 << 20)
        self.assertGreaterEqual(found.pss, found.processes[1]["pss"])

    def test_of_what_is_there_only_meanwhile(self):
        def passing():
            yield [1]
            with mapped(64):
                time.sleep(1)
            yield [1]

        before = oomplan.measure([[1]]).pss
        self.assertGreater(oomplan.measure(passing()).pss - before, 60 << 20)

    def test_of_shm(self):
        def sharing():
            yield [1]
            with tempfile.TemporaryFile(dir="/dev/shm") as file:
                file.truncate(8 << 20)
                with mmap.mmap(file.fileno(), 8 << 20) as shared:
                    shared.write(b"x" * (8 << 20))
                    yield [1]

        if os.statvfs("/dev/shm").f_bavail * os.statvfs("/dev/shm").f_frsize < 16 << 20:
            self.skipTest("/dev/shm is too small")
        self.assertGreaterEqual(oomplan.measure(sharing(), steps=1).dev_shm, 8 << 20)


class Profile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "loader.json")

    def feed(self, step_time, **more):
        return oomplan.estimate(CONFIG, loader=self.path, step_time=step_time, outlook=False, **more).host["feed"]

    def test_says_whether_it_feeds_the_step(self):
        found = oomplan.measure(slow(20), steps=10)
        found.write(self.path)
        feed = self.feed("10s")
        self.assertEqual((feed["measured"], feed["keeps_up"]), ("loader", True))
        self.assertAlmostEqual(feed["read_per_second"], found.rows_per_second)
        self.assertIs(self.feed("1ms")["keeps_up"], False)

    def test_of_a_loader_alone_decides_no_memory(self):
        oomplan.measure(slow(3)).write(self.path)
        found = oomplan.estimate(CONFIG, set={"loader_rows_as": "list"}, loader=self.path, host_ram="64GiB", outlook=False)
        self.assertEqual(found.code, 4)

    def test_with_its_dataset(self):
        oomplan.measure(slow(3)).write(self.path, dataset=DATASET)
        told = json.loads(pathlib.Path(self.path).read_text())
        self.assertEqual(told["read"]["rows"], 52000)
        self.assertEqual(self.feed("10s")["measured"], "loader")
        found = oomplan.estimate(CONFIG, set={"loader_rows_as": "list"}, loader=self.path, host_ram="64GiB", outlook=False)
        self.assertEqual(found.code, 0)

    def test_with_what_is_no_dataset(self):
        found = oomplan.measure(slow(3))
        for wrong in (CONFIG, "none.json"):
            with self.assertRaises(oomplan.ConfigError):
                found.write(self.path, dataset=wrong)
        self.assertFalse(os.path.exists(self.path))

    def test_is_as_its_schema_has_it(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("jsonschema is not installed")
        schema = json.loads((ROOT / "docs/profile.schema.json").read_text())
        jsonschema.validate(oomplan.measure(slow(3)).to_dict(), schema)

    def test_is_readable(self):
        text = repr(oomplan.measure(Sequence(3)))
        self.assertRegex(text, r"^<oomplan.Measured [0-9.]+ rows a second, 4.0 a batch(; [0-9.]+ MiB in 1 processes, |>)")


@unittest.skipIf(importlib.util.find_spec("torch") is None, "torch is not installed")
class Torch(unittest.TestCase):
    """A row takes 20 ms."""

    def loader(self, **named):
        import torch

        class Slow(torch.utils.data.Dataset):
            def __len__(self):
                return 4000

            def __getitem__(self, index):
                time.sleep(0.02)
                return {"input_ids": torch.full((64,), index), "label": index}

        return torch.utils.data.DataLoader(Slow(), batch_size=4, **named)

    def test_without_workers(self):
        found = oomplan.measure(self.loader(), steps=10)
        self.assertEqual((found.workers, found.rows, len(found.processes)), (0, 40, 1))
        self.assertTrue(20 < found.rows_per_second <= 50, found)

    def test_with_workers(self):
        alone = oomplan.measure(self.loader(), steps=5)
        found = oomplan.measure(self.loader(num_workers=3), steps=15)
        self.assertEqual((found.workers, found.rows, found.to_dict()["loader"]["warm_up_steps"]), (3, 60, 3))
        self.assertTrue(1.5 * alone.rows_per_second < found.rows_per_second <= 165, found)
        if ON_LINUX:
            self.assertEqual(len(found.processes), 4, found)
            self.assertTrue(all(one["pss"] > 1 << 20 for one in found.processes))

    def test_an_error_in_a_worker_goes_on(self):
        import torch

        class Broken(torch.utils.data.Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, index):
                raise OSError("the disk is gone")

        with self.assertRaisesRegex(OSError, "the disk is gone"):
            oomplan.measure(torch.utils.data.DataLoader(Broken(), num_workers=1))


if __name__ == "__main__":
    unittest.main()
