// How a struct lists its fields. One list serves whatever writes, reads, packs, cleans or masks the struct:
//
//   template <class Io, Like<Step> T>
//   void Fields(Io& io, T& step) {
//     io("n", step.serial), io("name", step.name, Mark::kWhole);
//   }
//
// T is const for an io that writes. A struct without a list does not compile.
#ifndef CUDNN_CI_BASE_FIELDS_H_
#define CUDNN_CI_BASE_FIELDS_H_

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace cudnn_ci {

template <class T, class Struct>
concept Like = std::is_same_v<std::remove_const_t<T>, Struct>;

// What a list may say of a field. An io heeds what concerns it.
enum class Mark {
  kPlain,
  kOptional,  // left out when it is empty, false or the first enumerator
  kOrNull,    // null in report.json when it is empty
  kWhole,     // a text that is not cut to fit a packet
  kExact      // a text that is neither cut nor cleaned: a path, a command
};

// What becomes of a field whose text or list is empty.
enum class EmptyFields {
  kLeftOut,  // a line of the journal: empty is what its reader starts from
  kShown     // as its Mark says
};

// An io that reads JSON. It refuses what a list finds wrong: io.Refuse("key", "why").
template <class Io>
concept Reads = requires(Io& io) {
  io.Refuse("key", "why");
};

// Makes *value the alternative that Name(Variant) calls so; false when there is none.
template <class Variant, size_t I = 0>
bool Choose(const std::string& name, Variant* value) {
  if constexpr (I < std::variant_size_v<Variant>) {
    Variant candidate(std::in_place_index<I>);
    if (name != Name(std::as_const(candidate))) return Choose<Variant, I + 1>(name, value);
    *value = std::move(candidate);
    return true;
  }
  return false;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_FIELDS_H_
