// Result<T>: a value or an error text, between our functions. Exceptions end where third-party code
// is called; error texts are never searched: what a caller must tell apart is an enum beside it.
#ifndef CUDNN_CI_BASE_RESULT_H_
#define CUDNN_CI_BASE_RESULT_H_

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace cudnn_ci {

struct Error {
  std::string message;  // one line: what, where and, if there is one, the remedy
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : v_(std::move(error)) {}  // NOLINT: implicit by design
  bool ok() const { return v_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& operator*() { return std::get<0>(v_); }
  const T& operator*() const { return std::get<0>(v_); }
  T* operator->() { return &std::get<0>(v_); }
  const T* operator->() const { return &std::get<0>(v_); }
  const std::string& error() const { return std::get<1>(v_).message; }

 private:
  std::variant<T, Error> v_;
};

// Success, or an error text.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error.message)) {}  // NOLINT: implicit by design
  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const std::string& error() const { return *error_; }

 private:
  std::optional<std::string> error_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_RESULT_H_
