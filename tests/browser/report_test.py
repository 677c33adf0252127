#!/usr/bin/env python3
"""report.html and images.html in a headless browser: what they show, that they filter and sort, open with the keyboard or an
address, copy commands, fit a telephone in both themes, can be read without colours, and that nothing of a run's texts runs. `report_test.py HTML_SAMPLE`; CUDNN_CI_SCREENSHOTS names a folder for pictures.
Exit status 1 with a reason where there is no browser."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

try:
    from selenium import webdriver
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.support.ui import Select
except ImportError:
    print("no selenium here: ci/deps browser")
    sys.exit(1)

SAMPLE = sys.argv.pop(1)


# Of what is shown: what is wider than the screen (390) outside of a box that scrolls, as [tag, class, right edge].
TOO_WIDE = """
  const out = [];
  for (const e of document.querySelectorAll("body *")) {
    const box = e.getBoundingClientRect();
    if (box.width > 0 && box.right > innerWidth + 0.5 && !e.closest(".scroll")) out.push([e.tagName, e.className, box.right]);
    if (e.closest(".verdict") && !e.closest(".scroll") && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && !(e instanceof SVGElement))
      out.push([e.tagName, e.className, "cut"]);
  }
  return out.slice(0, 5);"""
# The contrast of two colours as getComputedStyle has them (WCAG 2).
CONTRAST = """
  const light = (text) => { const [r, g, b] = text.match(/[\\d.]+/g).map((x) => { x /= 255; return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)]; return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
  const style = (e) => getComputedStyle(e);
"""


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1300,900"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        cls.browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.folder.cleanup()

    def show(self, kind, cases, address=""):
        """Opens the report of a made-up run; nothing may be asked of a network or complained about."""
        path = pathlib.Path(self.folder.name, f"{kind}-{cases}.html")
        subprocess.run([SAMPLE, kind, str(cases), str(path)], check=True)
        self.browser.get_log("browser"), self.browser.get_log("performance")
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.browser.set_window_size(1300, 900)
        self.browser.get("about:blank")
        self.browser.get(path.as_uri() + address)
        self.assertEqual(self.browser.get_log("browser"), [], "console")
        asked = [e["message"] for e in self.browser.get_log("performance") if '"Network.requestWillBeSent"' in e["message"]]
        self.assertEqual([a for a in asked if path.as_uri() not in a], [], "requests")

    def find(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector).text

    def picture(self, name):
        if folder := os.environ.get("CUDNN_CI_SCREENSHOTS"):
            self.browser.save_screenshot(str(pathlib.Path(folder, name + ".png")))

    def narrow(self, theme, width=390):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": True})
        self.theme(theme)

    def theme(self, name):
        self.browser.execute_script("document.documentElement.dataset.theme = arguments[0]", name)

    def nothing_is_cut(self):
        self.assertLessEqual(self.browser.execute_script("return document.scrollingElement.scrollWidth"), 390)
        self.assertEqual(self.browser.execute_script(TOO_WIDE), [])

    def keys(self, *keys):
        for key in keys:
            ActionChains(self.browser).send_keys(key).perform()


class Report(Page):
    def test_shows_the_verdict_the_pictures_and_the_cases(self):
        self.show("red", 300)
        self.picture("red")
        self.assertEqual(self.text("h1"), "FAILED: the image is at fault")
        for words in ("image.wrong-value", "the owner of the image", "docker run"):
            self.assertIn(words, self.text(".verdict"))
        titles = [e.text for e in self.find("h2")]
        self.assertEqual(titles, ["Tested", "Map", "Workers", "Cases", "What the findings mean"])
        self.assertEqual(len(self.find("section > .scroll svg:not(.heads)")), 2)
        self.assertIn("no subject uses cuDNN", self.text(".chain"))
        self.assertEqual(self.text(".bar [role=status]"), "300 of 300 cases")
        self.assertEqual(len(self.find("#app tbody tr")), 400, "200 cases at a time, with a closed row each")
        self.browser.execute_script("document.querySelector('table').scrollIntoView()")
        self.picture("red-cases")

    def test_the_chain_shows_the_link_that_broke_and_leads_to_cases(self):
        self.show("broken-stack", 1)
        self.assertEqual([e.text for e in self.find(".link .title em")], ["\u2713 proven"] * 2 + ["\u2717 root cause", "\u2016 blocked", "\u2016 blocked", "\u2016 blocked"])
        self.assertIn("blocks 18 cases behind it", self.text(".link.root"))
        boxes = [e.rect for e in self.find(".link")]
        self.assertEqual(len({round(box["y"]) for box in boxes[:5]}), 1, "a row")
        self.assertGreater(boxes[5]["y"], boxes[0]["y"] + boxes[0]["height"])
        [check] = self.find('[data-find="gemm.matmul"]')
        check.click()
        self.assertEqual(self.text(".bar [role=status]"), "4 of 27 cases")
        self.show("stack", 1)
        self.find('.proof [data-find="conv.forward dtype=float16"]')[0].click()
        self.assertEqual(self.text(".bar [role=status]"), "1 of 27 cases")
        self.picture("chain")
        for kind in ("stack", "broken-stack"):
            for count in (1, 2, 20):
                self.show(kind, count)
                for theme in ("light", "dark"):
                    self.narrow(theme)
                    self.nothing_is_cut()
                    if (kind, count) == ("stack", 1):
                        self.assertTrue(self.find(".proof td")[0].is_displayed())
                    self.picture(f"chain-{kind}-{count}-{theme}")

    def test_filters_by_words_outcome_and_the_map(self):
        self.show("red", 300)
        search = self.browser.find_element(By.CSS_SELECTOR, "input[type=search]")
        search.send_keys("dtype=float16 stem")
        self.assertEqual(self.text(".bar [role=status]"), "25 of 300 cases")
        search.clear()
        search.send_keys("nowhere")
        self.assertEqual(self.text(".bar [role=status]"), "0 of 300 cases")
        search.clear()
        search.send_keys("i=1")
        self.assertEqual(self.text(".bar [role=status]"), "1 of 300 cases", "i=1 is not i=10")
        search.clear()
        search.send_keys(" ")
        select = self.browser.find_element(By.CSS_SELECTOR, "select[aria-label=outcome]")
        select.send_keys("red")
        self.assertEqual(self.text(".bar [role=status]"), "6 of 300 cases")
        Select(select).select_by_visible_text("all outcomes")
        self.browser.execute_script("document.querySelector('svg rect.f-failed[role]').dispatchEvent(new Event('click'))")
        self.assertEqual(search.get_attribute("value"), "shape=bottleneck dtype=float32")
        # As many as the cell says.
        self.assertEqual(self.text(".bar [role=status]"), "25 of 300 cases")

    def test_opens_a_case_with_the_keyboard(self):
        self.show("red", 300)
        self.browser.find_element(By.TAG_NAME, "body").send_keys("/")
        active = self.browser.switch_to.active_element
        self.assertEqual(active.get_attribute("type"), "search")
        active.send_keys("wrong-value")
        button = self.browser.find_element(By.CSS_SELECTOR, "button.name")
        self.browser.execute_script("arguments[0].focus()", button)
        button.send_keys(Keys.ENTER)
        self.assertEqual(button.get_attribute("aria-expanded"), "true")
        opened = self.text("#app tbody tr:nth-child(2)")
        for words in ("3 elements differ", "Owner: repair it.", "compare", "output", "--case"):
            self.assertIn(words, opened)
        self.picture("opened")
        button.send_keys(Keys.ENTER)
        self.assertEqual(button.get_attribute("aria-expanded"), "false")

    def test_goes_over_the_map_with_the_keyboard(self):
        self.show("red", 300)
        cells = self.find("svg rect[role=button]")
        self.assertEqual([c.get_attribute("tabindex") for c in cells].count("0"), 1, "one stop of the tab key")
        self.browser.execute_script("arguments[0].focus()", cells[0])
        self.keys(Keys.ARROW_UP, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
        active = self.browser.switch_to.active_element
        self.assertIn("bottleneck, float16: 25 cases, worst failed", active.get_attribute("aria-label"))
        self.assertEqual([c.get_attribute("tabindex") for c in cells].count("0"), 1)
        self.picture("map")
        self.keys(Keys.ENTER)
        search = self.browser.switch_to.active_element
        self.assertEqual(search.get_attribute("value"), "shape=bottleneck dtype=float16")
        self.assertEqual(self.text(".bar [role=status]"), "25 of 300 cases")

    def test_the_map_tells_outcomes_and_times_without_colours(self):
        self.show("red", 300)
        texts = lambda: [e.text for e in self.find("svg .cell")]
        self.assertEqual(len(texts()), 12)
        self.assertIn("25", texts())
        self.assertIn("1/25 failed", texts())
        legend = self.text("section > .bar.soft")
        self.assertEqual(legend.split(), ["failed", "passed"])
        self.browser.find_element(By.CSS_SELECTOR, "select[aria-label=colour]").send_keys("time")
        self.assertTrue(all(float(text) > 1 for text in texts()), texts())
        self.picture("map-time")

    def test_is_light_and_dark(self):
        self.show("green", 20)
        colour = lambda: self.browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        before = colour()
        [button] = [b for b in self.find("button") if b.text == "light / dark"]
        button.click()
        self.assertNotEqual(colour(), before)
        self.picture("dark")
        button.click()
        self.assertEqual(colour(), before)

    def test_fits_a_telephone(self):
        for kind in ("red", "mixed", "hostile"):
            self.show(kind, 60)
            for theme in ("light", "dark"):
                self.narrow(theme)
                self.nothing_is_cut()
                self.picture(f"narrow-{kind}-{theme}")
            for button in self.find("button.name")[:9]:
                self.browser.execute_script("arguments[0].click()", button)
            self.nothing_is_cut()
            # The pictures that have room are not cut, and the names of the map's rows stay when its cells scroll.
            wide = self.browser.execute_script("return [...document.querySelectorAll('#app .scroll[aria-label]')].map((e) => e.scrollWidth - e.clientWidth)")
            self.assertEqual(wide, [0])
            box = self.browser.find_element(By.CSS_SELECTOR, ".scroll:has(.map)")
            left = lambda: self.browser.execute_script("return document.querySelector('.map .heads').getBoundingClientRect().left")
            before = left()
            self.browser.execute_script("arguments[0].scrollLeft = 60", box)
            self.assertGreater(self.browser.execute_script("return arguments[0].scrollLeft", box), 0)
            self.assertEqual(left(), before)

    def test_says_at_a_glance_when_where_and_how_many(self):
        self.show("mixed", 240)
        top = self.text(".verdict")
        for words in ("2026-01-31 10:00:00 UTC", "1.500 s", "node17", "verdict: failed"):
            self.assertIn(words, top)
        bar = self.browser.find_element(By.CSS_SELECTOR, "svg.counts")
        said = bar.get_attribute("aria-label")
        for outcome in ("passed", "failed", "errored", "skipped", "blocked", "not run"):
            self.assertRegex(said, rf"\b[1-9]\d* {outcome}")
            self.assertIn(outcome, self.text("ul.counts"))
        widths = [e.rect["width"] for e in self.find("svg.counts .part")]
        self.assertAlmostEqual(sum(widths), bar.rect["width"], delta=12)
        numbers = [int(e.text) for e in self.find("ul.counts strong")]
        self.assertEqual(sum(numbers), 240)
        self.assertLess(self.browser.find_element(By.CSS_SELECTOR, "ul.counts").rect["y"], 300, "without scrolling")

    def test_blocked_looks_like_no_pass(self):
        self.show("mixed", 240)
        for theme in ("light", "dark"):
            self.theme(theme)
            fills = self.browser.execute_script("return Object.fromEntries([...document.querySelectorAll('svg.counts .part')].map("
                                                "(e) => [e.getAttribute('class').slice(7), getComputedStyle(e).fill]))")
            self.assertEqual(len(set(fills.values())), len(fills), fills)
            self.assertIn("#stripes", fills["blocked"], "a pattern")
            colours = self.browser.execute_script("return ['passed', 'blocked', 'skipped', 'failed', 'errored'].map((o) => {"
                                                  "const e = document.createElement('td'); e.className = o; document.body.append(e);"
                                                  "const c = getComputedStyle(e).color; e.remove(); return c; })")
            self.assertEqual(len(set(colours)), 5, colours)
        cells = {e.get_attribute("class")[2:]: e for e in self.find(".map rect[role=button]")}
        self.assertIn("errored", cells)
        texts = [e.text for e in self.find(".map .cell")]
        self.assertIn("20 blocked", texts)
        self.assertFalse([t for t in texts if "/" in t and t.replace("/", "").isdigit()], "numbers alone")
        self.assertEqual(len(self.find(".map rect.f-blocked")), 3)

    def test_texts_stand_out_in_both_themes(self):
        self.show("mixed", 240)
        self.browser.execute_script("document.querySelector('button.name').click()")
        for theme in ("light", "dark"):
            self.theme(theme)
            low = self.browser.execute_script(CONTRAST + """
              const back = style(document.body).backgroundColor, card = style(document.querySelector(".verdict")).backgroundColor, low = [];
              for (const e of document.querySelectorAll("body :is(dt, dd, td, th, p, a, button, h1, h2, h3, li, summary, label, code, pre)")) {
                const on = e.closest(".verdict, pre, button:not(.name), .legend") ? card : back;
                if (e.offsetWidth && contrast(style(e).color, on) < 4.5) low.push([e.tagName, e.className, contrast(style(e).color, on)]);
              }
              // The words in the map, on their colours and on both stripes.
              for (const text of document.querySelectorAll(".map .cell.on")) {
                const fill = style(text.previousElementSibling).fill;
                const on = fill.startsWith("url") ? ["a", "b"].map((x) => style(document.querySelector(".stripe-" + x)).fill) : [fill];
                for (const colour of on) if (contrast(style(text).fill, colour) < 4.5) low.push([text.textContent, colour]);
              }
              return low.slice(0, 5);""")
            self.assertEqual(low, [], theme)
        nameless = self.browser.execute_script("return [...document.querySelectorAll('button, a, input, select, svg[role]')].filter("
                                               "(e) => !(e.getAttribute('aria-label') || e.textContent.trim())).map((e) => e.outerHTML)")
        self.assertEqual(nameless, [])

    def linked(self):
        return self.browser.execute_script("""
          const row = document.querySelector("tr.linked"), box = row && row.getBoundingClientRect();
          return row && {id: row.querySelector("button.name").textContent, seen: box.top >= 0 && box.bottom <= innerHeight,
                         open: !row.nextElementSibling.hidden, marked: getComputedStyle(row.firstChild).backgroundColor,
                         focus: document.activeElement === row.querySelector("button.name")};""")

    def test_an_address_opens_its_case(self):
        id = "conv.forward[dtype=float32,i=7203,shape=depthwise]"
        self.show("red", 10000, "#case=" + urllib.parse.quote(id, safe=""))
        there = self.linked()
        self.assertEqual((there["id"], there["seen"], there["open"], there["focus"]), (id, True, True, True))
        self.assertNotEqual(there["marked"], "rgba(0, 0, 0, 0)")
        self.picture("linked")
        # Again, though the filter hides it now: from the case's own link elsewhere, and from the root cause.
        search = self.browser.find_element(By.CSS_SELECTOR, "input[type=search]")
        search.send_keys("i=9999")
        self.assertIsNone(self.linked())
        self.browser.execute_script("location.hash = arguments[0]", "#case=" + urllib.parse.quote(id.replace("7203,shape=depthwise", "3,shape=depthwise"), safe=""))
        self.browser.execute_async_script("setTimeout(arguments[0], 100)")
        self.assertEqual(self.linked()["id"], id.replace("7203", "3"))
        [root] = [a for a in self.find(".verdict dd a") if a.get_attribute("href").find("#case=") > 0]
        root.click()
        self.browser.execute_async_script("setTimeout(arguments[0], 100)")
        self.assertEqual(self.linked()["id"], root.text)
        self.assertEqual(self.linked()["seen"], True)
        self.browser.execute_script("location.hash = '#case=%zz'")
        self.browser.execute_async_script("setTimeout(arguments[0], 100)")
        self.assertIn("not in this report", self.text(".bar [role=status]"))
        # Rows before the one that was linked are there too.
        self.show("red", 10000, "#case=" + urllib.parse.quote(id, safe=""))
        [earlier] = [b for b in self.find("button") if b.text == "show earlier"]
        earlier.click()
        self.assertIn("i=7000,", self.text("tbody tr:first-child button.name"))

    def test_a_finding_leads_to_what_it_means(self):
        self.show("mixed", 60)
        self.browser.find_element(By.CSS_SELECTOR, ".verdict a[href^='#finding-']").click()
        there = self.browser.execute_script("const e = document.querySelector(':target'); return e && e.textContent")
        self.assertEqual(there, "image.wrong-value")
        self.browser.execute_script("document.querySelector('button.name[aria-expanded=false]').click()")
        for link in self.find("a[href^='#finding-']"):
            self.assertTrue(self.browser.execute_script("return !!document.getElementById(arguments[0].hash.slice(1))", link))
        self.assertTrue([a for a in self.find("#findings a") if a.get_attribute("href").startswith("https://example.org/")])

    def test_commands_are_copied(self):
        for clipboard in (True, False):
            self.show("red", 60)
            if not clipboard:
                self.browser.execute_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
            self.browser.execute_script("document.querySelector('tr:has(.failed) button.name').click()")
            commands = self.find("code.command")
            self.assertGreaterEqual(len(commands), 7)
            self.browser.execute_script("const e = document.createElement('textarea'); e.id = 'paste'; document.body.append(e)")
            paste = self.browser.find_element(By.ID, "paste")
            for code in commands:
                button = code.find_element(By.XPATH, "following-sibling::button")
                self.assertTrue(button.get_attribute("aria-label").startswith("copy the command: "))
                button.click()
                self.browser.execute_async_script("setTimeout(arguments[0], 50)")
                self.assertEqual(button.text, "copied")
                self.browser.execute_script("arguments[0].value = ''", paste)
                paste.click()
                ActionChains(self.browser).key_down(Keys.CONTROL).send_keys("v").key_up(Keys.CONTROL).perform()
                self.assertEqual(paste.get_property("value"), code.get_property("textContent"), clipboard)

    def test_without_scripts_everything_on_top_can_be_read(self):
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        try:
            self.show("red", 60)
            page = self.text("body")
            for words in ("docker run", "RUN apt-get install", "1.500 s", "failed", "What the findings mean", "report.json holds the same"):
                self.assertIn(words, page)
            self.assertEqual(self.find("button"), [])
        finally:
            self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})

    def test_on_paper_it_is_light_and_whole(self):
        self.show("mixed", 60)
        self.theme("dark")
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        try:
            self.assertEqual(self.browser.execute_script("return getComputedStyle(document.documentElement).getPropertyValue('--back')").strip(), "#ffffff")
            self.assertEqual([b.text for b in self.find("button.copy, .bar") if b.is_displayed()], [])
            self.assertTrue(self.find("tbody td.failed")[0].is_displayed())
        finally:
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})

    def test_nothing_that_a_run_says_runs(self):
        self.show("hostile", 60)
        for button in self.find("button.name")[:3]:
            self.browser.execute_script("arguments[0].click()", button)
        self.assertIsNone(self.browser.execute_script("return window.hurt"))
        self.assertEqual(self.find("img"), [])
        self.picture("hostile")
        # And if it could be an element, it still could not run.
        self.browser.execute_script("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hurt=3\">')")
        self.browser.execute_async_script("setTimeout(arguments[0], 300)")
        self.assertIsNone(self.browser.execute_script("return window.hurt"))

    def test_ten_thousand_cases(self):
        self.show("red", 10000)
        search = self.browser.find_element(By.CSS_SELECTOR, "input[type=search]")
        self.picture("many")
        search.send_keys("i=9999")
        self.assertEqual(self.text(".bar [role=status]"), "1 of 10000 cases")


class Images(Page):
    def names(self):
        return [int(re.search(r"train-(\d+)", e.text).group(1)) for e in self.find("tbody tr") if e.is_displayed()]

    def test_sorts_by_every_column(self):
        self.show("images", 40)
        self.assertTrue(all(i % 3 == 0 for i in self.names()[:14]), "red first")
        heads = {b.text.strip(): b for b in self.find("button.sort")}
        self.assertEqual(list(heads), ["verdict", "image", "root cause", "cuDNN", "GPU", "driver", "matrix", "age"])
        heads["image"].click()
        self.assertEqual(self.names(), list(range(40)), "2 before 10")
        self.assertEqual([e.get_attribute("aria-sort") for e in self.find("th")], [None, "ascending"] + [None] * 6)
        heads["image"].click()
        self.assertEqual(self.names(), list(range(39, -1, -1)))
        heads["cuDNN"].click()
        self.assertEqual(self.names(), list(range(40)))
        heads["age"].click()
        days = [int(e.text.split()[0]) for e in self.find("td.short")]
        self.assertEqual(days, sorted(days))
        self.assertGreater(days[-1], days[0])
        Select(self.browser.find_element(By.CSS_SELECTOR, "select[aria-label=sort]")).select_by_visible_text("red first")
        self.assertTrue(all(i % 3 == 0 for i in self.names()[:14]))

    def test_filters_by_name(self):
        self.show("images", 40)
        search = self.browser.find_element(By.CSS_SELECTOR, "input[type=search]")
        search.send_keys("TRAIN-7@")
        self.assertEqual(self.names(), [7])
        self.assertEqual(self.text("[role=status]"), "1 of 40 images")
        search.clear()
        search.send_keys("nowhere")
        self.assertEqual(self.names(), [])
        search.clear()
        search.send_keys("wrong-value implicit_gemm")
        self.assertEqual(len(self.names()), 14)
        self.picture("images")

    def test_links_to_the_reports_that_are_there(self):
        self.show("images", 6)
        links = self.find("td a")
        self.assertEqual(sorted(a.get_dom_attribute("href") for a in links), [f"wall/image-{i}/report.html" for i in (0, 2, 4)])
        place = pathlib.Path(self.folder.name, "wall/image-0/report.html")
        place.parent.mkdir(parents=True)
        subprocess.run([SAMPLE, "red", "8", str(place)], check=True)
        links[0].click()
        self.assertEqual(self.text("h1"), "FAILED: the image is at fault")

    def test_fits_a_telephone(self):
        self.show("images", 12)
        for theme in ("light", "dark"):
            self.narrow(theme)
            self.nothing_is_cut()
            self.assertEqual(self.browser.execute_script("const e = document.querySelector('.scroll'); return e.scrollWidth - e.clientWidth"), 0, "nothing to scroll")
            self.picture(f"images-narrow-{theme}")
        Select(self.browser.find_element(By.CSS_SELECTOR, "select[aria-label=sort]")).select_by_visible_text("by image")
        self.assertEqual(self.names(), list(range(12)))
        [turn] = [b for b in self.find("button") if b.text == "ascending"]
        turn.click()
        self.assertEqual(self.names(), list(range(11, -1, -1)))

    def test_is_a_table_without_scripts(self):
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        try:
            self.show("images", 6)
            self.assertEqual(len(self.find("tbody tr")), 6)
            self.assertEqual(self.find("button, input"), [])
        finally:
            self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})

    def test_nothing_that_a_run_says_runs(self):
        self.show("hostile-images", 6)
        self.assertIsNone(self.browser.execute_script("return window.hurt"))
        self.assertEqual(self.find("img"), [])
        self.narrow("light")
        self.nothing_is_cut()


if __name__ == "__main__":
    unittest.main()
