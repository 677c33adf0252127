#!/usr/bin/env python3
"""report.html in a headless browser: what it shows, that it filters, opens with the keyboard, fits a narrow screen, and that
nothing of a run's texts runs. `report_test.py HTML_SAMPLE`; CUDNN_CI_SCREENSHOTS names a folder for pictures.
Exit status 1 with a reason where there is no browser."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

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


class Report(unittest.TestCase):
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

    def show(self, kind, cases):
        """Opens the report of a made-up run; nothing may be asked of a network or complained about."""
        path = pathlib.Path(self.folder.name, f"{kind}-{cases}.html")
        subprocess.run([SAMPLE, kind, str(cases), str(path)], check=True)
        self.browser.get_log("browser"), self.browser.get_log("performance")
        self.browser.set_window_size(1300, 900)
        self.browser.get(path.as_uri())
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

    def test_shows_the_verdict_the_pictures_and_the_cases(self):
        self.show("red", 300)
        self.picture("red")
        self.assertEqual(self.text("h1"), "FAILED: the image is at fault")
        for words in ("image.wrong-value", "the owner of the image", "docker run"):
            self.assertIn(words, self.text(".verdict"))
        titles = [e.text for e in self.find("h2")]
        self.assertEqual(titles, ["Judged", "Environment", "Map", "Workers", "Cases"])
        self.assertEqual(len(self.find("section > .scroll > svg")), 3)
        self.assertIn("no subject uses it", self.text("svg"))
        self.assertEqual(self.text("[role=status]"), "300 of 300 cases")
        self.assertEqual(len(self.find("tbody tr")), 400, "200 cases at a time, with a closed row each")
        self.browser.execute_script("document.querySelector('table').scrollIntoView()")
        self.picture("red-cases")

    def test_filters_by_words_outcome_and_the_map(self):
        self.show("red", 300)
        search = self.browser.find_element(By.CSS_SELECTOR, "input[type=search]")
        search.send_keys("dtype=float16 stem")
        self.assertEqual(self.text("[role=status]"), "25 of 300 cases")
        search.clear()
        search.send_keys("nowhere")
        self.assertEqual(self.text("[role=status]"), "0 of 300 cases")
        search.clear()
        search.send_keys("i=1")
        self.assertEqual(self.text("[role=status]"), "1 of 300 cases", "i=1 is not i=10")
        search.clear()
        search.send_keys(" ")
        select = self.browser.find_element(By.CSS_SELECTOR, "select[aria-label=outcome]")
        select.send_keys("red")
        self.assertEqual(self.text("[role=status]"), "6 of 300 cases")
        Select(select).select_by_visible_text("all outcomes")
        self.browser.execute_script("document.querySelector('svg rect.f-failed[role]').dispatchEvent(new Event('click'))")
        self.assertEqual(search.get_attribute("value"), "shape=bottleneck dtype=float32")
        # As many as the cell says.
        self.assertEqual(self.text("[role=status]"), "25 of 300 cases")

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
        opened = self.text("tbody tr:nth-child(2)")
        for words in ("3 elements differ", "Owner: repair it.", "compare", "output", "--case"):
            self.assertIn(words, opened)
        self.picture("opened")
        button.send_keys(Keys.ENTER)
        self.assertEqual(button.get_attribute("aria-expanded"), "false")

    def keys(self, *keys):
        for key in keys:
            ActionChains(self.browser).send_keys(key).perform()

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
        self.assertEqual(self.text("[role=status]"), "25 of 300 cases")

    def test_the_map_tells_outcomes_and_times_without_colours(self):
        self.show("red", 300)
        texts = lambda: [e.text for e in self.find("svg .cell")]
        self.assertEqual(len(texts()), 12)
        self.assertIn("25", texts())
        self.assertIn("1/25", texts())
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

    def test_fits_a_narrow_screen(self):
        self.show("red", 50)
        self.browser.set_window_size(500, 800)
        width = self.browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
        self.assertLessEqual(width[0], width[1])
        self.picture("narrow")

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
        self.assertEqual(self.text("[role=status]"), "1 of 10000 cases")


if __name__ == "__main__":
    unittest.main()
