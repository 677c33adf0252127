// A Python environment of libraries that a test compiles, and what is said of it.
#ifndef CUDNN_CI_TESTS_UNIT_SYMBOLS_JUDGE_FIXTURE_H_
#define CUDNN_CI_TESTS_UNIT_SYMBOLS_JUDGE_FIXTURE_H_

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "image/symbols/symbols_judge.h"
#include "image/symbols/symbols_rules.h"
#include "known_entry.h"
#include "symbols_test.h"

namespace cudnn_ci {

using Kind = SymbolFaultKind;
inline constexpr char kSite[] = "venv/lib/python3.12/site-packages/";

class SymbolsJudgeTest : public SymbolsTest {
 protected:
  void SetUp() override {
    SymbolsTest::SetUp();
    Write("venv/pyvenv.cfg", "home = /nowhere/bin\nversion = 3.12.1\n");
    Program("venv/bin/python", "int Py_Something;");
    std::filesystem::create_directories(Path(kSite));
  }
  // An extension module of Python.
  std::string Extension(const std::string& path, const std::string& source = "",
                        const std::string& options = "") {
    const std::string name = std::filesystem::path(path).filename().string();
    return Library(kSite + path,
                   "void *PyInit_" + name.substr(0, name.find('.')) + "(void) { return 0; }\n" + source,
                   options);
  }
  void Package(const std::string& name, const std::string& init = "") {
    Write(kSite + name + "/__init__.py", init);
  }
  // A package that recorded these files, so that it is named.
  void Record(const std::string& package, const std::vector<std::string>& files) {
    std::string text;
    for (const std::string& file : files) text += file + ",,\n";
    Write(kSite + package + ".dist-info/RECORD", text);
  }
  SymbolRules rules_ = ReadSymbolRules(KnownEntry);

  SymbolJudgement Judge(const std::string& library_path = "", const std::string& spec = "") {
    const std::string subject = spec.empty() ? "python:" + Path("venv/bin/python") : spec;
    const ImageFiles image = FilesOfSubject(subject, {Path("libs")}, library_path);
    LoaderFiles files(library_path, false);
    return JudgeSymbols(image, subject, rules_, &files);
  }
  static std::vector<Kind> Kinds(const SymbolJudgement& judgement) {
    std::vector<Kind> kinds;
    for (const SymbolFault& fault : judgement.faults) kinds.push_back(fault.kind);
    return kinds;
  }
  // The one fault there must be.
  static std::string Only(const SymbolJudgement& judgement, Kind kind) {
    EXPECT_THAT(Kinds(judgement), ::testing::ElementsAre(kind));
    return judgement.faults.empty() ? "" : judgement.faults[0].detail;
  }
  // The library of the only fault.
  static std::string LibraryOfOnly(const SymbolJudgement& judgement, Kind kind) {
    EXPECT_THAT(Kinds(judgement), ::testing::ElementsAre(kind));
    return judgement.faults.empty() ? "" : judgement.faults[0].library;
  }
  // PyTorch, as far as its rule looks.
  void MakeTorch(const std::string& more = "") {
    const std::string folder = kSite + std::string("torch/lib/");
    Library(folder + "libc10.so",
            "void _ZN3c104failERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(void) {}" + more);
    Library(folder + "libtorch_global_deps.so", "int deps;");
    Package("torch", "from torch._C import *\n");
    Extension("torch/_C.cpython-312-x86_64-linux-gnu.so", "",
              "@/" + folder + "libc10.so -Wl,--disable-new-dtags,-rpath,'$ORIGIN/lib'");
    Record("torch-2.13.0", {"torch/lib/libc10.so", "torch/_C.cpython-312-x86_64-linux-gnu.so"});
  }
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_SYMBOLS_JUDGE_FIXTURE_H_
