// Which of several majors the contract means: an image may hold CUDA 12 beside 13, or cuDNN 8 beside 9, and
// is judged by those it promises. Pure functions; knows no library.
#ifndef CUDNN_CI_PLUGINS_COMMON_PROMISE_H_
#define CUDNN_CI_PLUGINS_COMMON_PROMISE_H_

#include <functional>
#include <string>
#include <vector>

namespace cudnn_ci {

// True if a dotted version lies in a range of the matrix: Context::Satisfies or FactSink::Satisfies.
using Satisfies = std::function<bool(const std::string& version, const std::string& range)>;

// What the contract says of one library.
struct Promise {
  Satisfies satisfies;
  std::string range;  // ">=12.0 <13"; empty: nothing is promised, so any version will do

  bool Kept(const std::string& version) const { return range.empty() || satisfies(version, range); }
  // True if some version of this major would keep it.
  bool OfMajor(int major) const;
};

// The promise for "image.cudnn" or "image.toolkit", of a check's Context or of a FactSink. "absent" promises
// no version.
template <class Source>
Promise PromiseOf(const Source& source, const char* key) {
  const std::string range = source.Contract(key);
  return {
      [&source](const std::string& version, const std::string& of) { return source.Satisfies(version, of); },
      range == "absent" ? "" : range};
}

// Those that the promise means first; among them, and behind them, in the order given.
std::vector<int> PromisedFirst(const Promise& promise, std::vector<int> majors);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_PROMISE_H_
