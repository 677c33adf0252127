// Broken cuDNN installs, made of the fake one: no GPU, no driver, no cuDNN needed.
#include <filesystem>
#include <utility>

#include "fault_machines.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr char kUnloadable[] = "cudnn-sublibrary-unloadable";
constexpr char kMissing[] = "cudnn-missing";
constexpr char kMain[] = "libcudnn.so.9", kOps[] = "libcudnn_ops.so.9";
constexpr char kRuntime[] = "libcudnn_engines_runtime_compiled.so.9";

Fault PartMissing(const std::string& part) {
  const std::string file = "libcudnn_" + part + ".so.9";
  return Image(part + "_missing", Cudnn([file](FaultTest& t) { t.Remove(file); }), kUnloadable,
               {file + ": cannot open"});
}

// A file that is there and no library that can be used.
Fault Unusable(const std::string& name, const std::string& slug, std::vector<std::string> named,
               const std::function<void(FaultTest&)>& spoil) {
  return Image(name, Cudnn(spoil), slug, std::move(named));
}

void ReplaceByDirectory(FaultTest& t) {
  t.Remove(kOps);
  fs::create_directory(t.libraries() + "/" + kOps);
}

void TakeCudnn8(FaultTest& t) {
  t.UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  t.TakeAll("cudnn8", t.libraries());
  t.Set("FAKE_CUDNN_CUDART", "13000");
}

void TakeCudnn8WithoutItsConvolutions(FaultTest& t) {
  TakeCudnn8(t);
  t.Remove("libcudnn_cnn_infer.so.8");
  t.Promise("image.cudnn", ">=8.8 <9");
}

// What is missing comes from the fake cuDNN behind it.
Make Completed(const std::function<void(FaultTest&)>& spoil) {
  return Machine([spoil](FaultTest& t) {
    t.TakeCudnn();
    spoil(t);
  });
}

// A full package that lost what a JIT-only one has not.
void LosePartsOfAFullWheel(FaultTest& t) {
  MakeWheel(t, "cudnn");
  const std::string site = t.gate().Path("venv/lib/python3.11/site-packages/");
  for (const char* part : {"ops", "cnn", "adv", "heuristic", "engines_precompiled"})
    fs::remove(site + "nvidia/cudnn/lib/libcudnn_" + part + ".so.9");
  fs::create_directory(site + "nvidia_cudnn_cu13-9.19.0.56.dist-info");
  t.UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
}

// As by a name that the loader finds elsewhere, "libcudnn_ops.so.9.14.0".
void OpenAnotherOnDemand(FaultTest& t) {
  t.TakeAll("cudnn_old", t.gate().Path("other"));
  t.Set("FAKE_CUDNN_OPENS", t.gate().Path("other/libcudnn_ops.so.9"));
}

// Of the same version, for another CUDA major: parts under longer names, as a system's package has them.
void OpenAnotherBuildOnDemand(FaultTest& t) {
  t.TakeAll("cudnn", t.gate().Path("other"));
  t.Set("FAKE_CUDNN_OPENS", t.gate().Path("other/libcudnn_ops.so.9"));
  t.Set("FAKE_CUDNN_CUDART", "12090");
}

void UseSubjectWithoutCudnn(FaultTest& t) {
  const std::string folder = t.gate().Path("subject");
  fs::create_directory(folder);
  fs::copy_file(FaultTest::FakeFile("cudart13", "libcudart.so.13"), folder + "/libcudart.so.13");
  t.UseSubjects("{\"mine\": \"path:" + folder + "\"}");
}

// The files are sound, and on a file system of which nothing may be executed.
bool ForbidExecution(FaultTest& t) {
  t.UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  t.TakeCudnn();
  return t.HideLoaderCache("mount --bind " + t.libraries() + " " + t.libraries() +
                           " && mount -o remount,bind,noexec " + t.libraries());
}

// Where the loader's configuration says, and its cache does not know: built without ldconfig.
bool LeaveTheCacheStale(FaultTest& t) {
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib64/"})
    if (fs::exists(folder + std::string(kMain))) return false;
  t.UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  t.TakeAll("cudnn", t.gate().Path("stale"));
  fs::create_directory(t.gate().Path("conf"));
  t.gate().Write("conf/cudnn.conf", t.gate().Path("stale") + "\n");
  return t.HideLoaderCache("mount --bind " + t.gate().Path("conf") + " /etc/ld.so.conf.d");
}

// The graph library opens a part by name that its own install lacks, and another install on the path has it.
void LackAPart(FaultTest& t) { t.Take("cudnn_opens", "libcudnn_graph.so.9"); }
void TakeAPartOfAnother(FaultTest& t) {
  LackAPart(t);
  t.UseFakes({"libcuda", "nvml", "cudart13", "nvrtc", "cudnn_tensor_ir"});
}

std::vector<Fault> Missing() {
  return Joined({
      Showing("part of cuDNN 9 missing",
              {
                  PartMissing("graph"),
                  PartMissing("ops"),
                  PartMissing("cnn"),
                  PartMissing("adv"),
                  Image("full_package_with_the_parts_of_a_jit_only_one", Alone(LosePartsOfAFullWheel),
                        kUnloadable, {"libcudnn_ops.so.9: cannot open"}),
                  Image("completed_from_another_folder", Completed([](auto& t) { t.Remove(kOps); }),
                        "cudnn-mixed-directories", {kOps}),
                  Image("part_that_says_it_is_unusable", Machine([](auto& t) {
                          t.Set("FAKE_CUDNN_FAULT", "call:cudnnCnnVersionCheck:1:3009");
                        }),
                        kUnloadable, {"cudnnCnnVersionCheck: 3009"}),
                  Image("newest_part_lacks_more_than_the_driver",
                        WithoutDriver([](auto& t) { TakeNewest(t, "more"); }), kUnloadable,
                        {"libcudart.so.12: cannot open"}),
              }),
      Showing("heuristics or engines missing",
              {
                  PartMissing("heuristic"),
                  PartMissing("engines_precompiled"),
                  PartMissing("engines_runtime_compiled"),
                  Unusable("jit_package_without_its_engines", kUnloadable, {kRuntime},
                           [](auto& t) { KeepJitParts(t), t.Remove(kRuntime); }),
              }),
      Showing("part of cuDNN 8 missing",
              {Image("cudnn_8_with_a_part_missing", Alone(TakeCudnn8WithoutItsConvolutions), kUnloadable,
                     {"libcudnn_cnn_infer.so.8: cannot open"})}),
      Showing("no cuDNN",
              {
                  Unusable("main_library_missing", kMissing, {"libcudnn.so.9: cannot open"},
                           [](auto& t) { t.Remove(kMain); }),
                  FixedBy(Image("cache_of_the_loader_not_made", LeaveTheCacheStale, kMissing,
                                {"libcudnn.so.9: cannot open"}),
                          "RUN ldconfig"),
                  Image("subject_without_cudnn_of_its_own", Machine(UseSubjectWithoutCudnn), kMissing,
                        {"/subject", "/libcudnn.so.9.19.0"}),
              }),
  });
}

std::vector<Fault> Damaged() {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'a');
  return Joined({
      Showing("truncated file",
              {
                  Unusable("part_empty", kUnloadable, {"/libcudnn_ops.so.9 is empty (0 bytes)"},
                           [](auto& t) { t.WriteLibrary(kOps, ""); }),
                  Unusable("part_truncated", kUnloadable, {"/libcudnn_ops.so.9 is truncated: "},
                           [](auto& t) { t.Halve(kOps); }),
                  Unusable("main_library_truncated", kUnloadable, {"/libcudnn.so.9 is truncated"},
                           [](auto& t) { t.Halve(kMain); }),
                  Image("newest_part_truncated_without_a_driver",
                        WithoutDriver([](auto& t) { TakeNewest(t), t.Halve(kRuntime); }), kUnloadable,
                        {"is truncated"}),
              }),
      Showing(
          "unusable file",
          {
              Unusable("part_is_text", kUnloadable, {"/libcudnn_ops.so.9 (200 bytes)", "ELF"},
                       [](auto& t) { t.WriteLibrary(kOps, std::string(200, 'x')); }),
              Unusable("part_is_git_lfs_pointer", kUnloadable, {"git-lfs"},
                       [pointer](auto& t) { t.WriteLibrary(kOps, pointer); }),
              Unusable("part_of_another_machine", kUnloadable, {"/libcudnn_ops.so.9", "aarch64", "x86-64"},
                       [](auto& t) { t.Patch(kOps, 18, kForeignMachine); }),
              Unusable("part_of_32_bit", kUnloadable, {"/libcudnn_ops.so.9 is a 32-bit library"},
                       [](auto& t) { t.Patch(kOps, 4, 1); }),
              Unusable("part_dangling", kUnloadable, {"/libcudnn_ops.so.9", "nowhere/libcudnn_ops.so.9"},
                       [](auto& t) { t.Dangle(kOps); }),
              Unusable("part_is_a_directory", kUnloadable, {"/libcudnn_ops.so.9", "regular file"},
                       ReplaceByDirectory),
              Unusable("main_library_dangling", kMissing, {"/libcudnn.so.9", "nowhere/libcudnn.so.9"},
                       [](auto& t) { t.Dangle(kMain); }),
              Unusable("main_library_of_another_machine", kMissing, {"/libcudnn.so.9", "aarch64", "x86-64"},
                       [](auto& t) { t.Patch(kMain, 18, kForeignMachine); }),
              Image("folder_that_nothing_may_be_run_from", ForbidExecution, kUnloadable, {"map segment"}),
          }),
  });
}

std::vector<Fault> Mixtures() {
  return Joined({
      Showing("mixed cuDNN versions",
              {
                  Image("part_of_another_version", Cudnn([](auto& t) { t.Take("cudnn_old", kOps); }),
                        "cudnn-mixed-versions", {"9.14.0 (", "9.19.0 ("}),
                  Image("foreign_part_completed_from_another_folder",
                        Completed([](auto& t) { t.Patch(kOps, 18, kForeignMachine); }),
                        "cudnn-mixed-directories", {"/libcudnn_ops.so.9", "aarch64", "x86-64"}),
                  Image("parts_say_that_versions_differ", Machine([](auto& t) {
                          t.Set("FAKE_CUDNN_FAULT", "call:cudnnOpsVersionCheck:1:1002");
                        }),
                        "cudnn-mixed-versions", {"cudnnOpsVersionCheck: 1002"}),
                  Image("part_of_another_folder_says_that_versions_differ", Machine([](auto& t) {
                          OpenAnotherOnDemand(t);
                          t.Set("FAKE_CUDNN_FAULT", "call:cudnnOpsVersionCheck:1:1002");
                        }),
                        "cudnn-mixed-versions", {"cudnnOpsVersionCheck: 1002", "; loaded: ", "/other:"}),
                  Image("part_that_only_another_install_has", Cudnn(TakeAPartOfAnother),
                        "cudnn-mixed-directories", {"9.19.0", "libcudnn_engines_tensor_ir.so.9", "9.28.0"}),
              }),
      Showing("another library under cuDNN's name",
              {
                  Image("heuristic_is_another_library",
                        Cudnn([](auto& t) { t.TakeAs("libcudnn_cnn.so.9", "libcudnn_heuristic.so.9"); }),
                        "cudnn-other-library", {"/libcudnn_heuristic.so.9 is libcudnn_cnn.so.9"}),
                  Image("engines_are_another_library_beside_a_whole_install", Machine([](auto& t) {
                          t.TakeCudnn();
                          t.TakeAs("libcudnn_cnn.so.9", "libcudnn_engines_precompiled.so.9");
                        }),
                        "cudnn-other-library", {"/libcudnn_engines_precompiled.so.9 is libcudnn_cnn.so.9"}),
              }),
      Showing("file under a longer name",
              {Image("part_of_another_folder_loaded_on_demand", Machine(OpenAnotherOnDemand),
                     "cudnn-mixed-directories", {"loaded: ", "/other:"}),
               Image("part_of_a_build_for_another_cuda_major", Machine(OpenAnotherBuildOnDemand),
                     "cudnn-mixed-directories", {"CUDA 12", "toolkit 13.0", "/other:"})}),
      Showing(
          "cuDNN outside the promise",
          {
              Image("outside_the_contract", Machine([](auto& t) { t.Promise("image.cudnn", ">=9.20 <10"); }),
                    "cudnn-outside-contract", {"cuDNN 9.19.0 found, >=9.20 <10 promised"}),
              Image("cudnn_8_where_9_is_promised", Alone(TakeCudnn8), "cudnn-outside-contract",
                    {"cuDNN 8.9.7 found, >=9.12 <10 promised"}),
              Image("subject_with_cudnn_8_where_9_is_promised",
                    Machine([](auto& t) { MakeWheel(t, "cudnn8"); }), "cudnn-outside-contract",
                    {"cuDNN 8.9.7 found", "site-packages/nvidia/cudnn/lib/libcudnn.so.8"}),
              Image("absent_promised", Machine([](auto& t) { t.Promise("image.cudnn", "absent"); }),
                    "cudnn-not-promised", {"/libcudnn.so.9"}),
          }),
      Showing("cuDNN for another CUDA major",
              {Image("for_another_cuda_major", Machine([](auto& t) { t.Set("FAKE_CUDNN_CUDART", "12090"); }),
                     "cudnn-flavour-mismatch", {"CUDA 12", "toolkit 13.0"})}),
      Showing("GPU that this cuDNN does not support",
              {Image("gpu_older_than_this_cudnn_supports",
                     Machine([](auto& t) { t.Set("FAKE_CC", "7.0"), t.StaticOnly(); }),
                     "cudnn-gpu-unsupported", {"cuDNN 9.19.0", "CUDA 13", "7.5", "NVIDIA Fake 0 has 7.0"})}),
      Showing("GPU newer than cuDNN",
              {Sound("gpu_newer_than_this_cudnn", Machine([](auto& t) { t.Set("FAKE_CC", "13.0"); }),
                     "gpu-newer-than-cudnn")}),
      Showing("release that is known to be wrong",
              {Sound("release_that_is_known_to_be_wrong",
                     Machine([](auto& t) { t.Set("FAKE_CUDNN_VERSION", "91400"); }), "known-regression")}),
      Showing("part that no install has",
              {Sound("part_that_no_install_has", Cudnn(LackAPart), "cudnn-part-lacking")}),
  });
}

std::vector<Fault> Useless() {
  return Joined({
      Showing("heuristics or engines of no use",
              {
                  Image("heuristics_that_give_nothing",
                        Machine([](auto& t) { t.Set("FAKE_CUDNN_CONFIGURATIONS", "18/0"); }),
                        "cudnn-no-plans", {"18"}),
                  Image("heuristics_that_cannot_be_asked",
                        Machine([](auto& t) { t.Set("FAKE_CUDNN_FINALIZE", "4:1008"); }),
                        "cudnn-plans-failed", {"cudnnBackendFinalize(heuristics): 1008"}),
              }),
      Showing("cuDNN that does not initialise",
              {
                  Image("handle_cannot_be_created",
                        Machine([](auto& t) { t.Set("FAKE_CUDNN_FAULT", "call:cudnnCreate:1:1001"); }),
                        "cudnn-init-failed", {"1001"}),
                  Image("handle_of_a_second_thread_cannot_be_created",
                        Machine([](auto& t) { t.Set("FAKE_CUDNN_FAULT", "call:cudnnCreate:8:1001"); }),
                        "cudnn-init-failed", {"thread", "1001"}),
              }),
      Showing("handles that leave memory behind",
              {Sound("handles_that_leave_memory_behind",
                     Machine([](auto& t) { t.Set("FAKE_CUDNN_LEAK_KB", "2048"); }), "cudnn-handle-leak")}),
  });
}

INSTANTIATE_TEST_SUITE_P(CudnnMissing, FaultTableTest, ::testing::ValuesIn(Missing()), NameOfFault);
INSTANTIATE_TEST_SUITE_P(CudnnDamaged, FaultTableTest, ::testing::ValuesIn(Damaged()), NameOfFault);
INSTANTIATE_TEST_SUITE_P(CudnnUseless, FaultTableTest, ::testing::ValuesIn(Useless()), NameOfFault);
INSTANTIATE_TEST_SUITE_P(CudnnMixtures, FaultTableTest, ::testing::ValuesIn(Mixtures()), NameOfFault);

}  // namespace
}  // namespace cudnn_ci
