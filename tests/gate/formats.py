#!/usr/bin/env python3
"""What machines read of `oomplan gate`: SARIF and JUnit by their shape, action.yml and the pre-commit hook by running them.

    tests/gate/formats.py --program build/dev/oomplan

Names and messages come from hostile files, so some of the configs are called what no parser likes.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/cases"))
import schema  # noqa: E402

FITS = "model: openai-community/gpt2\nmicro_batch_size: 1\nsequence_length: 256\nweights_dtype: fp32\n"
TOO_LARGE = FITS.replace(": 1\n", ": 64\n")
CONFIGS = {"fits.yml": FITS, "too_large.yml": TOO_LARGE, "broken.yml": "a: [", "unknown.yml": FITS.replace("gpt2", "gpt0"),
           "allowed.yml": FITS.replace("gpt2", "gpt1"), 'a "quote" & <tag> %0A ü,:.yml': TOO_LARGE,
           "lf\nfile.yml": TOO_LARGE}
POLICY = "gpus: [8GiB]\nallow_undecided: allowed.yml\n"
# Endings that a fix has to keep, and texts that it may not reach past.
ENDINGS = {"unix.yml": TOO_LARGE, "dos.yml": TOO_LARGE.replace("\n", "\r\n"), "no_end.yml": TOO_LARGE.rstrip("\n"),
           "wide.yml": "# 🦙 ü\n" + TOO_LARGE.rstrip("\n") + "  # 🦙", "one_line.yml": "{" + ", ".join(TOO_LARGE.split("\n")[:-1]) + "}",
           "extends.yml": "extends: unix.yml\n", "fits.yml": FITS}
program = None


def offset(text, line, column):
    """Of a place as SARIF counts: lines from 1, columns from 1 in UTF-16."""
    lines = text.splitlines(keepends=True)
    assert line <= max(len(lines), 1), (line, text)
    at = lines[line - 1] if lines else ""
    assert column <= len(at.encode("utf-16-le")) // 2 + 1, (column, at)
    return sum(map(len, lines[:line - 1])) + len(at.encode("utf-16-le")[:2 * (column - 1)].decode("utf-16-le"))


def with_fix(text, fix):
    [change] = fix["artifactChanges"]
    for one in reversed(change["replacements"]):
        region = one["deletedRegion"]
        begin = offset(text, region["startLine"], region["startColumn"])
        end = offset(text, region["endLine"], region["endColumn"])
        text = text[:begin] + one["insertedContent"]["text"] + text[end:]
    return text


def gib(count):
    return f"{count / 2**30:.2f} GiB"


def run(folder, *arguments, **environment):
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=100,
                          env={**os.environ, **environment})


class Formats(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = Path(self.temporary.name)
        for name, text in CONFIGS.items():
            (self.folder / name).write_text(text)
        (self.folder / "oomplan-policy.yaml").write_text(POLICY)

    def gate(self, form, *configs):
        done = run(self.folder, program, "gate", "--policy", "oomplan-policy.yaml", "--format", form, *(configs or ["*.yml"]))
        return done.stdout

    def judged(self):
        return {row["config"]: row for row in json.loads(self.gate("json"))["configs"]}

    def sarif(self, *configs):
        answer = json.loads(self.gate("sarif", *configs))
        wanted = json.loads((ROOT / "tests/gate/sarif.schema.json").read_text())
        self.assertEqual(schema.violations(answer, wanted), [])
        return answer["runs"][0]

    def test_sarif_has_the_standards_shape(self):
        answer = self.sarif()
        rules = [rule["id"] for rule in answer["tool"]["driver"]["rules"]]
        for result in answer["results"]:
            self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])
            uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            self.assertRegex(uri, r"^(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+$")
        self.assertEqual(len(answer["results"]), len(CONFIGS) - 1)
        self.assertTrue(answer["invocations"][0]["executionSuccessful"])

    def test_sarif_without_an_answer_has_the_reason(self):
        invocation = self.sarif("nowhere*.yml")["invocations"][0]
        self.assertFalse(invocation["executionSuccessful"])
        self.assertEqual(invocation["toolConfigurationNotifications"][0]["descriptor"]["id"], "read/no-match")

    def test_sarif_says_what_json_says(self):
        judged = self.judged()
        for result in self.sarif()["results"]:
            row = judged[result["partialFingerprints"]["oomplan/config"]]
            self.assertEqual(result["ruleId"], "gate/" + row["verdict"].replace("_", "-"))
            region = result["locations"][0]["physicalLocation"]["region"]
            self.assertEqual(region["startLine"], row["where"]["line"] or 1)

    def test_sarif_has_the_patch_of_what_does_not_fit(self):
        for name, text in ENDINGS.items():
            (self.folder / name).write_bytes(text.encode())
        answer = self.sarif(*ENDINGS)
        fixes = {one["partialFingerprints"]["oomplan/config"]: one.get("fixes", []) for one in answer["results"]}
        self.assertEqual(set(fixes), set(ENDINGS) - {"fits.yml"})
        for name, found in fixes.items():
            self.assertEqual(len(found), 1, name)
            self.assertEqual(found[0]["artifactChanges"][0]["artifactLocation"]["uri"], name)
            self.assertIn("then it needs", found[0]["description"]["text"])
            text = with_fix(ENDINGS[name], found[0])
            self.assertNotRegex(text.replace("\r\n", "") if name == "dos.yml" else text.replace("\n", ""), r"[\r\n]", name)
            (self.folder / name).write_bytes(text.encode())
        self.assertEqual({self.judged_of(name) for name in fixes}, {"fits"})

    def judged_of(self, config):
        return json.loads(self.gate("json", config))["configs"][0]["verdict"]

    def test_junit_is_one_suite_with_a_case_a_config(self):
        root = xml.fromstring(self.gate("junit"))
        self.assertEqual((root.tag, [suite.tag for suite in root]), ("testsuites", ["testsuite"]))
        suite = root[0]
        found = {kind: sum(case.find(kind) is not None for case in suite) for kind in ("failure", "error", "skipped")}
        self.assertEqual({kind: int(suite.get(kind + "s", suite.get(kind))) for kind in found}, found)
        self.assertEqual(int(suite.get("tests")), len(CONFIGS))
        self.assertEqual(found, {"failure": 3, "error": 2, "skipped": 1})
        for case in suite:
            self.assertEqual(set(case.attrib), {"classname", "name"})
            self.assertLessEqual({child.tag for child in case}, {"failure", "error", "skipped", "system-out"})

    def test_every_format_has_the_same_figures(self):
        rows = [row for row in json.loads(self.gate("json", "fits.yml", "too_large.yml"))["configs"]]
        for form in ("text", "markdown", "junit", "sarif", "github", "html"):
            told = " ".join(self.gate(form, "fits.yml", "too_large.yml").split())
            for row in rows:
                if form in ("junit", "sarif", "github") and row["verdict"] == "fits":
                    continue  # these speak of what fails
                for key in ("needed", "limit"):
                    self.assertIn(gib(row["checks"][0][key]), told, (form, row["config"]))

    def test_annotations_are_one_line_each(self):
        lines = self.gate("github").splitlines()
        self.assertEqual(len(lines), len(CONFIGS))
        for line in lines[:-1]:
            self.assertRegex(line, r"^::(error|warning) file=[^,:]+,line=\d+,title=[^,:]+::\S")

    def actions_steps(self):
        """The scripts of action.yml."""
        steps = re.findall(r"      run: \|\n((?:        .*\n|\n)+)", (ROOT / "action.yml").read_text())
        self.assertEqual(len(steps), 2)
        for step in steps:
            self.assertNotIn("${{", step, "an input inside the script is an injection")
        return [re.sub(r"(?m)^        ", "", step) for step in steps]

    def installed_by_the_action(self, wheel):
        """What the action's first step leaves of a package that is called oomplan; nothing is fetched or built."""
        place = self.folder / "place"
        shutil.rmtree(place, ignore_errors=True)
        done = run(self.folder, "bash", "-e", "-o", "pipefail", "-c", self.actions_steps()[0], PYTHON=sys.executable, PLACE=str(place),
                   SOURCE=str(self.folder / "nowhere"), WHEEL=wheel, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(self.folder / "index"))
        said = run(self.folder, place / "bin/python", "-c", "import oomplan; print(oomplan.who)").stdout.strip()
        return done.returncode, said

    def test_the_action_installs_a_wheel(self):
        for where, version, who in (("index", "1.2", "of the index"), ("wheels here", "1.3", "of a path")):
            (self.folder / where).mkdir()
            with zipfile.ZipFile(self.folder / where / f"oomplan-{version}-py3-none-any.whl", "w") as wheel:
                wheel.writestr("oomplan.py", f"who = {who!r}")
                about = f"oomplan-{version}.dist-info"
                wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: oomplan\nVersion: {version}\n")
                wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
                wheel.writestr(f"{about}/RECORD", "")
        path = "wheels here/oomplan-1.3-py3-none-any.whl"
        self.assertEqual(self.installed_by_the_action("1.2"), (0, "of the index"))
        self.assertEqual(self.installed_by_the_action(path), (0, "of a path"))
        self.assertEqual(self.installed_by_the_action((self.folder / path).as_uri()), (0, "of a path"))
        for wrong in ("1.9", "$(touch hacked).whl"):
            code, who = self.installed_by_the_action(wrong)
            self.assertNotEqual(code, 0, wrong)
            self.assertEqual(who, "", wrong)
        self.assertFalse((self.folder / "hacked").exists())

    def test_the_actions_step_runs_as_written(self):
        script = self.actions_steps()[1]
        inputs = {"CONFIGS": "fits.yml\ntoo_large.yml\n$(touch hacked).yml\n", "POLICY": "oomplan-policy.yaml", "GPUS": "",
                  "BASELINE": "", "SARIF": "out.sarif", "JUNIT": "out.xml", "GITHUB_STEP_SUMMARY": "summary.md",
                  "OOMPLAN": str(program)}
        done = run(self.folder, "bash", "-e", "-o", "pipefail", "-c", script, **inputs)
        self.assertEqual(done.returncode, 3, done.stderr)  # one of the configs is not there
        self.assertIn("::error file=too_large.yml,line=", done.stdout)
        self.assertFalse((self.folder / "hacked").exists())
        for name in ("out.sarif", "out.xml", "summary.md"):
            self.assertTrue((self.folder / name).stat().st_size > 0)
        done = run(self.folder, "bash", "-e", "-c", script,
                   **{**inputs, "CONFIGS": "fits.yml", "POLICY": "", "GPUS": "24GiB\n8GiB", "SARIF": "", "JUNIT": ""})
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_hook_runs_as_written(self):
        text = (ROOT / ".pre-commit-hooks.yaml").read_text()
        entry = re.search(r"entry: (.*)", text).group(1).split()
        arguments = re.search(r"args: \[(.*)\]", text).group(1).split(", ")
        self.assertTrue(os.access(ROOT / entry[0], os.X_OK))
        for name, code in (("fits.yml", 0), ("too_large.yml", 1)):
            done = run(self.folder, program, *entry[1:], *arguments, name)
            self.assertEqual(done.returncode, code, done.stderr)
        files = re.compile(re.search(r"files: (.*)", text).group(1))
        self.assertTrue(files.search("configs/7b/sft.yaml"))
        for other in ("src/configs.py", "configs/deepspeed/zero3.json"):
            self.assertIsNone(files.search(other))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True)
    options, rest = parser.parse_known_args()
    program = options.program.resolve()
    unittest.main(argv=sys.argv[:1] + rest)
