"""Packs a page into one HTML file: pack.py BUILD VERSION OUT.

Its policy lets two scripts run, by their hashes: its own, and the one that is in every report, which the program itself
is asked for.
"""

import base64
import gzip
import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CONFIG = "model: openai-community/gpt2\nsequence_length: 1024\nmicro_batch_size: 1\n"
MOST = 3_000_000  # bytes, compressed


def report_script(build):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.yaml").write_text(CONFIG)
        words = ["node", HERE / "oomplan.cjs", build, "estimate", "train.yaml", "--html", "report.html"]
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return re.findall(r"<script>(.*?)</script>", (Path(folder) / "report.html").read_text(), re.DOTALL)[-1]


def hash_of(script):
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"


def element(text):
    """Text within a script element, which nothing in it may end."""
    if re.search(r"</script|<!--", text, re.IGNORECASE):
        sys.exit("a script has what ends a script element")
    return text


def policy(script, build):
    return (f"default-src 'none'; script-src {hash_of(script)} {hash_of(report_script(build))} 'wasm-unsafe-eval'; "
            "worker-src blob:; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'")


def main():
    build, version, out = Path(sys.argv[1]).resolve(), sys.argv[2], Path(sys.argv[3])
    script = "\n" + element((HERE / "page.js").read_text())
    parts = {
        "POLICY": policy(script, build),
        "STYLE": (ROOT / "src/report/html/page.css").read_text() + (HERE / "page.css").read_text(),
        "VERSION": version,
        "UNPACKER": base64.b64encode((build / "oomplan_unpacker.wasm").read_bytes()).decode(),
        "PROGRAM": base64.b64encode((build / "oomplan_page.wasm.zst").read_bytes()).decode(),
        "WORKER": element((build / "oomplan_page.js").read_text() + (HERE / "worker.js").read_text()),
        "SCRIPT": script,
    }
    page = re.sub("@([A-Z]+)@", lambda found: parts[found[1]], (HERE / "index.html").read_text())
    out.write_text(page)
    packed = len(gzip.compress(page.encode(), 9))
    print(f"{out}: {len(page.encode()):,} bytes, {packed:,} compressed")
    if packed > MOST:
        sys.exit(f"more than {MOST:,}")


if __name__ == "__main__":
    main()
