// Values as bytes, for a pipe between two processes of one program.
#ifndef CUDNN_CI_BASE_PACKED_H_
#define CUDNN_CI_BASE_PACKED_H_

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/fields.h"

namespace cudnn_ci {

// A struct is packed field by field, as it lists them. Texts and lists begin with their size; names do not
// travel.
class Packer {
 public:
  template <class T>
  void operator()(const char*, const T& value, Mark = Mark::kPlain) {
    Put(value);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  void Raw(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }
  void Size(size_t size) {
    const uint64_t wide = size;
    Raw(&wide, sizeof wide);
  }
  void Put(const std::string& text) {
    Size(text.size());
    bytes_ += text;
  }
  template <class T>
  void Put(const std::vector<T>& list) {
    Size(list.size());
    for (const T& element : list) Put(element);
  }
  template <class T>
  void Put(const std::map<std::string, T>& map) {
    Size(map.size());
    for (const auto& [key, value] : map) Put(key), Put(value);
  }
  template <class... T>
  void Put(const std::variant<T...>& value) {
    Size(value.index());
    std::visit([this](const auto& v) { this->Put(v); }, value);
  }
  template <class T>
  void Put(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      Raw(&value, sizeof value);
    } else {
      Fields(*this, value);
    }
  }

  std::string bytes_;
};

// The other way. What does not fit makes ok() false and leaves the rest empty.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  void operator()(const char*, T& value, Mark = Mark::kPlain) {
    Get(value);
  }
  // Whether all was there, and nothing else.
  bool ok() const { return ok_ && bytes_.empty(); }

 private:
  std::string_view Raw(size_t size) {
    if (size > bytes_.size()) ok_ = false;
    if (!ok_) return {};
    const std::string_view raw = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return raw;
  }
  template <class T>
  void Number(T& value) {
    if (const std::string_view raw = Raw(sizeof value); !raw.empty())
      std::memcpy(&value, raw.data(), sizeof value);
  }
  size_t Size() {
    uint64_t size = 0;
    Number(size);
    if (size > bytes_.size()) ok_ = false;  // every element has a byte at least
    return ok_ ? size : 0;
  }
  void Get(std::string& text) { text = Raw(Size()); }
  template <class T>
  void Get(std::vector<T>& list) {
    for (size_t left = Size(); left > 0 && ok_; --left) Get(list.emplace_back());
  }
  template <class T>
  void Get(std::map<std::string, T>& map) {
    for (size_t left = Size(); left > 0 && ok_; --left) {
      std::string key;
      Get(key), Get(map[key]);
    }
  }
  template <size_t I = 0, class... T>
  void Alternative(size_t index, std::variant<T...>& value) {
    if constexpr (I < sizeof...(T)) {
      if (index == I) return Get(value.template emplace<I>());
      Alternative<I + 1>(index, value);
    } else {
      ok_ = false;
    }
  }
  template <class... T>
  void Get(std::variant<T...>& value) {
    uint64_t index = 0;
    Number(index);
    Alternative(index, value);
  }
  template <class T>
  void Get(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      Number(value);
    } else {
      Fields(*this, value);
    }
  }

  std::string_view bytes_;
  bool ok_ = true;
};

template <class T>
std::string Pack(const T& value) {
  Packer packer;
  packer("", value);
  return packer.Take();
}

// False when the bytes are not those of such a value.
template <class T>
bool Unpack(std::string_view bytes, T* value) {
  Unpacker unpacker(bytes);
  unpacker("", *value);
  return unpacker.ok();
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_PACKED_H_
