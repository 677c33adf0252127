// Broken installs of a real cuDNN 9: the machine's own, by hard links, with one file damaged, removed or
// exchanged. Judged without a GPU and without a driver; the toolkit around it is the fake one.
#include <utility>

#include "fault_machines.h"

namespace cudnn_ci {
namespace {

constexpr char kUnloadable[] = "cudnn-sublibrary-unloadable";
constexpr char kGraph[] = "libcudnn_graph.so.9", kCnn[] = "libcudnn_cnn.so.9", kOps[] = "libcudnn_ops.so.9";

Make Real(const std::function<void(FaultTest&)>& spoil, const std::string& mounts = "") {
  return [spoil, mounts](FaultTest& t) {
    t.UseFakes({"cudart13", "nvrtc"});
    t.Promise("image.cudnn", ">=9.0 <10");
    t.StaticOnly();
    t.UseSubjects("{\"copy\": \"path:" + t.libraries() + "\"}");
    if (!t.LinkRealCudnn()) return false;
    spoil(t);
    return t.HideLoaderCache(mounts);
  };
}

Fault PartMissing(const std::string& part) {
  const std::string file = "libcudnn_" + part + ".so.9";
  return Image(part + "_missing", Real([file](auto& t) { t.Remove(file); }), kUnloadable,
               {file + ": cannot open"});
}

Fault Unusable(const std::string& name, std::vector<std::string> named,
               const std::function<void(FaultTest&)>& spoil) {
  return Image(name, Real(spoil), kUnloadable, std::move(named));
}

std::vector<Fault> Faults() {
  return Joined({
      Showing("cuDNN alone", {Sound("whole", Real([](auto&) {}))}),
      Showing("JIT-only cuDNN", {Sound("jit_only", Real(KeepJitParts), "cudnn-jit-only")}),
      Showing("part of cuDNN 9 missing",
              {PartMissing("graph"), PartMissing("ops"), PartMissing("cnn"), PartMissing("adv")}),
      Showing("heuristics or engines missing", {PartMissing("heuristic"), PartMissing("engines_precompiled"),
                                                PartMissing("engines_runtime_compiled")}),
      // They load as well as the right ones do, and give nothing.
      Showing("another library under cuDNN's name",
              {
                  Image("heuristic_is_another_library",
                        Real([](auto& t) { t.TakeAs(kCnn, "libcudnn_heuristic.so.9"); }),
                        "cudnn-other-library", {"/libcudnn_heuristic.so.9 is libcudnn_cnn.so.9"}),
                  Image("engines_are_another_library",
                        Real([](auto& t) { t.TakeAs(kCnn, "libcudnn_engines_precompiled.so.9"); }),
                        "cudnn-other-library", {"/libcudnn_engines_precompiled.so.9 is libcudnn_cnn.so.9"}),
              }),
      Showing("truncated file",
              {
                  Unusable("graph_truncated", {"/libcudnn_graph.so.9 is truncated: "},
                           [](auto& t) { t.Halve(kGraph); }),
                  Unusable("ops_truncated", {"/libcudnn_ops.so.9 is truncated: "},
                           [](auto& t) { t.Halve(kOps); }),
                  Unusable("graph_empty", {"/libcudnn_graph.so.9 is empty"},
                           [](auto& t) { t.WriteLibrary(kGraph, ""); }),
              }),
      Showing(
          "unusable file",
          {
              Unusable("cnn_of_another_machine", {"/libcudnn_cnn.so.9", "aarch64", "x86-64"},
                       [](auto& t) { t.Patch(kCnn, 18, kForeignMachine); }),
              Unusable("cnn_of_32_bit", {"/libcudnn_cnn.so.9 is a 32-bit library"},
                       [](auto& t) { t.Patch(kCnn, 4, 1); }),
              Unusable("cnn_dangling", {"/libcudnn_cnn.so.9", "nowhere/"}, [](auto& t) { t.Dangle(kCnn); }),
          }),
      Showing("mixed cuDNN versions",
              {Image("ops_of_another_version", Real([](auto& t) { t.Take("cudnn_old", kOps); }),
                     "cudnn-mixed-versions", {"9.14.0 ("})}),
      Showing("zlib missing",
              {Image("zlib_missing",
                     Real([](auto&) {}, "mount --bind /dev/null $(readlink -f /lib/*-linux-gnu/libz.so.1)"),
                     kUnloadable, {"libz.so.1"})}),
  });
}

INSTANTIATE_TEST_SUITE_P(Real, FaultTableTest, ::testing::ValuesIn(Faults()), NameOfFault);

}  // namespace
}  // namespace cudnn_ci
