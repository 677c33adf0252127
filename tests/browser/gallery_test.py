#!/usr/bin/env python3
"""ci/gallery with fake libraries: three runs that end as they must, pictures below their size, a page of them; and nothing of
runs that ended otherwise. `gallery_test.py TREE FAKES`"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

FAKES, TREE = (pathlib.Path(sys.argv.pop()) for _ in range(2))
GALLERY = pathlib.Path(__file__).resolve().parent.parent.parent / "ci/gallery"
MATRIX = {"schema": "cudnn-ci/matrix/1", "name": "gallery",
          "shapes": {name: {"x": [2, 16, 16, 16], "w": [16, 16, 3, 3], "pad": pad} for name, pad in (("small", 1), ("bare", 0))},
          "checks": [{"check": check} for check in ("driver.load", "driver.devices", "cudnn.load", "cudnn.init")] +
                    [{"check": "conv.forward", "params": {"algo": "implicit_gemm"}, "axes": {"shape": ["small", "bare"], "dtype": ["float32", "float16"]}}]}


class Gallery(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(cls.folder.name)
        (path / "matrix.json").write_text(json.dumps(MATRIX))
        libraries = ":".join(str(FAKES / name) for name in ("libcuda", "nvml", "cudart13", "nvrtc", "cudnn"))
        cls.runs = path / "runs"
        cls.made = subprocess.run([GALLERY, "run", "--tree", TREE, "--matrix", path / "matrix.json", cls.runs], capture_output=True,
                                  text=True, env={**os.environ, "LD_LIBRARY_PATH": libraries})

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def draw(self, runs):
        gallery = pathlib.Path(self.folder.name) / f"gallery-{self.id()}"
        return gallery, subprocess.run(["/usr/bin/python3", "-B", GALLERY, "draw", runs, gallery], capture_output=True, text=True)

    def test_pictures_and_a_page(self):
        self.assertEqual(self.made.returncode, 0, self.made.stderr)
        self.assertFalse((self.runs / "damaged").exists())
        gallery, done = self.draw(self.runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = ["passing", "image", "runner", "case", "images", "image-phone", "images-phone"]
        self.assertEqual(sorted(p.name for p in gallery.iterdir()), sorted(["README.md", *(f"{n}.webp" for n in names)]))
        page = (gallery / "README.md").read_text()
        for words in ("verdict: passed (exit 0)", "verdict: failed (exit 1)", "verdict: failed (exit 3)",
                      "image.cudnn-sublibrary-unloadable", "runner.no-visible-device", *(f"({n}.webp)" for n in names)):
            self.assertIn(words, page)
        for name in names:
            data = (gallery / f"{name}.webp").read_bytes()
            self.assertLess(len(data), 180_000)
            self.assertEqual((data[:4], data[8:16]), (b"RIFF", b"WEBPVP8X"), name)
            width, height = (int.from_bytes(data[at:at + 3], "little") + 1 for at in (24, 27))  # the extended format's canvas
            self.assertEqual(width, 390 if name.endswith("-phone") else 1400, name)
            self.assertGreater(height, 200, name)

    def test_what_is_missing_is_2(self):
        nowhere = pathlib.Path(self.folder.name) / "nowhere"
        for words in (["run", "--tree", TREE, self.runs], ["run", "--tree", nowhere, nowhere], ["draw", nowhere]):
            done = subprocess.run(["/usr/bin/python3", "-B", GALLERY, *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, (words, done.stderr))
            self.assertFalse(nowhere.exists())

    def test_nothing_is_drawn_of_runs_that_ended_otherwise(self):
        runs = pathlib.Path(self.folder.name) / "swapped"
        shutil.copytree(self.runs, runs)
        shutil.copy(runs / "passing/report.json", runs / "image/report.json")
        gallery, done = self.draw(runs)
        self.assertEqual(done.returncode, 1)
        self.assertIn("image: it ended with (0, None)", done.stderr)
        self.assertFalse(gallery.exists())


if __name__ == "__main__":
    unittest.main()
