#include "launch/evidence.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/fd.h"

namespace cudnn_ci::launch {
namespace {

constexpr size_t kMostHead = size_t{4} << 20, kMostLine = size_t{1} << 20, kMostDepth = 64;
constexpr uint64_t kMiB = uint64_t{1} << 20;

// A file of the container's; not valid: it is none, a link or no regular file. *size is what it has.
Fd OpenPlain(const std::string& path, uint64_t* size) {
  Fd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat st {};
  if (!fd.valid() || fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode)) return Fd();
  *size = static_cast<uint64_t>(st.st_size);
  return fd;
}

std::string ReadAt(int fd, uint64_t at, size_t most) {
  std::string bytes(most, '\0');
  size_t done = 0;
  while (done < most) {
    const ssize_t got = pread(fd, bytes.data() + done, most - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

// Takes scalars as the parser meets them, and stops it at the cases.
class Scalars : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }  // what is not known is no field
  bool boolean(bool value) override { return Take(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return Take(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Take(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return Take(text); }
  bool string(string_t& value) override { return Take(value); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return BeginLevel(false); }
  bool end_object() override { return EndLevel(); }
  bool start_array(std::size_t) override { return BeginLevel(true); }
  bool end_array() override { return EndLevel(); }
  bool key(string_t& name) override {
    levels_.back().key = name;
    return levels_.size() > 1 || name != "cases";
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }
  ReportFields Take() { return std::move(fields_); }

 private:
  struct Level {
    std::string path;  // of what it is in
    std::string key;
    bool in_list = false;
  };
  std::string PathHere() const {
    if (levels_.empty()) return "";
    const Level& here = levels_.back();
    return here.path.empty() ? here.key : here.path + "." + here.key;
  }
  bool Take(const std::string& value) {
    if (!levels_.empty() && !levels_.back().in_list) fields_.emplace(PathHere(), value);
    return true;
  }
  bool BeginLevel(bool is_list) {
    const bool in_list = is_list || (!levels_.empty() && levels_.back().in_list);
    levels_.push_back({in_list ? "" : PathHere(), "", in_list});
    return levels_.size() <= kMostDepth;
  }
  bool EndLevel() {
    levels_.pop_back();
    return true;
  }

  std::vector<Level> levels_;
  ReportFields fields_;
};

// Whether the file holds the text, which is short. Reads at most MostBytes.
bool Holds(int fd, const std::string& text, uint64_t most) {
  std::string window;
  for (uint64_t at = 0; at < most;) {
    const std::string piece = ReadAt(fd, at, size_t{256} << 10);
    if (piece.empty()) return false;
    at += piece.size();
    window += piece;
    if (window.find(text) != std::string::npos) return true;
    window.erase(0, window.size() - std::min(window.size(), text.size()));
  }
  return false;
}

// The journal's last line says that the run with this secret has finished.
bool EndsWell(int journal, uint64_t size, const std::string& secret) {
  const size_t most = static_cast<size_t>(std::min<uint64_t>(size, kMostLine));
  std::string tail = ReadAt(journal, size - most, most);
  if (tail.ends_with('\n')) tail.pop_back();
  const size_t begin = tail.rfind('\n');
  const ReportFields end = FieldsOf(begin == std::string::npos ? tail : tail.substr(begin + 1));
  return FieldOf(end, "ev") == "RunFinished" && FieldOf(end, "token") == secret;
}

bool WasInterrupted(const std::string& code) { return code == "130" || code == "142" || code == "143"; }

}  // namespace

ReportFields FieldsOf(std::string_view json) {
  json = json.substr(0, kMostHead);
  Scalars scalars;
  nlohmann::json::sax_parse(json.begin(), json.end(), &scalars, nlohmann::json::input_format_t::json, false);
  return scalars.Take();
}

ReportFields FieldsOfFile(const std::string& path) {
  uint64_t size = 0;
  const Fd fd = OpenPlain(path, &size);
  return fd.valid() ? FieldsOf(ReadAt(fd.get(), 0, static_cast<size_t>(std::min<uint64_t>(size, kMostHead))))
                    : ReportFields();
}

std::string FieldOf(const ReportFields& fields, const std::string& path) {
  const auto found = fields.find(path);
  return found == fields.end() ? std::string() : found->second;
}

uint64_t MostBytes(const std::string& name) {
  return (name == "journal.jsonl" ? 4096 : name == "attestation.json" ? 1 : 256) * kMiB;
}

Confirmation Confirm(const std::string& folder, const std::string& secret, int status, bool cancelled) {
  Confirmation c;
  c.status = status;
  std::map<std::string, Fd> files;
  std::map<std::string, uint64_t> sizes;
  for (const char* name : {"junit.xml", "journal.jsonl", "report.json"}) {
    files[name] = OpenPlain(folder + "/" + name, &sizes[name]);
    if (!files[name].valid()) {
      c.reason = std::string("it left no ") + name;
    } else if (sizes[name] > MostBytes(name)) {
      c.reason =
          std::string("its ") + name + " is larger than " + std::to_string(MostBytes(name) / kMiB) + " MiB";
    }
    if (!c.reason.empty()) return c;
  }
  c.fields = FieldsOf(ReadAt(files["report.json"].get(), 0, kMostHead));
  const std::string code = FieldOf(c.fields, "exit_code");
  if (cancelled && WasInterrupted(code)) c.status = std::stoi(code);
  const bool hides = FieldOf(c.fields, "report_only") == "true" && !WasInterrupted(code);
  const std::string verdict = "<property name=\"verdict\" value=\"" + FieldOf(c.fields, "verdict") + "\"";
  if (!FieldOf(c.fields, "schema").starts_with("cudnn-ci/report/") ||
      FieldOf(c.fields, "run.token") != secret)
    c.reason = "its report is not of this run";
  else if (FieldOf(c.fields, "complete") != "true" ||
           !EndsWell(files["journal.jsonl"].get(), sizes["journal.jsonl"], secret))
    c.reason = "its report is not finished";
  else if (!Holds(files["junit.xml"].get(), verdict, MostBytes("junit.xml")))
    c.reason = "report.json and junit.xml do not agree";
  else if ((hides ? "0" : code) != std::to_string(c.status))
    c.reason = "its report says exit " + code.substr(0, 20) + ", it ended with " + std::to_string(c.status);
  else
    c.confirmed = true;
  return c;
}

}  // namespace cudnn_ci::launch
