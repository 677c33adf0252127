"""Tests of ci/mutate: reading and applying lists, fresh mutations, and whole runs on a small project in C."""
import contextlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "ci"))

from mutation import command, entries, operators  # noqa: E402: found by the path above

ENTRY = "## {0}: what goes wrong\nfile: {1}\n{2}<<<<\n{3}\n====\n{4}\n>>>>\n"


class Lists(unittest.TestCase):
    def parse(self, text):
        return entries.parse(text, "list.txt")

    def test_an_entry_is_read_whole(self):
        text = "# a comment\n\n" + ENTRY.format("first-one", "a/b.cc", "tests: ^A\\.\ntargets: a_test, b_test\n", "  x;\n  y;", "  z;")
        self.assertEqual(self.parse(text), [entries.Mutation(
            "first-one", "what goes wrong", "a/b.cc", "  x;\n  y;", "  z;", tests="^A\\.", targets=("a_test", "b_test"))])

    def test_the_text_after_may_be_empty(self):
        self.assertEqual(self.parse("## a: b\nfile: f\n<<<<\nx\n====\n>>>>\n")[0].after, "")

    def test_what_cannot_be_read_is_named_with_its_line(self):
        for text, why in [
                ("hello\n", "list.txt:1: expected '## ID: WHAT'"),
                ("##a: b\n", "list.txt:1: expected '## ID: WHAT'"),
                ("## a: b\nfil: f\n<<<<\nx\n====\ny\n>>>>\n", "list.txt:2: expected 'file:'"),
                ("## a: b\nfile: f\nfile: g\n<<<<\nx\n====\ny\n>>>>\n", "'file:' stands twice"),
                ("## a: b\n<<<<\nx\n====\ny\n>>>>\n", "names no file"),
                ("## a: b\nfile: f\n<<<<\n\n====\ny\n>>>>\n", "the text before is empty"),
                ("## a: b\nfile: f\n<<<<\nx\n====\nx\n>>>>\n", "the text after is the text before"),
                ("## a: b\nfile: f\ntests: (\n<<<<\nx\n====\ny\n>>>>\n", "no regular expression"),
                ("## a: b\nfile: f\n<<<<\nx\n", "no line '===='"),
                ("## a: b\nfile: f\n<<<<\nx\n====\ny\n", "no line '>>>>'"),
                ("## a: b\nfile: f\n", "expected 'file:'")]:
            with self.assertRaises(entries.ListError, msg=text) as caught:
                self.parse(text)
            self.assertIn(why, str(caught.exception))

    def test_names_tell_the_lists_apart_and_stand_once(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("one", "two"):
                with open(f"{folder}/{name}.txt", "w", encoding="ascii") as file:
                    file.write(ENTRY.format("same", "f", "", "x", "y"))
            self.assertEqual([m.name for m in entries.load(folder)], ["one/same", "two/same"])
            with open(f"{folder}/two.txt", "a", encoding="ascii") as file:
                file.write(ENTRY.format("same", "g", "", "x", "y"))
            with self.assertRaises(entries.ListError):
                entries.load(folder)

    def test_the_lists_of_this_folder_apply(self):
        mutations = entries.load(os.path.dirname(os.path.realpath(__file__)))
        self.assertGreater(len(mutations), 10)
        for mutation in mutations:
            with self.subTest(mutation.name):
                mutation.apply(entries.read(ROOT, mutation.file))


class Applying(unittest.TestCase):
    def mutation(self, before, after, **more):
        return entries.Mutation("a", "b", "f", before, after, **more)

    def test_exactly_one_place_changes(self):
        self.assertEqual(self.mutation("b", "x").apply("abc"), "axc")
        self.assertEqual(self.mutation("b\nc", "b\nx").apply("a\nb\nc\nd"), "a\nb\nx\nd")
        self.assertEqual(self.mutation("b\nc", "b\nx").line("a\nb\nc\nd"), 3)

    def test_none_or_two_places_are_stale(self):
        for text in ("acd", "abcb"):
            with self.assertRaises(entries.Stale):
                self.mutation("b", "x").apply(text)

    def test_a_place_may_be_given(self):
        self.assertEqual(self.mutation("b", "x", offset=3).apply("abcb"), "abcx")
        with self.assertRaises(entries.Stale):
            self.mutation("b", "x", offset=2).apply("abcb")

    def test_a_file_that_is_gone_is_stale(self):
        with self.assertRaises(entries.Stale):
            entries.read("/", "no/such/file.cc")


class Fresh(unittest.TestCase):
    def after(self, line):
        masked = operators.masked(line)
        self.assertEqual(len(masked), len(line))
        return {line[:b] + a.replace("%s", line[b:e]) + line[e:] for b, e, a in operators.places(masked)}

    def test_slips_of_each_kind(self):
        self.assertIn("if (a != b) return;", self.after("if (a == b) return;"))
        self.assertIn("if (!(a == b)) return;", self.after("if (a == b) return;"))
        self.assertIn("if (a || b) return;", self.after("if (a && b) return;"))
        self.assertIn("x = a - b;", self.after("x = a + b;"))
        self.assertIn("return false;", self.after("return true;"))
        self.assertIn("f(4);", self.after("f(3);"))
        self.assertIn("  ;", self.after("  items.push_back(x);"))
        self.assertIn("if (ready()) go();", self.after("if (!ready()) go();"))

    def test_what_is_no_code_stays(self):
        for line in ("// a == b", "#include <a> // 1 == 2", 'Log("a == b, 3 + 4")[', "/* x && y */", "std::vector<int> v;",
                     "char c = '<';", 'R"(a == 1)"', "  char buffer[64];", "  virtual int F(int a) const = 0;", "  out.reserve(2 * n);"):
            self.assertEqual(self.after(line), set(), line)

    def test_a_large_number_by_one_and_a_time_ask_nothing(self):
        for line in ("x = 512;", "  .TimeoutSeconds(5);", "  constexpr auto kPause = std::chrono::milliseconds(20);", "  Wait(3s);"):
            self.assertNotIn(True, [any(c.isdigit() for c in after) for _, _, after in operators.places(line)], line)
        self.assertIn("x = 48;", self.after("x = 49;"))

    def test_a_seed_gives_the_same_again_and_another_gives_others(self):
        def names(seed):
            source = operators.draw(ROOT, seed)
            return [(m.file, m.offset, m.after) for m, _ in zip(source, range(20))]
        self.assertEqual(names(1), names(1))
        self.assertNotEqual(names(1), names(2))

    def test_each_applies_to_the_tree(self):
        for m, _ in zip(operators.draw(ROOT, 3), range(200)):
            text = entries.read(ROOT, m.file)
            mutated = m.apply(text)
            self.assertNotEqual(mutated, text)
            self.assertTrue(m.file.startswith(("harness/", "plugins/")))
            self.assertGreater(m.line(text), 0)


PROJECT = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.22)
project(small LANGUAGES C)
enable_testing()
add_executable(near near.c harness/sum.c)
add_executable(far far.c harness/sum.c)
add_test(NAME Near.Sum COMMAND near)
add_test(NAME Far.Sum COMMAND far)
set_tests_properties(Near.Sum PROPERTIES LABELS unit)
""",
    "CMakePresets.json": """{"version": 3, "configurePresets": [{"name": "mutate", "generator": "Ninja",
      "binaryDir": "${sourceDir}/build-mutate", "cacheVariables": {"CMAKE_EXPORT_COMPILE_COMMANDS": "ON"}}]}
""",
    "harness/sum.c": "int Sum(int a, int b) { return a + b; }\nint Far(int a) { return a * 2; }\nint Never(int a) { return a - 7; }\n"
                     "int Loop(int a) { while (a > 9) a -= 1; return a; }\n",
    "near.c": "int Sum(int, int);\nint Loop(int);\nint main(void) { return Sum(2, 3) == 5 && Loop(12) == 9 ? 0 : 1; }\n",
    "far.c": "int Far(int);\nint main(void) { return Far(3) == 6 ? 0 : 1; }\n",
}


class Runs(unittest.TestCase):
    """Whole runs of the program, on a repository made for the test."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.root = os.path.join(self.folder, "repository")
        self.write(PROJECT)
        self.write({"tests/mutations/list.txt": "# none\n", ".gitignore": "__pycache__/\n"})
        shutil.copytree(os.path.join(ROOT, "ci", "mutation"), os.path.join(self.root, "ci", "mutation"),
                        ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy2(os.path.join(ROOT, "ci", "mutate"), os.path.join(self.root, "ci", "mutate"))
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.email", "nobody@example.com")
        self.git("config", "user.name", "nobody")
        self.commit()

    def write(self, files):
        for name, text in files.items():
            path = os.path.join(self.root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as file:
                file.write(text)

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "state")

    def lists(self, *listed):
        self.write({"tests/mutations/list.txt": "\n".join(ENTRY.format(*e) for e in listed)})
        self.commit()

    def line(self, *arguments):
        return [sys.executable, "-B", os.path.join(self.root, "ci", "mutate"), "--cache", os.path.join(self.folder, "cache"),
                *arguments]

    def mutate(self, *arguments):
        done = subprocess.run(self.line(*arguments), capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_every_ending_is_told_apart(self):
        near = "tests: ^Near\\.\ntargets: near\n"
        self.lists(
            ("noticed-near", "harness/sum.c", near, "a + b", "a - b"),
            ("noticed-far", "harness/sum.c", near, "a * 2", "a * 3"),
            ("unnoticed", "harness/sum.c", near, "a - 7", "a - 8"),
            ("no-c", "harness/sum.c", near, "a - 7", "a - "),
            ("gone", "harness/sum.c", near, "no such text", "x"),
            ("no-test", "harness/sum.c", "tests: ^Nothing\ntargets: near\n", "a - 7", "a - 8"),
            ("no-target", "harness/sum.c", "targets: nowhere\n", "a - 7", "a - 8"))
        status, said = self.mutate()
        self.assertEqual(status, 3, said)
        self.assertRegex(said, r"killed .*list/noticed-near: .*\(Near\.Sum\)")
        self.assertRegex(said, r"killed .*list/noticed-far: .*\(Far\.Sum\)")
        self.assertRegex(said, r"\nsurvived: harness/sum.c:3: list/unnoticed: what goes wrong")
        self.assertRegex(said, r"did-not-compile .*list/no-c: ")
        self.assertRegex(said, r"\nstale: harness/sum.c: list/gone: .*occurs 0 times")
        self.assertRegex(said, r"\nstale: harness/sum.c: list/no-test: .*no test matches")
        self.assertRegex(said, r"\nstale: harness/sum.c: list/no-target: .*no target 'nowhere'")
        self.assertIn("3 mutations in ", said)
        self.assertIn("2 killed (66.7%), 1 survived, 0 change no machine code, 1 did not compile, 3 no longer apply", said)
        # The tree that was asked about is untouched, and a second run finds the clone as it was.
        self.git("diff", "--exit-code")
        self.assertEqual(self.mutate("--only", "unnoticed")[0], 1)
        self.assertEqual(self.mutate("--only", "noticed-near|noticed-far")[0], 0)
        self.assertEqual(self.mutate("--only", "matches nothing")[0], 2)

    def test_a_quick_look_runs_the_nearest_tests_alone(self):
        near = "tests: ^Near\\.\ntargets: near\n"
        self.lists(("noticed-near", "harness/sum.c", near, "a + b", "a - b"), ("noticed-far", "harness/sum.c", near, "a * 2", "a * 3"))
        status, said = self.mutate("--nearest")
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"killed .*list/noticed-near: .*\(Near\.Sum\)")
        self.assertRegex(said, r"\nsurvived: harness/sum.c:2: list/noticed-far: what goes wrong: the nearest tests\n")

    def test_a_quick_look_tells_what_is_no_mutation(self):
        near = "tests: ^Near\\.\ntargets: near\n"
        self.lists(("same", "harness/sum.c", near, "a - 7", "a + -7"), ("no-c", "harness/sum.c", "targets: far\n", "a - 7", "a - "))
        status, said = self.mutate("--nearest")
        self.assertEqual(status, 3, said)
        self.assertIn("0 survived, 1 change no machine code, 1 did not compile", said)

    def test_what_changes_no_machine_code_is_no_survivor(self):
        near = "tests: ^Near\\.\ntargets: near\n"
        self.lists(("same", "harness/sum.c", near, "a - 7", "a + -7"))
        status, said = self.mutate()
        self.assertEqual(status, 3, said)
        self.assertRegex(said, r"changes-nothing .*list/same: ")
        self.assertIn("0 mutations in ", said)
        self.assertIn("0 survived, 1 change no machine code", said)
        # Nothing of the trial is left behind.
        self.lists(("noticed", "harness/sum.c", near, "a + b", "a - b"))
        self.assertEqual(self.mutate()[0], 0)

    def test_tests_that_a_change_cannot_reach_are_not_run(self):
        # As gtest_discover_tests leaves it: the tests of a program in a file of their own.
        listing = "file(WRITE \"${CMAKE_BINARY_DIR}/%s[1]_tests.cmake\" \"add_test([=[%s.Sum]=] %s)\\n\")\n"
        self.write({
            "CMakeLists.txt": PROJECT["CMakeLists.txt"].replace(
                "COMMAND far", "COMMAND sh -c \"echo >>ran; exec ./far\"").replace("near.c ", "near.c harness/alone.c ") +
            listing % ("near", "Near", "near") + listing % ("far", "Far", "far"),
            "harness/alone.c": "int Alone(int a) { return a - 7; }\n"})
        near = "tests: ^Near\\.\ntargets: near\n"
        self.lists(("alone", "harness/alone.c", near, "a - 7", "a - 8"))
        def runs_of_far():
            ran = [os.path.join(folder, "ran") for folder, _, files in os.walk(self.folder) if "ran" in files]
            return sum(len(entries.read("/", path)) for path in ran)
        status, said = self.mutate()
        self.assertEqual(status, 1, said)
        self.assertEqual(runs_of_far(), 1)  # without a mutation
        self.lists(("both", "harness/sum.c", near, "a - 7", "a - 8"))
        status, said = self.mutate()
        self.assertEqual(status, 1, said)
        self.assertEqual(runs_of_far(), 3)  # without a mutation, and with it

    def test_the_tests_of_scripts_run_for_those_who_name_them_alone(self):
        self.write({"CMakeLists.txt": PROJECT["CMakeLists.txt"] + "add_test(NAME launcher.start COMMAND sh ${CMAKE_SOURCE_DIR}/start)\n",
                    "start": "exit 0\n"})
        self.lists(("of-the-script", "start", "tests: ^launcher\\.\n", "exit 0", "exit 1"),
                   ("of-a-source", "harness/sum.c", "tests: ^Near\\.\ntargets: near\n", "a - 7", "a - 8"))
        status, said = self.mutate()
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"killed .*list/of-the-script: .*\(launcher\.start\)")
        self.assertIn("1 killed (50.0%), 1 survived", said)

    def test_a_hang_is_noticed(self):
        self.lists(("hang", "harness/sum.c", "tests: ^Near\\.\ntargets: near\n", "a -= 1", "a += 0"))
        status, said = self.mutate("--limit", "2")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"killed .*list/hang: .*\(time limit\)")

    def test_all_tests_that_are_slow_notice_nothing(self):
        self.write({"CMakeLists.txt": PROJECT["CMakeLists.txt"] + "add_test(NAME Slow COMMAND sleep 5)\n"})
        self.lists(("unnoticed", "harness/sum.c", "tests: ^Near\\.\ntargets: near\n", "a - 7", "a - 8"))
        status, said = self.mutate("--limit", "2")
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"\nsurvived: harness/sum.c:3: list/unnoticed: what goes wrong: the time limit ended its tests\n")

    def test_a_tree_that_is_red_anyway_is_no_place_to_try(self):
        self.lists(("a", "harness/sum.c", "", "a + b", "a - b"))
        self.write({"far.c": "int main(void) { return 1; }\n"})
        self.commit()
        status, said = self.mutate()
        self.assertEqual(status, 2, said)
        self.assertIn("a test fails without any mutation", said)

    def test_what_is_red_only_once_says_nothing(self):
        self.lists(("unnoticed", "harness/sum.c", "tests: ^Near\\.\ntargets: near\n", "a - 7", "a - 8"))
        self.write({"CMakeLists.txt": PROJECT["CMakeLists.txt"] +
                    'add_test(NAME Flaky.Once COMMAND sh -c "test -e seen || { touch seen; exit 1; }")\n'})
        self.commit()
        status, said = self.mutate()
        self.assertEqual(status, 1, said)
        self.assertIn("flaky: Flaky.Once\n", said)
        self.assertIn("survived: harness/sum.c:3: list/unnoticed", said)

    def test_check_builds_nothing_and_looks_at_the_working_tree(self):
        self.lists(("a", "harness/sum.c", "", "a + b", "a - b"))
        self.assertEqual(self.mutate("--check"), (0, "1 mutations, 0 no longer apply\n"))
        self.write({"harness/sum.c": "int x;\n"})
        self.assertEqual(self.mutate("--check")[0], 3)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "cache")))

    def test_random_ones_are_drawn_until_enough_compile(self):
        status, said = self.mutate("--random", "4", "--seed", "7", "--jobs", "2", "--limit", "5")
        self.assertIn(status, (0, 1), said)
        self.assertIn("4 random mutations, seed 7", said)
        self.assertRegex(said, r"\n4 mutations in ")
        first = set(re.findall(r" (random-7-\d+): ", said))
        said = self.mutate("--random", "2", "--seed", "7", "--skip", str(max(int(n.split("-")[-1]) for n in first)), "--limit", "5")[1]
        self.assertRegex(said, r"\n2 mutations in ")
        self.assertFalse(first & set(re.findall(r" (random-7-\d+): ", said)), said)

    def test_an_interrupted_run_ends_and_the_next_one_works(self):
        self.lists(("hang", "harness/sum.c", "tests: ^Near\\.\ntargets: near\n", "a -= 1", "a += 0"))
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        with subprocess.Popen(self.line(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment) as run:
            for line in run.stdout:
                if "mutations of the list" in line:
                    break
            time.sleep(2)  # somewhere in building or testing; every moment must do
            run.send_signal(signal.SIGINT)
            said = run.communicate(timeout=60)[0]
            self.assertEqual(run.returncode, 130, said)
        self.assertIn("0 mutations in", said)
        self.assertEqual(self.mutate("--limit", "2")[0], 0)


class Options(unittest.TestCase):
    def test_what_makes_no_sense_is_refused(self):
        for arguments in (["--random", "0"], ["--jobs", "0"], ["--limit", "0"], ["--only", "("], ["--random", "3", "--check"],
                          ["--skip", "3"], ["--random", "3", "--skip", "3"], ["--random", "3", "--seed", "1", "--skip", "-1"]):
            with self.assertRaises(SystemExit) as caught, contextlib.redirect_stderr(io.StringIO()):
                command.main(arguments, ROOT)
            self.assertEqual(caught.exception.code, 2, arguments)

    def test_the_longest_prefix_names_the_nearest_tests(self):
        near = command.nearest(ROOT)
        self.assertEqual(near("harness/model/plan/plan_bind.cc"), ["plan_test"])
        self.assertEqual(near("plugins/exec/run.cc"), ["shipped_exec_test"])
        self.assertEqual(near("elsewhere"), [])

    def test_the_nearest_tests_are_there(self):
        text = ""
        for folder, _, files in os.walk(os.path.join(ROOT, "tests")):
            for name in files:
                if name == "CMakeLists.txt" or name.endswith(".cmake"):
                    text += entries.read(folder, name)
        words = set(re.findall(r"[\w]+", text))
        with open(os.path.join(ROOT, "tests", "mutations", "nearest"), encoding="ascii") as file:
            programs = {word for line in file if not line.startswith("#") for word in line.split()[1:]}
        self.assertGreater(len(programs), 10)
        for program in programs:
            # Integration tests are named in lists: "shipped_${test}_test" of driver, toolkit, ...
            part = program.removesuffix("_test").removeprefix("shipped_")
            self.assertTrue(program in words or part in words, program)


if __name__ == "__main__":
    unittest.main()
