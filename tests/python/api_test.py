"""The Python API beside the program: the same answers, errors as exceptions, in several threads.

OOMPLAN_PROGRAM is the program; without it, `oomplan` on the PATH.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import oomplan

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/laws"))
import laws  # noqa: E402
from oomplan._asking import scalar  # noqa: E402

PROGRAM = os.environ.get("OOMPLAN_PROGRAM") or shutil.which("oomplan")
os.chdir(ROOT)
EXAMPLE = "examples/axolotl/llama-3.1-8b-qlora.yml"
EXAMPLES = sorted(
    str(path.relative_to(ROOT)) for path in (ROOT / "examples").rglob("*") if path.suffix in (".yaml", ".yml", ".json")
)
GPUS = ("rtx-4090", "24GiB", "8GiB", "h100", "a100-80gb", "2xa100-80gb", "rtx-409")
# Facts, which --set changes in every dialect.
CHANGES = {
    "gradient_accumulation_steps": (1, 4),
    "gradient_checkpointing": (True, False),
    "lora_rank": (8, 64),
    "lora_dropout": (0, 0.1),
    "micro_batch_size": (1, 3, 16, "many"),
    "optimizer": ("adamw_8bit", "adamw", "sgd"),
    "sequence_length": (256, 2048),
    "weights_dtype": ("bf16", "fp32"),
}
OUT_OF_MEMORY = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.52 GiB of which 1.00 GiB is free."
    " Including non-PyTorch memory, this process has 22.50 GiB memory in use. Of the allocated memory 20.00 GiB is"
    " allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated."
)


def program(*words, given=None):
    done = subprocess.run([PROGRAM, *words], input=given, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout


class Same(unittest.TestCase):
    """What the program says, to the byte."""

    def test_without_a_replay_tensors_are_the_same(self):
        whole = oomplan.estimate(EXAMPLE, outlook=False)
        alone = oomplan.estimate(EXAMPLE, replay=False)
        self.assertEqual(alone.json, program("estimate", EXAMPLE, "--json", "--no-replay")[1])
        self.assertEqual((alone.peak, alone.verdict), (whole.peak, "answered"))
        self.assertIsNone(alone.to_dict()["footprint"]["reserved"])
        self.assertEqual(alone.needed("rtx-4090"), whole.needed("rtx-4090"))
        with self.assertRaises(oomplan.UsageError):
            oomplan.estimate(EXAMPLE, "rtx-4090", replay=False)

    def same(self, said, *asked, **named):
        code, text = said
        try:
            found = oomplan.estimate(*asked, **named)
            self.assertEqual((found.code, found.json), said)
            self.assertEqual(found.to_dict(), json.loads(text))
        except (oomplan.UsageError, oomplan.ConfigError) as error:
            self.assertEqual(code, 2 if isinstance(error, oomplan.UsageError) else 3)
            self.assertEqual(error.diagnostics, json.loads(text)["diagnostics"])

    def test_every_example(self):
        self.assertGreaterEqual(len(EXAMPLES), 4)
        for config in EXAMPLES:
            with self.subTest(config):
                self.same(program("estimate", config, "--gpu", "rtx-4090", "--json"), config, "rtx-4090")

    def test_configs_that_are_made(self):
        """Drawn from the examples and the cases, with keys of any dialect changed, and asked of any GPU."""
        rng = random.Random(19)
        dialects, answered = collections.Counter(), 0
        with tempfile.TemporaryDirectory() as folder:
            found = laws.configs(pathlib.Path(folder))
            for i in range(400):
                if i >= 200 and len(dialects) >= 7:
                    break
                place, name = rng.choice(found)
                changes = {key: rng.choice(CHANGES[key]) for key in rng.sample(sorted(CHANGES), rng.randint(0, 2))}
                gpu, path = rng.choice(GPUS), str(place / name)
                with self.subTest(i, path=path, gpu=gpu, **changes):
                    said = [f"--set={key}={scalar(value)}" for key, value in changes.items()]
                    code, text = program("estimate", path, f"--gpu={gpu}", "--json", "-q", *said)
                    told = json.loads(text)
                    dialects[(told["plan"] or {}).get("dialect")] += 1
                    answered += code in (0, 1)
                    self.same((code, text), path, gpu, set=changes, outlook=False)
        self.assertGreaterEqual(len(dialects), 7, dialects)
        self.assertGreaterEqual(answered, 80, dialects)  # About half of what the cases hold is an answer.

    def test_mappings_that_are_made(self):
        rng = random.Random(19)
        configs = [_yaml_as_dict(path) for path in EXAMPLES if path.endswith("ml")]
        for _ in range(50):
            config = {**rng.choice(configs), **{key: rng.choice(CHANGES[key]) for key in rng.sample(sorted(CHANGES), 2)}}
            gpu = rng.choice(GPUS)
            said = program("estimate", "-", f"--gpu={gpu}", "--json", "-q", given=json.dumps(config))
            self.same(said, config, gpu, outlook=False)

    def test_fix_sweep_gate_and_diagnose(self):
        gpt2 = "examples/oomplan/gpt2-full.yaml"
        self.assertEqual(oomplan.fix(gpt2, "8GiB").json, program("fix", gpt2, "--gpu", "8GiB", "--json")[1])
        over = "micro_batch_size=1..4"
        swept = program("sweep", EXAMPLE, "--gpu", "rtx-4090", "--over", over, "--json")[1]
        self.assertEqual(oomplan.sweep(EXAMPLE, over, "rtx-4090").json, swept)
        gated = program("gate", *EXAMPLES, "--gpu", "rtx-4090", "--format", "json")
        found = oomplan.gate(EXAMPLES, gpu="rtx-4090")
        self.assertEqual((found.code, found.json), gated)
        log = "torch.OutOfMemoryError: " + OUT_OF_MEMORY + "\n"
        self.assertEqual(oomplan.diagnose(log).json, program("diagnose", "-", "--json", given=log)[1])


class Answers(unittest.TestCase):
    def test_fits(self):
        found = oomplan.estimate(EXAMPLE, "rtx-4090")
        self.assertIs(found.fits(), True)
        self.assertIs(found.fits("rtx-4090"), True)
        self.assertIs(found.fits("8GiB"), False)
        self.assertIs(found.fits("rtx-4090", headroom="60%"), False)
        self.assertEqual(found.needed("rtx-4090"), found.to_dict()["gpus"][0]["needed"])
        self.assertIs(oomplan.estimate(EXAMPLE).fits("a100-80gb"), True)
        self.assertIs(oomplan.estimate(EXAMPLE, ["rtx-4090", "8GiB"]).fits(), False)

    def test_peak_is_that_of_the_text(self):
        found = oomplan.estimate(EXAMPLE, "rtx-4090")
        self.assertIn(f"peak {found.peak / 2**30:.2f} GiB of tensors", str(found))
        allocated = found.to_dict()["gpus"][0]["max_memory_allocated"]
        self.assertLess(allocated - found.peak, 64 << 20)
        self.assertGreaterEqual(allocated, found.peak)

    def test_what_the_peak_is_made_of(self):
        found = oomplan.estimate(EXAMPLE, "rtx-4090")
        self.assertEqual(sum(one["bytes"] for one in found.largest), found.peak)
        sizes = [one["bytes"] for one in found.largest]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertIn("backward", [one["phase"] for one in found.table])

    def test_set_changes_the_config_first(self):
        small = oomplan.estimate(EXAMPLE, set={"micro_batch_size": 1, "sequence_len": 512})
        self.assertLess(small.peak, oomplan.estimate(EXAMPLE).peak)

    def test_a_model_in_place_of_a_config(self):
        found = oomplan.estimate("meta-llama/Llama-3.1-8B", "4090", method="qlora", batch=1, length=512)
        self.assertTrue(found.fits())

    def test_max_batch_size_is_where_it_stops_to_fit(self):
        most = oomplan.max_batch_size(EXAMPLE, "rtx-4090")
        self.assertTrue(oomplan.estimate(EXAMPLE, "rtx-4090", set={"micro_batch_size": most}).fits())
        self.assertFalse(oomplan.estimate(EXAMPLE, "rtx-4090", set={"micro_batch_size": most + 1}).fits())
        self.assertEqual(oomplan.max_batch_size(EXAMPLE, "1GiB"), 0)
        self.assertEqual(oomplan.max_batch_size(EXAMPLE, "rtx-4090", most=2), 2)

    def test_notebook_page_escapes(self):
        found = oomplan.estimate({"base_model": "<script>alert(1)</script>", "adapter": "lora"}, dialect="axolotl")
        self.assertNotIn("<script>", found._repr_html_())
        self.assertIn("<table>", oomplan.estimate(EXAMPLE, "rtx-4090")._repr_html_())

    def test_dataframe(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        frame = oomplan.estimate(EXAMPLE, "rtx-4090").to_dataframe()
        self.assertEqual(frame.loc["backward", "weights"], 6038298624)
        self.assertEqual(list(oomplan.sweep(EXAMPLE, "micro_batch_size=1..2", "rtx-4090").to_dataframe()["fits"]), [True, True])

    def test_diagnose_an_exception(self):
        class OutOfMemoryError(RuntimeError):
            pass

        OutOfMemoryError.__module__ = "torch"
        try:
            raise OutOfMemoryError(OUT_OF_MEMORY)
        except OutOfMemoryError as error:
            found = oomplan.diagnose(error)
        self.assertEqual(found.cause, "vram_exhausted")
        self.assertTrue(found.out_of_memory)
        self.assertTrue(found.to_do)
        self.assertEqual(oomplan.diagnose("nothing\nto see\n").cause, "unknown")


    def test_a_diagnosis_is_held_against_the_config(self):
        config = {**_yaml_as_dict("examples/oomplan/gpt2-full.yaml"), "gradient_checkpointing": True}
        log = "torch.OutOfMemoryError: " + OUT_OF_MEMORY + "\n"
        found = oomplan.diagnose(log, config=config, gpu="rtx-4090")
        self.assertIn("gradient_checkpointing is true", found.text)
        self.assertIn("  log:1: torch.OutOfMemoryError", found.text)
        self.assertIn("Against the config", str(found))
        self.assertNotIn("gradient-checkpointing", [one["id"] for one in found.to_do])
        self.assertNotIn("fix", [one["id"] for one in found.to_do])
        path = oomplan.diagnose(log, config="examples/oomplan/gpt2-full.yaml", gpu="rtx-4090")
        self.assertIn("gradient-checkpointing", [one["id"] for one in path.to_do])


class Errors(unittest.TestCase):
    def test_place_code_and_hint(self):
        with self.assertRaises(oomplan.ConfigError) as caught:
            oomplan.estimate({"base_model": "gpt2", "adapter": "lora", "micro_batch_size": "many"}, dialect="axolotl")
        self.assertTrue(caught.exception.place.startswith("standard input:1:"), caught.exception.place)
        self.assertTrue(caught.exception.code.startswith("ingest/"), caught.exception.code)
        self.assertIn(caught.exception.code, str(caught.exception))

    def test_unknown_gpu(self):
        with self.assertRaises(oomplan.UsageError) as caught:
            oomplan.estimate(EXAMPLE, "rtx-409")
        self.assertEqual(caught.exception.code, "catalog/unknown-gpu")
        self.assertIn("rtx-4090", caught.exception.hint)
        self.assertIsInstance(caught.exception, ValueError)

    def test_missing_file(self):
        with self.assertRaises(oomplan.ConfigError) as caught:
            oomplan.estimate("none.yaml")
        self.assertEqual((caught.exception.code, caught.exception.place), ("read/missing", "none.yaml"))

    def test_undecided_is_returned_and_its_numbers_raise(self):
        found = oomplan.estimate({"base_model": "nobody/unknown", "adapter": "lora", "micro_batch_size": 1}, "4090", dialect="axolotl")
        self.assertEqual(found.code, 4)
        for ask in (found.fits, lambda: found.peak, lambda: found.fits("8GiB"), lambda: found.table):
            with self.assertRaises(oomplan.Undecided) as caught:
                ask()
            self.assertTrue(caught.exception.reasons)

    def test_errors_can_be_pickled(self):
        try:
            oomplan.estimate("none.yaml")
        except oomplan.ConfigError as error:
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((again.code, str(again)), (error.code, str(error)))

    def test_a_path_that_looks_like_an_option(self):
        with self.assertRaises(oomplan.OomplanError):
            oomplan.estimate("--help")
        with self.assertRaises(oomplan.OomplanError):
            oomplan.estimate("--html=/tmp/never-written.html")
        self.assertFalse(os.path.exists("/tmp/never-written.html"))

    def test_what_is_no_config(self):
        for wrong in (3, None, object(), ["a"]):
            with self.assertRaises(oomplan.UsageError):
                oomplan.estimate(wrong)
        with self.assertRaises(oomplan.ConfigError):
            oomplan.estimate({"a": float("nan")})

    def test_commands_that_need_their_own_process_are_refused(self):
        from oomplan._asking import Reply

        for words in (["run", "--", "true"], ["stream", "examples"], ["measure", "examples"]):
            reply = Reply(words)
            self.assertEqual(reply.code, 2)
            self.assertIn("process of its own", reply.err)


class Program(unittest.TestCase):
    """`python -m oomplan`."""

    def test_without_pyarrow_what_reads_datasets_says_so(self):
        # Alone in a folder: where a wheel is installed, pyarrow may be beside it.
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        alone = pathlib.Path(folder.name)
        (alone / "oomplan").symlink_to(pathlib.Path(oomplan.__file__).parent)
        environment = {**os.environ, "PYTHONPATH": str(alone)}

        def ask(*words):
            # -S: without the packages of this Python.
            done = subprocess.run([sys.executable, "-S", "-m", "oomplan", *words], env=environment, capture_output=True, text=True)
            return done.returncode, done.stdout, done.stderr

        for words in (["stream", "x.csv"], ["--color", "never", "measure", "x.csv"], ["--color=always", "dedupe", "x.csv"]):
            code, _, err = ask(*words)
            self.assertEqual(code, 3, err)
            self.assertRegex(err, r"^error: .*pyarrow.* \[cli/no-data-program\]\n$")
        code, out, err = ask("--color", "never", "measure", "x.csv", "--json")
        self.assertEqual((code, err), (3, ""))
        self.assertEqual([one["code"] for one in json.loads(out)["diagnostics"]], ["cli/no-data-program"])


class Process(unittest.TestCase):
    def test_eight_threads_give_the_same(self):
        configs = [one for one in EXAMPLES if "data" not in one.split("/")] * 3
        def ask(config):
            try:
                return oomplan.estimate(config, "rtx-4090", outlook=False).json
            except oomplan.OomplanError as error:
                return str(error)

        alone = [ask(config) for config in configs]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(list(pool.map(ask, configs)), alone)

    def test_threads_have_their_own_input(self):
        def ask(rows):
            return oomplan.estimate({**base, "micro_batch_size": rows}, outlook=False).peak

        base = _yaml_as_dict(EXAMPLE)
        alone = [ask(rows) for rows in (1, 2, 3, 4)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertEqual(list(pool.map(ask, [1, 2, 3, 4] * 4)), alone * 4)

    def test_the_interpreter_runs_on_meanwhile(self):
        ticks = []
        stop = threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(time.perf_counter())
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        begin = time.perf_counter()
        oomplan.sweep(EXAMPLE, "micro_batch_size=1..16", "rtx-4090")
        end = time.perf_counter()
        stop.set()
        thread.join()
        self.assertGreater(sum(begin < one < end for one in ticks), 3)

    def test_nothing_is_written_and_no_process_is_made(self):
        script = f"""if True:
            import os, oomplan
            before = os.getpid()
            oomplan.gate({EXAMPLES[:3]!r}, gpu="rtx-4090")
            oomplan.estimate({EXAMPLE!r}, "rtx-4090").text
            try: os.waitpid(-1, os.WNOHANG)
            except ChildProcessError: print("no child", os.getpid() == before)"""
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.stdout, done.stderr), ("no child True\n", ""))

    def test_import_needs_nothing(self):
        script = "import sys; before = set(sys.modules); import oomplan; print(*sorted(set(sys.modules) - before))"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        names = [name for name in done.stdout.split() if name.partition(".")[0] not in ("importlib", "warnings")]
        self.assertEqual(names, ["oomplan"], done.stderr)
        heavy = "import oomplan, sys; oomplan.estimate('gpt2', length=64); print([one for one in ('torch', 'numpy', 'pandas', 'pyarrow', 'transformers') if one in sys.modules])"
        done = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout.strip(), "[]", done.stderr)

    def test_every_name_is_there(self):
        for name in oomplan.__all__:
            self.assertIsNotNone(getattr(oomplan, name))
        with self.assertRaises(AttributeError):
            oomplan.nothing_of_this_name

    def test_excepthook(self):
        script = f"""if True:
            import oomplan
            oomplan.install_excepthook(); oomplan.install_excepthook()
            class OutOfMemoryError(RuntimeError): pass
            OutOfMemoryError.__module__ = "torch"
            raise OutOfMemoryError({OUT_OF_MEMORY!r})"""
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Traceback", done.stderr)
        self.assertEqual(done.stderr.count("\noomplan: vram_exhausted"), 1, done.stderr)


def _yaml_as_dict(path):
    """A flat config, for which these tests need no reader of YAML."""
    out = {}
    for line in pathlib.Path(path).read_text().splitlines():
        key, colon, value = line.partition(":")
        value = value.split(" #")[0].strip()
        if colon and value and not line.startswith((" ", "#", "-")):
            try:
                out[key] = json.loads(value)
            except ValueError:
                out[key] = value
    return out


if __name__ == "__main__":
    unittest.main()
