// What all convolution checks say of themselves, so that none can forget a part of it.
#ifndef CUDNN_CI_PLUGINS_CONV_DESCRIBE_H_
#define CUDNN_CI_PLUGINS_CONV_DESCRIBE_H_

#include <cudnn_ci/check.hpp>

#include <string>

namespace cudnn_ci {

// A check of the cuDNN that a subject gets, on one device, behind the check that makes handles; another GPU
// is asked where its numbers are wrong. Whether cases share a process is the check's own to say.
template <class Params>
Schema<Params>& DescribeConvolution(Schema<Params>& s, const std::string& summary) {
  return s.Summary(summary)
      .Layer(CCI_LAYER_CONVOLUTION)
      .Devices(CCI_DEVICES_ONE)
      .PerSubject()
      .SecondOpinion()
      .Requires("cudnn.init")
      .TimeoutSeconds(60);
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_DESCRIBE_H_
