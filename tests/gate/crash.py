#!/usr/bin/env python3
"""A gate answers for all other configs where one of them ends its process by a signal.

crash.py --program build/release/oomplan --library build/release/.../libcrash.so
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

CONFIG = "model: Qwen/Qwen2.5-0.5B\nsequence_length: 128\nmicro_batch_size: {}\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--library", required=True)
    options = parser.parse_args()
    program, library = (str(pathlib.Path(path).resolve()) for path in (options.program, options.library))
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        for i in range(12):
            (at / f"{i:02}.yaml").write_text(CONFIG.format(1 + i))
        (at / "crash.yaml").write_text(CONFIG.format(1))
        names = sorted(path.name for path in at.glob("*.yaml"))
        done = subprocess.run([program, "gate", *names, "--gpu", "rtx-4090", "--format", "json", "--output",
                               "sarif=out.sarif"], cwd=at, env={**os.environ, "LD_PRELOAD": library},
                              capture_output=True, text=True)
        assert done.returncode == 5, (done.returncode, done.stderr)
        verdicts = {one["config"]: one["verdict"] for one in json.loads(done.stdout)["configs"]}
        assert sorted(verdicts) == names, verdicts
        assert verdicts.pop("crash.yaml") == "invalid", verdicts
        assert set(verdicts.values()) == {"fits"}, verdicts
        results = json.loads((at / "out.sarif").read_text())["runs"][0]["results"]
        said = [one["message"]["text"] for one in results if "crash.yaml" in json.dumps(one["locations"])]
        assert any("ended by a signal: Segmentation fault" in text for text in said), results
    print("12 verdicts beside one that ended its process")


if __name__ == "__main__":
    main()
