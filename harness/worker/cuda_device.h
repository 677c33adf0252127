// The little the worker itself asks of CUDA, around a case and never through the check: whether the
// context survived, whether the device still computes, and a context made early. Uses the driver API
// by name and only what the process has loaded already, except for Canary, Warm and Prepare.
#ifndef CUDNN_CI_WORKER_CUDA_DEVICE_H_
#define CUDNN_CI_WORKER_CUDA_DEVICE_H_

#include <string>

namespace cudnn_ci::worker {

// Synchronises the current context and every active primary one, and asks the CUDA runtimes in the process
// for their last error. An error of any call to the driver on the way is one of the context. Empty: all well,
// or no CUDA in this process. Kernels run asynchronously: without this a check that broke the context passes,
// and the next case pays.
std::string ContextError();

// Runs a tiny embedded kernel on device 0 and compares its result. Empty: the device computes. `tested` is
// false where there is no driver or device to test.
std::string Canary(bool* tested);

// Creates device 0's primary context and keeps it for the life of the process. Errors are left for the
// checks to find and name.
void WarmContext();

// Initialises the driver, which takes as long as a context, and makes none. Errors are left for the checks.
void PrepareDriver();

}  // namespace cudnn_ci::worker

#endif  // CUDNN_CI_WORKER_CUDA_DEVICE_H_
