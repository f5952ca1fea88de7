"""Renders components/ and acrue/ with a headless Chromium; called by render.sh.

The browser is driven over its debugging pipe rather than with --screenshot,
because a headless window cannot be made narrower than 500 pixels.
Python's standard library is all this needs.
"""
import base64
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--force-device-scale-factor=1", "--force-color-profile=srgb",
    "--disable-lcd-text", "--allow-file-access-from-files", "--remote-debugging-pipe",
]
ACRUE_SIZE = (512, 384)
JPEG_QUALITY = 88


class Browser:
    """A Chromium with one page, spoken to in the DevTools protocol."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="golden-render-")
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()

        def place_pipes():  # Chromium reads from descriptor 3 and writes to descriptor 4
            reading, writing = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (to_read, back_write))
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={self.profile}"], preexec_fn=place_pipes,
            close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(back_write)
        self.number, self.buffer, self.session = 0, b"", None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def message(self):
        while b"\0" not in self.buffer:
            part = os.read(self.back, 1 << 16)
            if not part:
                sys.exit("render.py: Chromium ended early; does it run with --headless here?")
            self.buffer += part
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"render.py: {method}: {answer['error']['message']}")
                return answer["result"]

    def shoot(self, page, size, target):
        width, height = size
        self.call("Emulation.setDeviceMetricsOverride",
                  width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=page.as_uri())
        while self.message().get("method") != "Page.loadEventFired":
            pass
        kind = {"format": "png"} if target.suffix == ".png" else {"format": "jpeg", "quality": JPEG_QUALITY}
        data = base64.b64decode(self.call("Page.captureScreenshot", **kind)["data"])
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(data)
        print(f"wrote {target.relative_to(HERE)}  {width}x{height}  {len(data):,} bytes")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        finally:
            self.process.wait(timeout=30)
            shutil.rmtree(self.profile, ignore_errors=True)


def size_of(page):
    found = re.search(r'name="viewport" content="width=(\d+), height=(\d+)"', page.read_text())
    if not found:
        sys.exit(f'render.py: {page.relative_to(HERE)} has no <meta name="viewport" content="width=…, height=…">')
    return int(found[1]), int(found[2])


def items(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def update_digests(manifest):
    rows = items(manifest)
    changed = 0
    for row in rows:
        digest = hashlib.sha256((manifest.parent / row["screenshot"]).read_bytes()).hexdigest()
        changed += row["sha256"] != digest
        row["sha256"] = digest
    if changed:
        manifest.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    print(f"{manifest.relative_to(HERE)}: {len(rows)} digests checked, {changed} updated")


def main():
    program, *only = sys.argv[1:]

    def wanted(name):
        return not only or name in only

    pairs = items(HERE / "acrue/manifest.jsonl")
    known = {page.stem for page in (*HERE.glob("components/*.html"), *HERE.glob("acrue/scenes/*.svg"))}
    unknown = set(only) - known - {pair["id"] for pair in pairs}
    if unknown:
        sys.exit(f"render.py: nothing here is called {', '.join(sorted(unknown))}")

    browser = Browser(program)
    try:
        for page in sorted((HERE / "components").glob("*.html")):
            if wanted(page.stem):
                browser.shoot(page, size_of(page), HERE / "shots" / f"{page.stem}.png")
        for scene in sorted((HERE / "acrue/scenes").glob("*.svg")):
            if wanted(scene.stem):
                browser.shoot(scene, ACRUE_SIZE, HERE / "acrue/in" / f"{scene.stem}.jpg")
        for pair in pairs:
            restyled = HERE / "acrue" / pair["restyled"]
            page = HERE / "acrue/styles" / f"{pair['id']}.html"
            if not wanted(pair["id"]):
                continue
            if page.exists():
                browser.shoot(page, ACRUE_SIZE, restyled)
            else:  # the pair whose restyling did nothing
                shutil.copyfile(HERE / "acrue" / pair["original"], restyled)
                print(f"wrote {restyled.relative_to(HERE)}  a copy of {pair['original']}")
    finally:
        browser.close()
    update_digests(HERE / "manifest.jsonl")


main()
