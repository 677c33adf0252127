// A report on a descriptor. See stream_report.h.
#include "report/formats/stream_report.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/fd.h"
#include "base/file.h"

namespace cudnn_ci {

StreamReporter::StreamReporter(std::unique_ptr<Reporter> inner, std::string file,
                               const CommandSpelling& spelling, int fd)
    : inner_(std::move(inner)), file_(std::move(file)), spelling_(spelling), fd_(fd) {}

Status StreamReporter::OnEvent(const Event& event, const Summary& summary) {
  // Said at once, so that no verdict is printed that this takes back.
  if (fd_ < 0) return Error{"standard output is closed"};
  return inner_->OnEvent(event, summary);
}

Status StreamReporter::Finish(const Summary& summary) {
  if (written_) return Error{"standard output already has a report, which is no longer true"};
  if (Status status = inner_->Finish(summary); !status.ok()) return status;
  written_ = true;
  return Copy();
}

Status StreamReporter::Copy() {
  const Fd file(open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return Error{"cannot read " + file_ + ": " + std::strerror(errno)};
  std::string buffer(size_t{256} << 10, '\0'), lines;
  for (;;) {
    const ssize_t got = read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{"cannot read " + file_ + ": " + std::strerror(errno)};
    const size_t searched = lines.size();  // the data of a page are one line
    lines.append(buffer, 0, static_cast<size_t>(got));
    // Whole lines: a command may begin in one piece and end in the next.
    const size_t end = std::string_view(lines).substr(searched).rfind('\n');
    const size_t whole = got == 0 ? lines.size() : end == std::string_view::npos ? 0 : searched + end + 1;
    const std::string_view ready(lines.data(), whole);
    Status status = WriteAll(fd_, WithoutPipelineCommands(ready, spelling_), "standard output");
    if (!status.ok() || got == 0) return status;
    lines.erase(0, whole);
  }
}

}  // namespace cudnn_ci
