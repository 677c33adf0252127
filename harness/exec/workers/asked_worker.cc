#include "exec/workers/asked_worker.h"

#include <utility>

#include "base/text.h"

namespace cudnn_ci {

void AskedWorker::Fail(Errored error) {
  printed_ = CleanLine(Trim(output_.Text()), 300);
  if (!printed_.empty()) error.detail += " (it printed: " + printed_ + ")";
  error_ = std::move(error);
}

void AskedWorker::OnAbandoned(int64_t, Effects*) {
  Fail({ErrorKind::kAbandoned, SurvivedSigkill() + " " + Doing()});
}

}  // namespace cudnn_ci
