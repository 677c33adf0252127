// The journal as a file: written line by line, verified at the end, read with bounds. See journal.h.
#include "report/record/journal.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "model/record/field_reader.h"
#include "report/record/journal_line.h"

namespace cudnn_ci {
namespace {

// Splits what is fed to it into lines and decodes them.
class LineReader {
 public:
  explicit LineReader(std::string name) : name_(std::move(name)) {}

  Status Feed(std::string_view chunk) {
    for (size_t end; (end = chunk.find('\n')) != std::string_view::npos; chunk.remove_prefix(end + 1)) {
      ++line_;
      std::string_view line = chunk.substr(0, end);
      if (!pending_.empty()) {
        pending_ += line;
        line = pending_;
      }
      if (line.size() >= kMaxJournalLine) return TooLong();
      try {
        std::string unknown;
        if (std::optional<Event> event = DecodeLine(line, &last_seq_, &chain_, &unknown))
          events_.push_back(std::move(*event));
        else if (std::find(unknown_.begin(), unknown_.end(), unknown) == unknown_.end())
          unknown_.push_back(std::move(unknown));
      } catch (const DecodeError& e) {
        return Error{name_ + ":" + std::to_string(line_) + ": " + e.what()};
      }
      pending_.clear();
    }
    pending_ += chunk;
    if (pending_.size() >= kMaxJournalLine) {
      ++line_;
      return TooLong();
    }
    return {};
  }
  // At the end of the file. *unknown, where given, gets the types of event that were left out.
  Result<std::vector<Event>> Take(std::vector<std::string>* unknown) {
    if (unknown) *unknown = std::move(unknown_);
    if (events_.empty()) return Error{name_ + ": holds no whole line; nothing was recorded"};
    if (!KeepsItsWord())
      return Error{name_ + ": the token at its end does not match the SHA-256 at its beginning"};
    if (!pending_.empty() && std::holds_alternative<RunFinished>(events_.back().body))
      return Error{name_ + ":" + std::to_string(line_ + 1) + ": an incomplete line after the end of the run"};
    return std::move(events_);
  }

 private:
  bool KeepsItsWord() const {
    std::string promised, told;
    for (const Event& event : events_) {
      if (const auto* started = std::get_if<RunStarted>(&event.body)) promised = started->token_sha256;
      if (const auto* finished = std::get_if<RunFinished>(&event.body)) {
        told = finished->token;
        if (promised != (told.empty() ? "" : Sha256Hex(told))) return false;
      }
    }
    return true;
  }
  Error TooLong() const { return {name_ + ":" + std::to_string(line_) + ": line longer than 1 MiB"}; }

  std::string name_;
  std::string pending_;
  std::vector<Event> events_;
  std::vector<std::string> unknown_;  // types, each once
  int64_t line_ = 0, last_seq_ = 0;
  std::string chain_;
};

}  // namespace

Result<std::unique_ptr<JournalWriter>> JournalWriter::Open(const std::string& path) {
  Fd fd(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC, 0666));
  if (!fd.valid()) return Error{"cannot create " + path + ": " + std::strerror(errno)};
  return std::unique_ptr<JournalWriter>(new JournalWriter(path, std::move(fd)));
}

Status JournalWriter::OnEvent(const Event& event, const Summary&) {
  const std::string line = EncodeEvent(event, &chain_);
  if (line.empty()) return Error{"cannot write " + path_ + ": event " + Name(event.body) + " is over 1 MiB"};
  if (std::holds_alternative<RunFinished>(event.body)) end_begins_ = written_;
  written_ += static_cast<off_t>(line.size());
  return WriteAll(fd_.get(), line, path_);
}

Status JournalWriter::Finish(const Summary&) {
  // What close(2) alone would swallow: a network file system reports a full disk here.
  if (fsync(fd_.get()) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS) {
    return Error{"cannot write " + path_ + ": " + std::strerror(errno)};
  }
  return Verify();
}

Status JournalWriter::Verify() const {
  struct stat own {
  }, named{};
  if (fstat(fd_.get(), &own) != 0) return Error{path_ + ": " + std::strerror(errno)};
  if (lstat(path_.c_str(), &named) != 0) return Error{path_ + " was removed or moved during the run"};
  if (named.st_dev != own.st_dev || named.st_ino != own.st_ino)
    return Error{path_ + " was replaced during the run"};
  const Error changed{path_ + " was changed during the run, not by cudnn-ci"};
  if (own.st_size != written_) return changed;
  std::string chain, pending, buffer(size_t{256} << 10, '\0');
  for (off_t at = 0; at < written_;) {
    const ssize_t got = pread(fd_.get(), buffer.data(), buffer.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{"cannot read " + path_ + " again: " + std::strerror(errno)};
    if (got == 0) return changed;
    at += got;
    std::string_view chunk(buffer.data(), static_cast<size_t>(got));
    for (size_t end; (end = chunk.find('\n')) != std::string_view::npos; chunk.remove_prefix(end + 1)) {
      pending += chunk.substr(0, end);
      if (!FollowsInChain(pending, &chain)) return changed;
      pending.clear();
    }
    pending += chunk;
  }
  return chain == chain_ ? Status() : changed;
}

void JournalWriter::Withdraw() {
  if (end_begins_ == 0) return;
  [[maybe_unused]] const int cut = ftruncate(fd_.get(), end_begins_);  // nothing more can be done
}

Result<std::vector<Event>> ParseJournal(std::string_view text, const std::string& name,
                                        std::vector<std::string>* unknown_events) {
  LineReader reader(name);
  if (Status status = reader.Feed(text); !status) return Error{status.error()};
  return reader.Take(unknown_events);
}

Result<std::vector<Event>> ReadJournal(const std::string& path, std::vector<std::string>* unknown_events) {
  Fd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // a FIFO must not hang us
  struct stat info {};
  if (!fd.valid() || fstat(fd.get(), &info) != 0)
    return Error{"cannot read " + path + ": " + std::strerror(errno)};
  if (!S_ISREG(info.st_mode)) return Error{"cannot read " + path + ": not a regular file"};
  LineReader reader(path);
  std::string buffer(size_t{256} << 10, '\0');
  for (;;) {
    const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{"cannot read " + path + ": " + std::strerror(errno)};
    if (got == 0) return reader.Take(unknown_events);
    if (Status status = reader.Feed({buffer.data(), static_cast<size_t>(got)}); !status)
      return Error{status.error()};
  }
}

}  // namespace cudnn_ci
