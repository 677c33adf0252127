// Drivers that are missing, broken, too old, of two versions or not allowed to be used, and GPUs that cannot
// be used; what is only worth knowing; and healthy machines that look odd. All of fakes, with scripted
// answers.
#include <filesystem>

#include "fault_machines.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using Variables = std::vector<std::pair<std::string, std::string>>;

void SetAll(FaultTest& t, const Variables& variables) {
  for (const auto& [name, value] : variables) t.Set(name, value);
}

// A machine that is healthy but for what these variables of the fakes, or of the user, say.
Make Says(const Variables& variables) {
  return Machine([variables](FaultTest& t) { SetAll(t, variables); });
}

// The same, of a driver's version.
Make SaysVersion(const Variables& variables, const std::string& promised = "") {
  return WithoutModule([variables, promised](FaultTest& t) {
    SetAll(t, variables);
    if (!promised.empty()) t.Promise("runner.driver", promised);
  });
}

Make Promises(const std::string& key, const std::string& range, const Variables& variables = {}) {
  return Machine([=](FaultTest& t) {
    SetAll(t, variables);
    t.Promise(key, range);
  });
}

// The driver's library lies where a container runtime put it, and the loader does not look there.
Make LibraryIn(const std::string& folder) {
  return WithoutLibcuda(
      [](FaultTest& t) {
        fs::create_directory(t.gate().Path("mounted"));
        fs::copy_file(FaultTest::FakeFile("libcuda", "libcuda.so.1"), t.gate().Path("mounted/libcuda.so.1"));
      },
      [folder](FaultTest& t) {
        const std::string parent = fs::path(folder).parent_path().string();
        const std::string above = fs::path(parent).parent_path().string();
        return "mount -t tmpfs none " + above + " && mkdir -p " + folder + " && mount --bind " +
               t.gate().Path("mounted") + " " + folder;
      });
}

// One file of the driver is mounted over a placeholder by this name, and no link leads to it.
Make MountedAs(const std::string& fake, const std::string& name) {
  return WithoutLibcuda([](FaultTest&) {},
                        [=](FaultTest& t) {
                          t.gate().Write(name, "");
                          return "mount --bind " +
                                 FaultTest::FakeFile(fake,
                                                     fake == "nvml" ? "libnvidia-ml.so.1" : "libcuda.so.1") +
                                 " " + t.gate().Path(name);
                        });
}

void UseCompat(FaultTest& t, const std::string& version) {
  fs::create_directories(t.libraries() + "/compat");
  fs::copy_file(FaultTest::FakeFile("libcuda", "libcuda.so.1"),
                t.libraries() + "/compat/libcuda.so." + version);
  fs::create_symlink("compat/libcuda.so." + version, t.libraries() + "/libcuda.so.1");
}

// A compat library of this version over driver 580.65.06, and what cuInit says.
Make SaysCompat(const std::string& version, const std::string& code) {
  return WithoutModule([=](FaultTest& t) {
    UseCompat(t, version);
    SetAll(t, {{"FAKE_NVML_DRIVER", "580.65.06"}, {"FAKE_CUINIT", code}});
  });
}

void PutStubFirst(FaultTest& t) {
  fs::create_directory(t.libraries() + "/stubs");
  fs::copy_file(FaultTest::FakeFile("libcuda", "libcuda.so.1"), t.libraries() + "/stubs/libcuda.so");
  fs::create_symlink("stubs/libcuda.so", t.libraries() + "/libcuda.so.1");
}

bool LoadAnotherModule(FaultTest& t) {
  return WithoutModule([](FaultTest&) {})(t) &&
         t.HideLoaderCache(
             "mount -t tmpfs none /sys/module && mkdir /sys/module/nvidia && "
             "echo 470.82.01 >/sys/module/nvidia/version");
}

// The host's library is mounted as a container runtime does it, and the image has one of its own in front.
bool PutOwnBeforeTheHosts(FaultTest& t) {
  t.Take("libcuda", "libcuda.so.1");
  t.gate().Write("libcuda.so.580.95.05", "");
  return t.HideLoaderCache("mount --bind " + FaultTest::FakeFile("libcuda", "libcuda.so.1") + " " +
                           t.gate().Path("libcuda.so.580.95.05"));
}

// The same, and the matrix names it.
bool PutOwnAsAllowed(FaultTest& t) {
  t.gate().Write("allowed.json", R"({"schema": "cudnn-ci/matrix/1", "name": "allowed", "checks": [],
    "image": {"allow_driver_library": ["*/libcuda.so.1"]}})");
  t.Extend("allowed.json");
  return PutOwnBeforeTheHosts(t);
}

// The host's driver is a folder that is mounted, as on GKE; the image names its own folder alone.
bool PutOwnBeforeAFolder(FaultTest& t) {
  t.Take("libcuda_old", "libcuda.so.1");
  const std::string hosts = FaultTest::FakeFile("libcuda", "libcuda.so.1");
  return t.HideLoaderCache("mount -t tmpfs none /run && mkdir -p /run/opengl-driver/lib && mount --bind " +
                           hosts.substr(0, hosts.rfind('/')) + " /run/opengl-driver/lib");
}

// Nothing of a driver was given to the container: an old one of the image's is all there is, and it is not
// the runner that is too old.
bool LeaveOwnAlone(FaultTest& t) {
  if (fs::exists("/dev/nvidiactl") || fs::exists("/dev/dxg") || fs::exists("/dev/nvmap")) return false;
  return WithoutModule([](FaultTest& m) {
           m.UseFakes({"cudart13", "nvrtc", "cudnn"});
           m.Take("libcuda_old", "libcuda.so.1");
           m.Promise("runner.driver", ">=580");
           m.Set("FAKE_DRIVER_VERSION", "12020");
           m.Set("FAKE_CUINIT", "100");
         })(t) &&
         t.HideLoaderCache("mount -t tmpfs none /run && : >/run/.containerenv");
}

bool LimitFiles(FaultTest& t) {
  t.gate().Before({"sh", "-c", "ulimit -n 40 && exec \"$@\"", "--"});
  return true;
}

// More than the gate needs, and less than CUDA does.
Make LimitAddresses(const Variables& variables) {
  return [variables](FaultTest& t) {
    if (kSanitized) return false;
    t.gate().Before({"sh", "-c", "ulimit -v 67108864 && exec \"$@\"", "--"});
    return Says(variables)(t);
  };
}

bool PreloadAnotherSend(FaultTest& t) {
  if (kSanitized) return false;  // whose own comes first
  return Says({{"LD_PRELOAD", CUDNN_CI_FIXTURES "/preload/libinterpose_send.so"}})(t);
}

// The cluster mounts a list over /etc/ld.so.preload, of which this machine has a folder of its own.
bool MountList(FaultTest& t, const std::string& line) {
  if (kSanitized) return false;
  t.gate().Write("list", line + "\n");
  return t.HideLoaderCache("mkdir " + t.gate().Path("etc") + " && mount --rbind /etc " +
                           t.gate().Path("etc") + " && mount -t tmpfs none /etc && cp -a " +
                           t.gate().Path("etc") +
                           "/. /etc/ 2>/dev/null; : >/etc/ld.so.preload && mount --bind " +
                           t.gate().Path("list") + " /etc/ld.so.preload");
}

bool MountAnotherSend(FaultTest& t) {
  return MountList(t, CUDNN_CI_FIXTURES "/preload/libinterpose_send.so");
}

bool MountAFolder(FaultTest& t) {
  fs::create_directory(t.gate().Path("libvgpu.so"));
  return MountList(t, t.gate().Path("libvgpu.so"));
}

// The kernel's module is of the version that the fakes have, and NVML says another.
bool LieAsNvml(FaultTest& t) {
  return WithoutModule([](FaultTest& m) { m.gate().Set("FAKE_NVML_DRIVER", "580.95.05"); })(t) &&
         t.HideLoaderCache(
             "mount -t tmpfs none /sys/module && mkdir /sys/module/nvidia && "
             "echo 580.65.06 >/sys/module/nvidia/version");
}

std::vector<Fault> Libraries() {
  const std::string off_path = "driver-library-off-path";
  return Joined({
      Showing(
          "no driver library",
          {Runner("libcuda_missing", WithoutLibcuda([](auto& t) { t.Set("NVIDIA_VISIBLE_DEVICES", "void"); }),
                  "driver-library-missing", {"libcuda.so.1: cannot open", "NVIDIA_VISIBLE_DEVICES='void'"})}),
      Showing("driver library off the loader's path",
              {
                  Image("libcuda_where_kubernetes_puts_it", LibraryIn("/usr/local/nvidia/lib64"), off_path,
                        {"libcuda.so.1: cannot open", "/usr/local/nvidia/lib64/libcuda.so.1 exists"}),
              }),
      Showing("driver library without its link",
              {
                  Runner("libcuda_mounted_without_its_link", MountedAs("libcuda", "libcuda.so.535.183.01"),
                         "driver-link-missing", {"/libcuda.so.535.183.01 is mounted", "`ldconfig "}),
              }),
      Showing("damaged driver library",
              {
                  Runner("libcuda_truncated",
                         Machine([](auto& t) { t.Take("libcuda", "libcuda.so.1"), t.Halve("libcuda.so.1"); }),
                         "driver-library-unloadable", {"/libcuda.so.1 is truncated: "}),
                  Runner("libcuda_is_text",
                         Machine([](auto& t) { t.WriteLibrary("libcuda.so.1", std::string(100, 'x')); }),
                         "driver-library-unloadable", {"invalid ELF header"}),
              }),
      Showing("driver without its compute part",
              {Runner("nvml_alone_is_mounted", MountedAs("nvml", "libnvidia-ml.so.535.183.01"),
                      "driver-compute-not-mounted", {"/libnvidia-ml.so.535.183.01 is mounted"}),
               Runner("utility_capability_alone", WithoutLibcuda([](auto& t) {
                        t.UseFakes({"nvml", "cudart13", "nvrtc", "cudnn"});
                        t.Set("NVIDIA_DRIVER_CAPABILITIES", "utility");
                      }),
                      "driver-compute-not-mounted", {"NVIDIA_DRIVER_CAPABILITIES='utility'"})}),
      Showing("stub in the driver's place",
              {
                  Image("stub_first_on_the_path", Machine(PutStubFirst), "driver-stub-library",
                        {"/stubs/libcuda.so", "LD_LIBRARY_PATH"}),
                  Image("stub_by_its_answer", Says({{"FAKE_STUB", "1"}}), "driver-stub-library",
                        {"libcuda.so.1"}),
              }),
      Showing("driver library of the image",
              {Image("libcuda_of_the_image", PutOwnBeforeTheHosts, "driver-library-of-image",
                     {"/libcuda.so.1", "/libcuda.so.580.95.05 is mounted"}),
               Image("libcuda_of_the_image_for_a_mounted_folder", PutOwnBeforeAFolder,
                     "driver-library-of-image", {"/libcuda.so.1", "/run/opengl-driver/lib/libcuda.so"})}),
      Showing("driver library of the image without a driver",
              {Image("libcuda_of_the_image_alone", LeaveOwnAlone, "driver-of-image-alone",
                     {"/libcuda.so.1", "/dev/nvidiactl"})}),
      Showing("NVML of the image", {Sound("nvml_of_the_image", LieAsNvml, "nvml-of-image")}),
      Showing("library that the cluster preloads",
              {Runner("send_of_the_cluster", MountAnotherSend, "runner-preload-interposes",
                      {"/etc/ld.so.preload", "send"})}),
      Showing("another library that the cluster preloads",
              {Sound("folder_of_the_cluster", MountAFolder, "runner-preloaded")}),
      Showing("preloaded library in the C library's place",
              {Image("send_of_the_image", PreloadAnotherSend, "preload-interposes",
                     {"libinterpose_send.so", "send"})}),
      Showing("compat library that does not fit",
              {
                  Image("compat_older_than_the_driver", SaysCompat("570.26", "803"), "driver-compat-mismatch",
                        {"cuInit: 803", "compat library 570.26 on driver 580.65.06"}),
                  Image("compat_on_a_gpu_that_takes_none", SaysCompat("590.10", "804"),
                        "driver-compat-mismatch", {"cuInit: 804", "/compat/libcuda.so.590.10 is used"}),
              }),
  });
}

std::vector<Fault> Versions() {
  return Joined({
      Showing("driver too old",
              {
                  Runner("driver_below_the_promise",
                         SaysVersion({{"FAKE_NVML_DRIVER", "470.82.01"}, {"FAKE_DRIVER_VERSION", "11040"}},
                                     ">=525.60.13"),
                         "driver-below-contract", {"driver 470.82.01 found, >=525.60.13 promised"}),
                  Image("driver_of_an_older_cuda_major",
                        SaysVersion({{"FAKE_NVML_DRIVER", "570.26"}, {"FAKE_DRIVER_VERSION", "12080"}},
                                    ">=525.60.13"),
                        "driver-too-old-for-toolkit", {"CUDA 12.8", "toolkit is 13.0"}),
                  Image("driver_below_the_floor_of_its_major", WithoutModule([](auto& t) {
                          SetAll(t, {{"FAKE_NVML_DRIVER", "525.53"},
                                     {"FAKE_DRIVER_VERSION", "12000"},
                                     {"FAKE_CUDART_VERSION", "12080"}});
                          PromiseTwelve(t);
                        }),
                        "driver-too-old-for-toolkit", {"driver 525.60.13 or later"}),
                  Runner("driver_below_what_the_image_requires",
                         SaysVersion({{"FAKE_NVML_DRIVER", "570.26"},
                                      {"FAKE_DRIVER_VERSION", "12080"},
                                      {"NVIDIA_REQUIRE_CUDA", "cuda>=13.0"}}),
                         "image-requirement-unsatisfied", {"NVIDIA_REQUIRE_CUDA='cuda>=13.0'"}),
              }),
      Showing("two driver versions",
              {
                  Runner("nvml_says_that_versions_differ", Says({{"FAKE_NVML_INIT", "18"}}),
                         "driver-module-mismatch", {"nvmlInit: 18"}),
                  Runner("module_of_another_version", LoadAnotherModule, "driver-module-mismatch",
                         {"kernel module 470.82.01, user library "}),
              }),
      Showing("GPU outside the promise",
              {Runner("gpu_older_than_promised",
                      Promises("runner.compute_capability", ">=7.0", {{"FAKE_CC", "6.1"}}),
                      "compute-capability-outside-contract", {"6.1", ">=7.0"})}),
      Showing("limits of the container",
              {Runner("few_open_files", LimitFiles, "worker-not-started", {"open files"})}),
  });
}

std::vector<Fault> Devices() {
  const std::string unusable = "uvm-node-unusable";
  return Joined({
      Showing("no visible GPU",
              {
                  Runner("visible_devices_minus_one", Says({{"CUDA_VISIBLE_DEVICES", "-1"}}),
                         "no-visible-device", {"CUDA_VISIBLE_DEVICES='-1'", "entry: '-1'"}),
                  Runner("visible_devices_beyond_the_last",
                         Says({{"CUDA_VISIBLE_DEVICES", "7"}, {"FAKE_DEVICE_COUNT", "2"}}),
                         "no-visible-device", {"entry: '7'", "NVML sees 2 GPU(s)"}),
                  Runner("visible_devices_of_another_machine",
                         Says({{"CUDA_VISIBLE_DEVICES", "GPU-00000000-1111-2222-3333-444444444444"}}),
                         "no-visible-device", {"entry: 'GPU-00000000-"}),
                  Runner("fewer_gpus_than_promised", Promises("runner.gpus", ">=2"), "too-few-gpus",
                         {"1 GPU(s) visible, >=2 promised"}),
              }),
      Showing("GPU nodes that may not be opened",
              {Runner("nodes_denied",
                      WithNodes({}, {"nvidiactl", "nvidia0"}, [](auto& t) { t.Set("FAKE_CUINIT", "100"); }),
                      "device-node-denied", {"/dev/nvidiactl", "Permission denied"})}),
      Showing(
          "uvm node unusable",
          {
              Runner("uvm_node_missing",
                     WithNodes({"nvidiactl", "nvidia0"}, {}, [](auto& t) { t.Set("FAKE_CUINIT", "999"); }),
                     unusable, {"cuInit: 999", "/dev/nvidia-uvm missing"}),
              Runner("uvm_node_denied",
                     WithNodes({"nvidiactl", "nvidia0"}, {"nvidia-uvm"},
                               [](auto& t) { t.Set("FAKE_CUINIT", "999"); }),
                     unusable, {"/dev/nvidia-uvm", "Permission denied"}),
              Runner("unknown_error",
                     WithNodes({"nvidiactl", "nvidia0", "nvidia-uvm"}, {},
                               [](auto& t) { t.Set("FAKE_CUINIT", "999"); }),
                     "driver-unknown-error", {"cuInit: 999", "/dev/nvidia-uvm present"}),
          }),
      Showing("MIG without an instance",
              {Runner("mig_without_instance", Says({{"FAKE_CUINIT", "100"}, {"FAKE_MIG", "1"}}),
                      "mig-without-instance", {"cuInit: 100"})}),
      Showing("MPS server unreachable",
              {Runner("mps_server_unreachable",
                      Says({{"FAKE_CUINIT", "805"}, {"CUDA_MPS_PIPE_DIRECTORY", "/nonexistent/mps"}}),
                      "mps-unreachable", {"CUDA_MPS_PIPE_DIRECTORY='/nonexistent/mps'"})}),
      Showing("NVLink fabric not ready",
              {Runner("fabric_stays_unready", Says({{"FAKE_CUINIT", "802"}}), "fabric-not-ready", {"30 s"})}),
      Showing("driver that does not initialise",
              {
                  Runner("initialisation_error", Says({{"FAKE_CUINIT", "3"}}), "driver-init-failed",
                         {"cuInit: 3"}),
                  Runner("call_that_the_sandbox_refuses", Says({{"FAKE_CUINIT", "304"}}),
                         "driver-init-failed", {"cuInit: 304"}),
                  Runner("address_space_limited", LimitAddresses({{"FAKE_CUINIT", "2"}}),
                         "driver-init-failed", {"cuInit: 2", "65536 MiB (ulimit -Hv)"}),
              }),
  });
}

std::vector<Fault> Gpus() {
  return Joined({
      Showing("GPU busy",
              {
                  Runner("gpu_busy", Says({{"FAKE_CUINIT", "46"}, {"FAKE_PROCESSES", "4711:300"}}),
                         "device-busy", {"cuInit: 46", "4711"}),
                  Runner("gpu_that_another_has_to_himself",
                         Says({{"FAKE_CONTEXT", "46"}, {"FAKE_COMPUTE_MODE", "3"}}), "device-busy",
                         {"exclusive_process"}),
              }),
      Showing(
          "device memory held by others",
          {
              Runner("memory_held",
                     Says({{"FAKE_CONTEXT", "2"}, {"FAKE_FREE_MB", "300"}, {"FAKE_PROCESSES", "4711:79000"}}),
                     "device-memory-held", {"300 MiB", "process 4711: 79000 MiB"}),
              Runner("memory_too_little_for_a_handle",
                     Says({{"FAKE_CUDNN_FAULT", "call:cudnnCreate:1:1001"}, {"FAKE_FREE_MB", "300"}}),
                     "cudnn-init-out-of-memory", {"cudnnCreate: 1001", "MiB free of "}),
          }),
      Showing(
          "GPU that does not compute",
          {
              Runner("canary_is_wrong", Says({{"FAKE_WRONG_KERNEL", "cudnn_ci_canary"}}), "canary-failed",
                     {"1 of 1048653"}),
              Runner("canary_cannot_be_launched", Says({{"FAKE_CUDA_FAULT", "call:cuLaunchKernel:1:719"}}),
                     "canary-failed", {"cuLaunchKernel: 719 CUDA_ERROR_LAUNCH_FAILED"}),
          }),
  });
}

std::vector<Fault> WorthKnowing() {
  const std::string xid = "6,1,1,-;NVRM: Xid (PCI:0000:10:00): 48, pid=1, a double bit error\n";
  return Joined({
      Showing("hardware errors",
              {
                  Sound("uncorrected_errors", Says({{"FAKE_ECC", "2"}}), "uncorrected-memory-errors"),
                  Sound("repair_pending", Says({{"FAKE_REPAIR", "2"}}), "memory-repair-pending"),
                  Sound("xid_in_the_kernels_log",
                        WithNodes(
                            {"nvidiactl", "nvidia0", "nvidia-uvm"}, {}, [](auto&) {}, xid),
                        "xid-logged"),
              }),
      Showing("modes of the GPU",
              {
                  Sound("persistence_off", Says({{"FAKE_PERSISTENCE", "0"}}), "persistence-off"),
                  Sound("exclusive_mode", Says({{"FAKE_COMPUTE_MODE", "3"}}), "exclusive-compute-mode"),
                  Sound("mig_pending", Says({{"FAKE_MIG_PENDING", "1"}}), "mig-mode-pending"),
              }),
      Showing("fabric that was slow", {Sound("fabric_gets_ready", Machine([](auto& t) {
                                               SetAll(t, {{"FAKE_CUINIT", "802"},
                                                          {"FAKE_CUINIT_FOR_S", "2"},
                                                          {"FAKE_CUINIT_MARK", t.gate().Path("mark")}});
                                             }),
                                             "fabric-was-slow")}),
      Showing("list of GPUs that is cut",
              {Sound("visible_list_with_a_bad_end", Says({{"CUDA_VISIBLE_DEVICES", "0,7"}}),
                     "visible-devices-cut")}),
      Showing("image that asks for too much",
              {Sound("image_requires_more", SaysVersion({{"NVIDIA_REQUIRE_CUDA", "cuda>=13.9"}}, ">=450"),
                     "image-requires-more-than-it-needs")}),
      Showing("newer than the version table",
              {Sound("driver_newer_than_the_table",
                     SaysVersion({{"FAKE_NVML_DRIVER", "700.10.01"}, {"FAKE_DRIVER_VERSION", "14000"}}),
                     "newer-than-version-table")}),
      Showing("compat library that works", {Sound("compat_older_than_the_driver_that_works",
                                                  SaysCompat("570.26", "0"), "driver-compat-unsupported")}),
      Showing("driver library that the matrix allows",
              {Sound("libcuda_of_the_image_that_is_meant", PutOwnAsAllowed, "driver-library-allowed")}),
      Showing("variables left from debugging",
              {
                  Sound("launches_that_block", Says({{"CUDA_LAUNCH_BLOCKING", "1"}}), "debugging-variables"),
                  Sound("kernels_compiled_anew", Says({{"CUDA_FORCE_PTX_JIT", "1"}}), "debugging-variables"),
                  Sound("log_of_cudnn", Says({{"CUDNN_LOGLEVEL_DBG", "3"}}), "debugging-variables"),
              }),
      Showing("compute cache unusable",
              {
                  Sound("cache_switched_off", Says({{"CUDA_CACHE_DISABLE", "1"}}), "compute-cache-unusable"),
                  Sound("cache_that_cannot_be_written", Says({{"CUDA_CACHE_PATH", "/dev/null/cache"}}),
                        "compute-cache-unusable"),
              }),
  });
}

Make OnToolkit12(const Variables& variables) {
  return WithoutModule([variables](FaultTest& t) {
    t.UseFakes({"libcuda", "nvml", "cudart12", "nvrtc12", "cudnn"});
    PromiseTwelve(t);
    t.Promise("runner.driver", ">=525.60.13");
    SetAll(t, variables);
  });
}

std::vector<Fault> SoundMachines() {
  return Joined({
      Showing("no NVML",
              {
                  Sound("without_nvml", Machine([](auto& t) {
                          t.UseFakes({"libcuda", "cudart13", "nvrtc", "cudnn"});
                        })),
                  Sound("nvml_that_fails", Says({{"FAKE_NVML_INIT", "999"}})),
              }),
      Showing("driver newer than the toolkit",
              {Sound("driver_newer_than_the_toolkit", OnToolkit12({{"FAKE_DRIVER_VERSION", "13000"}}))}),
      Showing("minor-version compatibility", {Sound("toolkit_newer_than_the_driver_inside_a_major",
                                                    OnToolkit12({{"FAKE_NVML_DRIVER", "535.54.03"},
                                                                 {"FAKE_DRIVER_VERSION", "12020"},
                                                                 {"FAKE_OLD_DRIVER", "1"}}))}),
      Showing("slices of a GPU", {Sound("mig_instances", Says({{"FAKE_NAME", "NVIDIA H200 MIG 1g.18gb"},
                                                               {"FAKE_MIG", "1"},
                                                               {"FAKE_MIG_INSTANCES", "7"}}))}),
      Showing("unusual variables",
              {Sound("visible_by_uuid",
                     Says({{"CUDA_VISIBLE_DEVICES", "GPU-11111111-1111-1111-1111-000000000000"}}))}),
  });
}

INSTANTIATE_TEST_SUITE_P(DriverLibraries, FaultTableTest, ::testing::ValuesIn(Libraries()), NameOfFault);
INSTANTIATE_TEST_SUITE_P(DriverVersions, FaultTableTest, ::testing::ValuesIn(Versions()), NameOfFault);
INSTANTIATE_TEST_SUITE_P(DriverDevices, FaultTableTest, ::testing::ValuesIn(Devices()), NameOfFault);
INSTANTIATE_TEST_SUITE_P(DriverGpus, FaultTableTest, ::testing::ValuesIn(Gpus()), NameOfFault);
INSTANTIATE_TEST_SUITE_P(DriverWorthKnowing, FaultTableTest, ::testing::ValuesIn(WorthKnowing()),
                         NameOfFault);
INSTANTIATE_TEST_SUITE_P(DriverSound, FaultTableTest, ::testing::ValuesIn(SoundMachines()), NameOfFault);

}  // namespace
}  // namespace cudnn_ci
