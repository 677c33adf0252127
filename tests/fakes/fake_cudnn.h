// What a call to the fake cuDNN describes, and the convolution it asks for, computed as cuDNN would: by
// the strides, formats, types and scaling factors given, taken at their word.
#ifndef CUDNN_CI_TESTS_FAKES_FAKE_CUDNN_H_
#define CUDNN_CI_TESTS_FAKES_FAKE_CUDNN_H_

#include <cudnn.h>

#include <cstdint>
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

// One call of cudnnConvolutionForward.
struct Convolution {
  cudnnTensorDescriptor_t x, y;
  cudnnFilterDescriptor_t w;
  cudnnConvolutionDescriptor_t c;
  cudnnConvolutionFwdAlgo_t algorithm;
  double alpha, beta;
  const unsigned char *px, *pw;
  unsigned char *py, *workspace;
  std::size_t workspace_bytes;

  // y = alpha * conv(x, w) + beta * y, summed in the compute type. beta = 0 does not read y.
  void Run() const;
  // Bytes of x, w, y.
  std::size_t XBytes() const, WBytes() const, YBytes() const;
  std::int64_t YCount() const;
  // Element `index` of y in the order of its dimensions, whatever their strides.
  double Y(std::int64_t index) const;
  void SetY(std::int64_t index, double value) const;
  unsigned char* YAddress(std::int64_t index) const;
};

std::size_t SizeOf(cudnnDataType_t type);

// The device memory of a handle: taken by cudnnCreate, which answers what this gives, and given back by
// cudnnDestroy.
cudnnStatus_t TakeMemory(cudnnHandle_t handle);
void GiveMemory(cudnnHandle_t handle);

// Does to the finished convolution what the variable FAKE_CUDNN_FAULT says. `before` is y as it was.
void Spoil(const Convolution& convolution, const std::vector<unsigned char>& before);

}  // namespace fake_cudnn

#endif  // CUDNN_CI_TESTS_FAKES_FAKE_CUDNN_H_
