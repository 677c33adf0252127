#!/usr/bin/env python3
"""The documentation site in a headless browser, from file: the search finds an error by its text, a telephone shows every page whole in
both themes, and nothing is asked of a network. After `ci/deps browser site`; exit status 1 with a reason without them.
CUDNN_CI_SCREENSHOTS names a folder for pictures."""
import base64
import functools
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    print("no selenium here: ci/deps browser")
    sys.exit(1)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "ci"))

from documentation import findings_pages  # noqa: E402: found by the line above


# What a user pastes, and the row that is to be the first hit of errors.html.
MESSAGES = [
    ("libcudart.so.12: cannot open shared object file: No such file or directory", "libcudart.so.13"),
    ("ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory", "libcudnn.so.9"),
    ("libcudnn_graph.so.9:", "libcudnn_graph.so.9"),
    ("Failed to initialize NVML: Driver/library version mismatch", "Driver/library version mismatch"),
    ("RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED", "CUDNN_STATUS_NOT_INITIALIZED"),
    ("CUDA error: no kernel image is available for execution on the device", "no kernel image is available"),
    ("Error 803: system has unsupported display driver / cuda driver combination", "803"),
    ("error: ^file +too ~short: [x", "file too short"),
    ("undefined symbol: ncclCommWindowRegister", "symbol of NCCL"),
    ("libtorch_cuda.so: undefined symbol: ncclGroupSimulateEnd", "symbol of NCCL"),
]
# What a user looks for, and the page that is to be the first hit.
TOPICS = [("exit code", "index"), ("pytest", "python-and-ctest"), ("github actions", "pipelines"), ("kubernetes", "pipelines"),
          ("podman", "images"), ("cudnn-missing", "findings"),
          ("library-shadowed", "findings"), ("known-fault", "findings")]
# Too general to have a row of their own, or in two rows.
NOT_FIRST = {"libcuda.so.1", "libcudnn_*.so.9", "No such file or directory", "CUDA Version: N/A", "libcudart.so.12: cannot open shared object file",
             "libcuda.so.1: cannot open shared object file", "libcuda.so.1: cannot open shared object file: No such file or directory", "libnccl.so.2",
             "CUDA error: an illegal memory access was encountered", "timed out", "CUDNN_STATUS_INTERNAL_ERROR",
             "RuntimeError: cuDNN error: CUDNN_STATUS_INTERNAL_ERROR"}
TOO_WIDE = """
  const out = [];
  for (const e of document.querySelectorAll("main *, header *")) {
    const box = e.getBoundingClientRect();
    if (box.width > 0 && box.right > innerWidth + 1 && !e.closest("pre, .highlight, .md-typeset__scrollwrap, .md-sidebar, .md-search, nav, .cci-drawing"))
      out.push([e.tagName, e.className, e.textContent.slice(0, 40), box.right]);
  }
  return [document.documentElement.scrollWidth, out.slice(0, 3)];"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.site = pathlib.Path(folder.name) / "site"
        subprocess.run([sys.executable, "-B", ROOT / "ci/site", "--out", cls.site], check=True, stdout=subprocess.DEVNULL)
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        cls.browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        cls.addClassCleanup(cls.browser.quit)

    def open(self, page, width=1400, dark=False, height=1000):
        run = self.browser.execute_cdp_cmd
        run("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        run("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.browser.get(f"file://{self.site}/{page}")

    def picture(self, name):
        folder = os.environ.get("CUDNN_CI_SCREENSHOTS")
        if folder:
            data = self.browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
            (pathlib.Path(folder) / f"{name}.png").write_bytes(base64.b64decode(data))

    def hits(self, words):
        """The links of the search's results, best first: [(address, text)]."""
        field = self.browser.find_element("css selector", "input[name=query]")
        self.browser.execute_script("document.querySelector('label[for=__search]').click()")
        time.sleep(0.5)
        field.send_keys(words)
        time.sleep(0.3)
        WebDriverWait(self.browser, 20).until(lambda b: "Type to start" not in b.find_element("css selector", ".md-search-result__meta").text and
                                              b.find_elements("css selector", ".md-search-result__link"))
        time.sleep(0.5)
        return self.browser.execute_script("return [...document.querySelectorAll('.md-search-result__link')].map(a => [a.getAttribute('href'), a.textContent])")

    def test_an_error_is_found_by_its_text(self):
        for words, row in MESSAGES:
            self.open("index.html")
            found = [text for address, text in self.hits(words) if "/errors.html" in address and "#row-" in address]
            with self.subTest(words=words):
                self.assertTrue(found)
                self.assertIn(row, found[0])

    def first_row(self, words):
        """The address of the best hit that is a row of a table; the field of the search is open."""
        self.browser.execute_script("const f = document.querySelector('input[name=query]'); f.value = arguments[0]; "
                                    "f.dispatchEvent(new Event('input', {bubbles: true})); f.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}))", words)
        before = None
        for _ in range(80):
            time.sleep(0.12)
            now = self.browser.execute_script("return [...document.querySelectorAll('.md-search-result__link')].map(a => a.getAttribute('href'))")
            if now and now == before:
                break
            before = now
        return next((address for address in now if "#row-" in address), "")

    def test_every_message_of_the_page_of_errors_is_found_as_programs_print_it(self):
        self.open("index.html")
        self.hits("error")
        text = findings_pages.page_of_errors(findings_pages.read(ROOT)).partition("## No message at all")[0]
        count = 0
        for line in text.splitlines():
            cell = line.split(" | ")[0].removeprefix("| ")
            if not line.startswith("| ") or cell == "message":
                continue
            row = re.sub(r"[^a-z0-9]+", "-", cell.replace("`", "").lower()).strip("-")[:60].strip("-")
            for message in re.findall(r"`([^`]{9,})`", cell):
                before = "RuntimeError: cuDNN error: " if "CUDNN_STATUS" in message else "CUDA error: " if re.match(r"\d+: ", cell) else ""
                for words in {message, before + message} - NOT_FIRST:
                    count += 1
                    with self.subTest(words=words):
                        self.assertRegex(self.first_row(words), rf"/errors\.html.*#row-{re.escape(row)}(-\d+)?$")
        self.assertGreater(count, 180)

    def test_the_first_page_shows_the_cure_of_a_pasted_text(self):
        for row in json.loads((ROOT / "tests/fixtures/error_texts.json").read_text(encoding="utf-8")):
            self.open("index.html")
            self.browser.find_element("id", "cci-text").send_keys(row["text"])
            hits = self.browser.find_elements("css selector", "#cci-results li")
            with self.subTest(text=row["text"]):
                self.assertIn(row["says"], hits[0].text)
                self.assertIn(row["finding"], hits[0].text)
            # The first hit of the theme's search is the same row.
            with self.subTest(searched=row["text"]):
                address, text = self.hits(row["text"])[0]
                self.assertIn("/errors.html#row-", address)
                self.assertIn(row["says"], text)

    def test_the_examples_of_the_first_page_lead_to_a_cure(self):
        for page in ("index.html", "errors.html"):
            self.open(page, 390, height=844)
            for example in self.browser.find_elements("css selector", ".cci-example"):
                self.browser.execute_script("arguments[0].click()", example)
                with self.subTest(page=page, example=example.text):
                    self.assertTrue(self.browser.find_elements("css selector", "#cci-results .cci-cure"))
                    self.assertEqual(self.browser.execute_script(TOO_WIDE), [390, []])
            field = self.browser.find_element("id", "cci-text")
            field.clear()
            field.send_keys("<img src=x onerror=alert(1)> cannot")
            self.assertFalse(self.browser.find_elements("css selector", "#cci-results img"))

    def test_a_topic_is_found(self):
        for words, page in TOPICS:
            self.open("index.html")
            with self.subTest(words=words):
                self.assertIn(f"/{page}.html", self.hits(words)[0][0])

    def test_the_search_works_on_a_server_too(self):
        handler = functools.partial(QuietHandler, directory=self.site)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.browser.get(f"http://127.0.0.1:{server.server_port}/index.html")
            found = [text for address, text in self.hits(MESSAGES[0][0]) if "/errors.html" in address and "#row-" in address]
            self.assertIn(MESSAGES[0][1], found[0])
            server.shutdown()

    def test_a_hit_leads_to_its_row(self):
        self.open("index.html")
        hits = self.hits("libcudnn_graph.so.9: cannot open shared object file")
        self.browser.get(next(address for address, _ in hits if "#row-" in address))
        shown = self.browser.execute_script("const e = document.querySelector('tr:target'); const b = e.getBoundingClientRect(); "
                                            "return [e.textContent, b.top >= 0 && b.bottom <= innerHeight]")
        self.assertIn("libcudnn_graph.so.9", shown[0])
        self.assertTrue(shown[1])

    def test_every_page_fits_a_telephone_in_both_themes(self):
        pages = sorted(path.relative_to(self.site).as_posix() for path in self.site.rglob("*.html"))
        self.assertGreater(len(pages), 35)
        for page in pages:
            for dark in (False, True):
                self.open(page, 390, dark, 844)
                width, wide = self.browser.execute_script(TOO_WIDE)
                with self.subTest(page=page, dark=dark):
                    self.assertEqual((width, wide), (390, []))
                scheme = self.browser.execute_script("return getComputedStyle(document.body).backgroundColor")
                light = sum(map(int, scheme.strip("rgba()").split(",")[:3])) > 384
                self.assertEqual(light, not dark)

    def test_the_keys_of_the_menu_lead_on_a_telephone(self):
        self.open("index.html", 390, height=844)
        self.browser.find_element("css selector", "label[for=__drawer].md-header__button").click()
        time.sleep(0.5)
        names = self.browser.execute_script("return [...document.querySelectorAll('.md-nav--primary > .md-nav__list > .md-nav__item')].map(e => e.innerText.trim().split('\\n')[0])")
        for name in ("User guide", "Reference", "Design"):
            self.assertIn(name, names)
        self.picture("menu")

    @classmethod
    def tearDownClass(cls):
        asked = []
        for entry in cls.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        wrong = [url for url in asked if not url.startswith(("file:", "data:", "about:", "chrome:", "http://127.0.0.1:"))]
        assert len(asked) > 20 and not wrong, (len(asked), wrong[:5])
        severe = [entry["message"] for entry in cls.browser.get_log("browser") if entry["level"] == "SEVERE"]
        assert not severe, severe[:5]


if __name__ == "__main__":
    unittest.main()
