#!/usr/bin/env python3
"""The page that ci/site makes of what choices_table.py counts in made-up reports."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import choices_table
from documentation import choices as pages


def case(outcome="passed", algo="gemm", api="legacy", check="conv.forward", dtype="float32", **more):
    params = {"algo": algo, "api": api, "dtype": dtype, "layout": "nchw", "math": "default", "shape": more.pop("shape", "s")}
    return {"check": check, "outcome": outcome, "params": params, "measurements": [], "findings": [], **more}


class Page(unittest.TestCase):
    def page(self, *cases, choices=""):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "choices.txt").write_text(choices)
            report = {"facts": {"system": {"cudnn.version": "9.19.0", "gpu.0.name": "H200", "driver.version": "580.1"}}, "cases": list(cases)}
            return pages.page_of(choices_table.written(choices_table.counted(report, pathlib.Path(folder))))

    def test_names_what_was_judged(self):
        self.assertIn("# cuDNN 9.19.0 on H200, driver 580.1", self.page())

    def test_counts_shapes_of_one_algorithm(self):
        page = self.page(case(), case(shape="t"), case("skipped", shape="u", skip={"kind": "unsupported", "seen": "3000"}),
                         case("failed", dtype="float16", findings=[{"slug": "wrong-value"}]),
                         case("skipped", algo="fft", skip={"kind": "unsupported", "seen": "not verifiable with this data"}))
        self.assertIn("| | float16 nchw | float32 nchw |", page)
        self.assertIn("| gemm | **1 wrong** | 2 ran, 1 unsupported |", page)
        self.assertIn("| fft |  | 1 not verifiable |", page)
        for slug in ("wrong-value-unexplained", "output-not-written"):
            self.assertIn("| gemm | **1 wrong** |", self.page(case("failed", findings=[{"slug": slug}])))
        self.assertIn("| gemm | **1 failed** |", self.page(case("failed", findings=[{"slug": "convolution-failed"}])))

    def test_reads_the_table_of_a_sweep(self):
        choices = ("engine 0: passed, error 0 of 0, workspace 0 B, 0.1 ms\nheuristics A 1, engine 17: passed, error 1 of 2\n"
                   "engine 2: wrong, \nengine 3, fallback 0, engine 40: unsupported, cudnnBackendFinalize: 3000: words\nmore words: of it\n")
        page = self.page(case(algo="every", api="graph", attachments=[{"name": "choices.txt", "path": "choices.txt"}]), choices=choices)
        self.assertIn("## conv.forward, graph API", page)
        for line in ("| engine 0 | 1 ran |", "| engine 17 | 1 ran |", "| engine 2 | **1 wrong** |", "asked for: engines 3, 40."):
            self.assertIn(line, page)
        self.assertLess(page.index("| engine 2 |"), page.index("| engine 17 |"))
        self.assertNotIn("more words", page)

    def test_what_is_unsupported_everywhere_is_one_line(self):
        choices = "engine 1: passed, error 0 of 0\nengine 3, engine 4, engine 5, engine 9: unsupported, cudnnBackendFinalize: 3000\n"
        sweep = {"algo": "every", "api": "graph", "attachments": [{"name": "choices.txt", "path": "choices.txt"}]}
        page = self.page(case(**sweep), choices=choices)
        self.assertNotIn("| engine 3 |", page)
        self.assertIn("\n\nUnsupported wherever asked for: engines 3 to 5, 9.\n", page)
        # One that ran for another type keeps its row.
        page = self.page(case(**sweep), case(algo="auto", api="graph", dtype="float16", measurements=[{"name": "engine", "value": 4}]), choices=choices)
        self.assertIn("| engine 4 | 1 ran | 1 unsupported |", page)
        self.assertIn("asked for: engines 3, 5, 9.", page)
        page = self.page(case("skipped", algo="fft", skip={"kind": "unsupported", "seen": "3000"}))
        self.assertIn("asked for: fft.", page)

    def test_tells_what_the_library_chose(self):
        measured = [{"name": "engine", "value": 17}]
        self.assertIn("| engine 17 | 1 ran |", self.page(case(algo="auto", api="graph", measurements=measured)))
        measured = [{"name": "algorithm", "value": 1}]
        self.assertIn("| algorithm 1 by find | 1 ran |", self.page(case(algo="find", measurements=measured)))
        self.assertIn("| none by auto | 1 too large |", self.page(case("skipped", algo="auto", skip={"kind": "memory", "seen": "1 MiB"})))

    def test_leaves_out_what_did_not_run(self):
        self.assertNotIn("gemm", self.page(case("blocked")))


if __name__ == "__main__":
    unittest.main()
