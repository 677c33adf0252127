// What the worker makes of the CUDA contexts that a passing check leaves behind: an error of any call to the
// driver, on any device, is a broken context.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "scratch.h"
#include "worker_client.h"

namespace cudnn_ci {
namespace {

// Runs a check that loads these libraries and passes; what the worker says of the contexts then.
std::string ContextErrorWith(const std::vector<std::string>& variables,
                             const std::string& libraries = "cuda") {
  std::vector<std::string> env = variables;
  env.push_back("LD_LIBRARY_PATH=" CUDNN_CI_FAKE_CONTEXTS);
  WorkerClient worker(CUDNN_CI_FIXTURES "/fixture/fixture.cci.so", env);
  const auto messages = worker.RunCase("fixture.loads", {{"libraries", libraries}});
  const auto* finished = FirstOf<wire::CaseFinished>(messages);
  EXPECT_TRUE(finished);
  if (!finished) return "no verdict";
  EXPECT_EQ(finished->evaluated, 1);
  EXPECT_FALSE(FirstOf<wire::Expectation>(messages));
  return finished->context_error;
}
std::string Failing(const std::string& what) {
  return ContextErrorWith({"CONTEXTS_DEVICES=3", "CONTEXTS_FAIL=" + what});
}

TEST(ContextError, IsNoneWhenEveryCallSucceeds) {
  EXPECT_EQ(ContextErrorWith({}), "");
  EXPECT_EQ(ContextErrorWith({"CONTEXTS_DEVICES=3"}), "");
  EXPECT_EQ(ContextErrorWith({"CONTEXTS_CURRENT=own"}), "");
}

TEST(ContextError, IsFoundOnEveryDevice) {
  for (const char* device : {"0", "1", "2"})
    EXPECT_EQ(Failing(std::string("cuCtxSynchronize:") + device + ":700"),
              "cuCtxSynchronize: 700 CUDA_ERROR_ILLEGAL_ADDRESS");
}

// The error of an earlier kernel may come back from whichever call asks first.
TEST(ContextError, IsWhatAnyCallAnswers) {
  for (const char* call : {"cuDevicePrimaryCtxGetState", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
                           "cuDevicePrimaryCtxRelease"})
    EXPECT_EQ(Failing(std::string(call) + ":2:700"), std::string(call) + ": 700 CUDA_ERROR_ILLEGAL_ADDRESS");
  for (const char* call : {"cuDeviceGetCount", "cuCtxGetCurrent"})
    EXPECT_EQ(Failing(std::string(call) + ":-1:700"), std::string(call) + ": 700 CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(Failing("cuCtxSetCurrent:-2:700"), "cuCtxSetCurrent: 700 CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST(ContextError, IsFoundInAContextOfTheChecksOwn) {
  EXPECT_EQ(ContextErrorWith({"CONTEXTS_CURRENT=own", "CONTEXTS_FAIL=own:-1:700"}),
            "cuCtxSynchronize: 700 CUDA_ERROR_ILLEGAL_ADDRESS");
}

// A check that gave its context back leaves it current.
TEST(ContextError, IsNoneInAContextThatIsDestroyed) {
  EXPECT_EQ(ContextErrorWith({"CONTEXTS_CURRENT=own", "CONTEXTS_FAIL=own:-1:709"}), "");
}

TEST(ContextError, IsNoneWhereTheDriverCouldNotBeInitialised) {
  for (const char* error : {"3", "34", "100", "802", "803", "804"})
    EXPECT_EQ(Failing(std::string("cuDeviceGetCount:-1:") + error), "") << error;
}

TEST(PrepareDriver, InitialisesItInItsEnvironmentAndMakesNoContext) {
  const Scratch scratch;
  WorkerClient worker(CUDNN_CI_FIXTURES "/fixture/fixture.cci.so",
                      {"LD_LIBRARY_PATH=" CUDNN_CI_FAKE_CONTEXTS, "CONTEXTS_LOG=" + scratch.File("log"),
                       "CUDA_CACHE_DISABLE=0"});
  worker.Send(wire::Prepare{});
  worker.Send(wire::Describe{});
  EXPECT_TRUE(worker.Await<wire::DescribeEnd>()) << "it serves on";
  std::ifstream log(scratch.File("log"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(log), {}), "0\n")
      << "as any other process of its queue";
}

TEST(ContextError, IsTheRuntimesWhenNobodyReadIt) {
  EXPECT_EQ(ContextErrorWith({"CONTEXTS_RUNTIME=700"}, "cuda cudart"),
            "cudaGetLastError: 700 an illegal memory access");
  EXPECT_EQ(ContextErrorWith({}, "cuda cudart"), "");
}

}  // namespace
}  // namespace cudnn_ci
