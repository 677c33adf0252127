// What a call to the fake cuDNN describes, and the convolution it asks for, computed as cuDNN would: by
// the strides, formats, types and scaling factors given, taken at their word.
#ifndef CUDNN_CI_TESTS_FAKES_FAKE_CUDNN_H_
#define CUDNN_CI_TESTS_FAKES_FAKE_CUDNN_H_

#include <cudnn.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

struct cudnnTensorStruct {
  std::vector<int> dims, strides;
  cudnnDataType_t type;
};
struct cudnnFilterStruct {
  std::vector<int> dims;
  cudnnDataType_t type;
  cudnnTensorFormat_t format;
};
struct cudnnConvolutionStruct {
  std::vector<int> pad, stride, dilation;
  int groups = 1;
  cudnnDataType_t compute;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace fake_cudnn {

struct Convolution;

bool IsHandle(cudnnHandle_t handle);
// NOT_SUPPORTED as the version codes it: 3000, in cuDNN 8 it is 9.
cudnnStatus_t Unsupported();
// Adds a line to the file FAKE_CUDNN_LOG.
void LogLine(const std::string& line);
// Whether FAKE_CUDNN_REFUSES has the number.
bool Refused(int number);
// Bytes of workspace that FAKE_CUDNN_WORKSPACE asks for.
std::size_t WorkspaceBytes();
// How far w lies behind x, and y behind w: "[8192,4096]". Tells a program's buffers apart.
std::string Apart(const Convolution& convolution);
// "[1,2,3]".
std::string List(const std::vector<int>& values);

// A tensor in memory: n, c and sizes, whatever the order of its strides.
struct View {
  std::vector<int> dims;
  std::vector<std::int64_t> strides;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  unsigned char* data = nullptr;

  std::int64_t Count() const;
  std::size_t Bytes() const;
  // Element `index` in the order of the dimensions.
  unsigned char* Address(std::int64_t index) const;
  double Get(std::int64_t index) const;
  void Set(std::int64_t index, double value) const;
};

enum class Operation { kForward, kBackwardData, kBackwardFilter };

// One convolution, or one gradient of it.
struct Convolution {
  Operation operation = Operation::kForward;
  View x, w, y;  // or dx, dw, dy
  std::vector<int> pad, stride, dilation;
  int groups = 1;
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  double alpha = 1, beta = 0;
  // What follows the sums: a number for each output channel is added where there is memory for them, then
  // what is negative becomes 0. `sums` and `biased` are the types of what lies between the operations.
  View bias;
  bool relu = false;
  cudnnDataType_t sums = CUDNN_DATA_DOUBLE, biased = CUDNN_DATA_DOUBLE;
  unsigned char* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  bool tf32 = false;  // inputs are rounded to it, where they are longer

  const View& Out() const;
  // Whether there is such a convolution, of tensors that a descriptor can count; `pad_after` as `pad`.
  bool CanBe(const std::vector<int>& pad_after) const;
  // out = alpha * sums + beta * out, summed in the compute type. beta = 0 does not read it.
  void Run() const;
  // What is stored for the sum of element `index`.
  double Finish(std::int64_t index, double sum) const;
  // Calls visit(product) for each product that element `index` of the result sums.
  void ForProducts(std::int64_t index, const std::function<void(double)>& visit) const;
};

std::size_t SizeOf(cudnnDataType_t type);

// The device memory of a handle: taken by cudnnCreate, which answers what this gives, and given back by
// cudnnDestroy.
cudnnStatus_t TakeMemory(cudnnHandle_t handle);
void GiveMemory(cudnnHandle_t handle);

// The driver's next synchronisation answers this error, once.
void LeaveError(int error);

// Whether the driver records the stream of a handle; a run then is Record of its algorithm's or engine's
// number, whose answer is its own.
bool Recording(cudnnHandle_t handle);
cudnnStatus_t Record(cudnnHandle_t handle, int number);
// What a recording left for this run: not success, once.
cudnnStatus_t LeftByRecording();

// Whether a fault strikes this run of an algorithm or engine; call once a run.
bool Strikes(int algorithm);
// Whether what cannot be is taken (FAKE_CUDNN_TAKES), and what running it then does.
bool Takes();
cudnnStatus_t Take();
// Whether a descriptor can have these dimensions.
bool Countable(const std::vector<int>& dims);

// Runs it and does what the variable FAKE_CUDNN_FAULT says, if it is to be spoilt; the workspace is read and
// written.
void RunAndSpoil(const Convolution& convolution, bool spoil = true);

}  // namespace fake_cudnn

#endif  // CUDNN_CI_TESTS_FAKES_FAKE_CUDNN_H_
