"""A headless Chromium, by its DevTools protocol over a pipe: real clicks, keys, drops and pictures."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


class Browser:
    def __init__(self, width=1280, height=900):
        self.profile = tempfile.TemporaryDirectory()
        to_browser, self.to = os.pipe()
        self.back, from_browser = os.pipe()

        def ends():  # what Chromium reads commands from is 3, and what it answers to is 4
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=ends, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.count, self.buffer, self.events, self.session = 0, b"", [], None
        target = next(one for one in self.send("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM", "Network", "Accessibility"):
            self.send(f"{domain}.enable")
        self.send("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)
        self.resize(width, height)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.profile.name, ignore_errors=True)

    def send(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def receive(self):
        while b"\0" not in self.buffer:
            got = os.read(self.back, 1 << 20)
            if not got:
                raise RuntimeError("the browser ended")
            self.buffer += got
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def open(self, url):
        self.send("Page.navigate", url="about:blank")
        self.events = []
        self.send("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")
        # What is clicked or dropped before the first picture is lost.
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def value(self, expression):
        got = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(f"{expression}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def framed(self, expression):
        """The same within the page's frame, which Chromium keeps in a process of its own; None before it is there."""
        page = self.session
        self.send("Target.getTargets")  # What happened before it is known then.
        attached = [event["params"]["sessionId"] for event in self.events if event.get("method") == "Target.attachedToTarget"
                    and event["params"]["targetInfo"]["type"] == "iframe"]
        gone = [event["params"]["sessionId"] for event in self.events if event.get("method") == "Target.detachedFromTarget"]
        attached = [session for session in attached if session not in gone]
        try:
            self.session = attached[-1] if attached else None
            return self.value(expression) if attached else None
        finally:
            self.session = page

    def wait(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > end:
                raise TimeoutError(expression)
            time.sleep(0.02)

    def middle(self, selector):
        return self.value(f"(() => {{ const one = document.querySelector({json.dumps(selector)}); one.scrollIntoView({{block: 'center'}});"
                          "const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()")

    def click(self, selector):
        x, y = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def key(self, name, code=0, modifiers=0, text=""):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code, modifiers=modifiers,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def drop_until(self, taken, selector, *files):
        """Drops until the page has taken what is dropped: a drop that comes before its first picture is lost."""
        for _ in range(10):
            self.drop(selector, *files)
            time.sleep(0.5)
            if self.value(taken):
                return
        raise TimeoutError(taken)

    def drop(self, selector, *files):
        x, y = self.middle(selector)
        data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.send("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def resize(self, width, height, dark=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path):
        got = self.send("Page.captureScreenshot", captureBeyondViewport=False)
        Path(path).write_bytes(base64.b64decode(got["data"]))

    def complaints(self):
        """Errors of scripts, refusals of the policy, and whatever was asked of a network."""
        out = []
        for event in self.events:
            what = event.get("params", {})
            if event.get("method") == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
                out.append(what["entry"]["text"])
            if event.get("method") == "Runtime.exceptionThrown":
                out.append(str(what["exceptionDetails"]))
            if event.get("method") == "Network.requestWillBeSent" and not what["request"]["url"].startswith(("file:", "data:", "blob:", "about:")):
                out.append("asked for " + what["request"]["url"])
        return out
