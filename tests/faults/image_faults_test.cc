// Images whose libraries do not fit the cards or the driver, made byte by byte.
#include <filesystem>

#include "fatbin_maker.h"
#include "fault_machines.h"
#include "image_environment.h"

namespace cudnn_ci {
namespace {

// An environment with these libraries, judged for two cards and the driver of CUDA 13.0.
Make Libraries(const std::vector<std::pair<std::string, std::string>>& files,
               const std::string& record = "") {
  return With(
      R"({"check": "image.device_code", "params": {"gpus": ["8.0", "9.0"]}, "allow_skip": ["absent"]})",
      [files, record](FaultTest& t) {
        const ImageEnvironment environment(t.gate().Path("env"), {"mine-1.0"});
        for (const auto& [name, bytes] : files)
          environment.Write(ImageEnvironment::Site() + "mine/" + name, bytes);
        environment.Write(ImageEnvironment::Site() + "mine-1.0.dist-info/RECORD", record);
        t.Promise("runner.driver", ">=580.65.06");
        t.UseSubjects(environment.Subject());
      });
}

std::string Sass(const std::vector<std::uint32_t>& architectures) {
  std::vector<made::Entry> entries;
  for (const std::uint32_t architecture : architectures) entries.push_back(made::Sass(architecture));
  return made::Library({entries});
}
std::string Ptx(std::uint16_t major, std::uint16_t minor) {
  return made::Library({{made::Sass(80), made::PtxEntry(80, major, minor)}});
}
// So many modules that compiling them takes a while.
std::string ManyPtx(std::uint16_t major, std::uint16_t minor) {
  std::vector<made::Entry> entries = {made::Sass(80)};
  entries.insert(entries.end(), 16, made::PtxEntry(80, major, minor));
  return made::Library({entries});
}
// What nvcc makes of sources without a kernel.
std::string WithoutKernel() {
  made::Entry entry = made::Sass(75);
  entry.body = made::EmptyCubin();
  return made::Library({{entry}});
}

// Beside a sound library, a package whose list of files is no file.
Make WithoutRecord() {
  const Make libraries = Libraries({{"liba.so", Sass({80, 90})}});
  return [libraries](FaultTest& t) {
    std::filesystem::create_directories(
        t.gate().Path("env/" + ImageEnvironment::Site() + "other-1.0.dist-info/RECORD"));
    return libraries(t);
  };
}

std::vector<Fault> DeviceCode() {
  return Joined({
      Showing("library without code for the card",
              {
                  Image("device_code_of_an_older_major", Libraries({{"liba.so", Sass({75, 80, 86})}}),
                        "device-code-missing", {"/liba.so has SASS 75 80 86; nothing for 9.0"}),
                  Image("device_code_of_later_minors", Libraries({{"liba.so", Sass({86, 90})}}),
                        "device-code-missing", {"nothing for 8.0"}),
                  Image("device_code_of_an_architecture_alone",
                        Libraries({{"liba.so", made::Library({{made::Sass(90, 0x100011)}})}}),
                        "device-code-missing", {"SASS 90a; nothing for 8.0"}),
              }),
      Showing("PTX newer than the driver",
              {Image("ptx_of_a_newer_toolkit", Libraries({{"liba.so", Ptx(9, 4)}}), "device-code-ptx-too-new",
                     {"PTX 80 (9.4); only PTX for 9.0", "compiles PTX up to 9.0 (CUDA 13.0)"})}),
      Showing(
          "GPUs that are supported only in part",
          {Sound("package_for_an_architecture_alone",
                 Libraries({{"liba.so", made::Library({{made::Sass(86, 0x100011)}})}}, "mine/liba.so,,\n"),
                 "device-code-for-other-cards"),
           Sound("ptx_of_an_older_toolkit", Libraries({{"liba.so", ManyPtx(8, 7)}}),
                 "device-code-compiled-at-start")}),
      Showing("device code that cannot be tested",
              {Sound("kernels_elsewhere",
                     Libraries({{"liba.so", Sass({80, 90})}, {"libfft.so", WithoutKernel()}}),
                     "device-code-not-judged"),
               Sound("device_code_cut_off",
                     Libraries({{"liba.so", Sass({80, 90})},
                                {"libcut.so", made::Elf(ET_DYN, EM_X86_64,
                                                        {{".nv_fatbin",
                                                          made::Fatbin({made::Sass(80)}).substr(0, 200)}})}}),
                     "device-code-unreadable")}),
      Showing("records of a package that cannot be read",
              {Sound("record_is_a_folder", WithoutRecord(), "contents-unreadable")}),
  });
}

INSTANTIATE_TEST_SUITE_P(DeviceCode, FaultTableTest, ::testing::ValuesIn(DeviceCode()), NameOfFault);

}  // namespace
}  // namespace cudnn_ci
