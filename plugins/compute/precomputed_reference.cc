// The thread in which data are made.
#include "compute/precomputed_reference.h"

#include <exception>
#include <system_error>
#include <utility>

namespace cudnn_ci {
namespace {

constexpr double kMostBytes = 256 << 20;

}  // namespace

PrecomputedReference::PrecomputedReference(std::function<void()> make) {
  if (!make) return;
  try {
    thread_ = std::thread([make = std::move(make)] {
      try {
        make();
      } catch (const std::exception&) {
        // See above: the caller of whatever was to be made meets it.
      }
    });
  } catch (const std::system_error&) {
    return;  // a limit on threads: they are made when they are asked for
  }
}

PrecomputedReference::~PrecomputedReference() {
  if (thread_.joinable()) thread_.join();
}

std::function<void()> MakingOf(std::shared_ptr<const ReferenceSource> source, double most_bytes) {
  const double bytes = source->MakingBytes();
  if (bytes > kMostBytes || bytes > most_bytes) return {};
  return [source = std::move(source)] { source->Get(); };
}

}  // namespace cudnn_ci
