// The thread of one source.
#include "compute/data_ahead.h"

#include <exception>
#include <system_error>
#include <utility>

namespace cudnn_ci {
namespace {

constexpr double kMostBytes = 256 << 20;

}  // namespace

DataAhead::DataAhead(std::shared_ptr<const ReferenceSource> source, double most_bytes) {
  const double bytes = source->MakingBytes();
  if (bytes > kMostBytes || bytes > most_bytes) return;
  try {
    thread_ = std::thread([source = std::move(source)] {
      try {
        source->Get();
      } catch (const std::exception&) {
        // Whoever asks for them meets the same, and can say so.
      }
    });
  } catch (const std::system_error&) {
    return;  // a limit on threads: they are made when they are asked for
  }
}

DataAhead::~DataAhead() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace cudnn_ci
