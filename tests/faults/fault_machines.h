// How the rows of the tables make their machines.
#ifndef CUDNN_CI_TESTS_FAULTS_FAULT_MACHINES_H_
#define CUDNN_CI_TESTS_FAULTS_FAULT_MACHINES_H_

#include <functional>
#include <string>
#include <vector>

#include "fault_test.h"

namespace cudnn_ci {

using Make = std::function<bool(FaultTest&)>;

// In an ELF header: of the other machine than the one this runs on.
#if defined(__x86_64__)
inline constexpr char kForeignMachine = static_cast<char>(183);  // EM_AARCH64
#else
inline constexpr char kForeignMachine = 62;  // EM_X86_64
#endif

// A copy of the fake cuDNN in one folder, and nothing else that could complete it.
Make Cudnn(const std::function<void(FaultTest&)>& spoil);
// A machine that `change` makes of the healthy one.
Make Machine(const std::function<void(FaultTest&)>& change);
// The same, where nothing of this machine's own libraries is found.
Make Alone(const std::function<void(FaultTest&)>& change);
// The same, without a driver, judged as far as that goes.
Make WithoutDriver(const std::function<void(FaultTest&)>& change);
// The same without the driver's library, where the GPU's checks run all the same. `mounts` as for
// FaultTest::HideLoaderCache; of the folder that `change` has filled.
Make WithoutLibcuda(const std::function<void(FaultTest&)>& change,
                    const std::function<std::string(FaultTest&)>& mounts = nullptr);
// On a machine where no kernel module tells another version of the driver than the fakes do.
Make WithoutModule(const std::function<void(FaultTest&)>& change);
// The folder /dev has these nodes of the driver, "nvidiactl", which are null devices; those of `denied` may
// not be opened, and /dev/kmsg is `log`.
Make WithNodes(const std::vector<std::string>& nodes, const std::vector<std::string>& denied,
               const std::function<void(FaultTest&)>& change, const std::string& log = "");
// A matrix with one more check, in a row that needs nothing else.
Make With(const std::string& entry, const std::function<void(FaultTest&)>& change);

// In the place of the fake cuDNN's engines compiled at run time: those that need a library of the driver
// ("driver"), or something of the image's as well ("more").
void TakeNewest(FaultTest& test, const std::string& kind = "driver");
// Leaves what a JIT-only package has.
void KeepJitParts(FaultTest& test);
// The matrix promises CUDA 12, which the fake cuDNN then is built for.
void PromiseTwelve(FaultTest& test);
// A fake cuDNN as a Python wheel brings it, and a subject that means it.
void MakeWheel(FaultTest& test, const std::string& fake);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_FAULTS_FAULT_MACHINES_H_
