#include "model/matrix/first_matrix.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "model/record/version.h"

namespace cudnn_ci {
namespace {

std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// ">=12.8 <12.9" of "12.8" and of "12.8.1": what changes inside a minor version keeps working. Of several
// versions the range from the lowest to the highest; empty where one of them is none.
std::string TheseMinors(const std::vector<std::string>& versions) {
  std::optional<Version> low, high;
  for (const std::string& version : versions) {
    const std::optional<Version> parsed = ParseVersion(version);
    if (!parsed) return {};
    if (!low || Compare(*parsed, *low) < 0) low = parsed;
    if (!high || Compare(*parsed, *high) > 0) high = parsed;
  }
  if (!low) return {};
  const auto minor = [](const Version& version) { return version.parts.size() > 1 ? version.parts[1] : 0; };
  const auto text = [](const Version& version, auto number) {
    return std::to_string(version.parts.front()) + "." + std::to_string(number);
  };
  return ">=" + text(*low, minor(*low)) + " <" + text(*high, minor(*high) + 1);
}

std::string LowestCapability(const std::vector<GpuFacts>& gpus) {
  std::string lowest;
  for (const GpuFacts& gpu : gpus) {
    const std::optional<Version> version = ParseVersion(gpu.compute_capability);
    if (version && (lowest.empty() || Compare(*version, *ParseVersion(lowest)) < 0))
      lowest = gpu.compute_capability;
  }
  return lowest;
}

// Keys of one object, with a comment behind each.
class Members {
 public:
  void Add(const std::string& key, const std::string& value, const std::string& comment) {
    rows_.push_back({Quoted(key) + ": " + Quoted(value), comment});
  }
  void Comment(const std::string& comment) { rows_.push_back({"", comment}); }
  std::string Text() const {
    size_t width = 0, last = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      width = std::max(width, rows_[i].member.size() + 1);
      if (!rows_[i].member.empty()) last = i;
    }
    std::string out;
    for (size_t i = 0; i < rows_.size(); ++i) {
      std::string line = rows_[i].member + (rows_[i].member.empty() || i == last ? "" : ",");
      if (!line.empty()) line.resize(std::max(width, line.size()) + 2, ' ');
      // What was found is the image's word.
      out += "    " + line + "// " + CleanLine(rows_[i].comment, 300) + "\n";
    }
    return out;
  }

 private:
  struct Row {
    std::string member, comment;
  };
  std::vector<Row> rows_;
};

Members Runner(const HostFacts& found, bool has_parent) {
  Members members;
  if (found.driver_version.empty())
    members.Comment("no driver was found here; \"driver\": \">=580.65.06\" would promise one");
  else if (has_parent)
    members.Comment("driver " + found.driver_version + " was found; the lowest one is the parent's");
  else
    members.Add("driver", ">=" + found.driver_version, "the lowest driver of the fleet; this one was found");
  if (found.gpus.empty()) {
    members.Comment(
        "no GPU was found here; list the fleet's GPUs, as in \"compute_capability\": [\"8.0\", \"9.0\"]");
    return members;
  }
  const std::string capability = LowestCapability(found.gpus);
  members.Add("gpus", ">=1", "how many a job gets");
  if (!capability.empty())
    members.Add("compute_capability", ">=" + capability,
                "the lowest of the fleet, or a list of all its GPUs, [\"" + capability +
                    "\", ...]; found: " + found.gpus[0].model);
  return members;
}

bool UsesGpu(const FirstMatrixSubject& subject) { return subject.uses_gpu; }

// What a subject that uses a GPU lacks is not meant to be absent: others bring it, or it is linked
// statically.
bool IsAbsent(const std::vector<FirstMatrixSubject>& subjects, std::string FirstMatrixSubject::*version) {
  const bool found = std::any_of(subjects.begin(), subjects.end(),
                                 [&](const FirstMatrixSubject& s) { return !(s.*version).empty(); });
  return !found && (version == &FirstMatrixSubject::cudnn_version ||
                    std::none_of(subjects.begin(), subjects.end(), UsesGpu));
}

// Adds what all subjects have in common of one library.
void AddPromise(const char* key, const std::vector<FirstMatrixSubject>& subjects,
                std::string FirstMatrixSubject::*version, Members* members) {
  std::vector<std::string> versions, with, without;
  for (const FirstMatrixSubject& subject : subjects) {
    const std::string& found = subject.*version;
    (found.empty() ? without : with).push_back(subject.name);
    if (!found.empty()) versions.push_back(found);
  }
  const std::string range = TheseMinors(versions);
  std::sort(versions.begin(), versions.end());
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  if (IsAbsent(subjects, version))
    members->Add(key, "absent", "none was found, and none is allowed");
  else if (with.empty())
    members->Comment(Quoted(key) + " is not promised: no CUDA runtime was found beside what uses a GPU");
  else if (!without.empty() || range.empty())
    members->Comment(Quoted(key) + " is not promised: " + Join(versions, " and ") + " was found by " +
                     Join(with, ", ") + (without.empty() ? "" : " and none by " + Join(without, ", ")));
  else
    members->Add(key, range, Join(versions, " and ") + (versions.size() == 1 ? " was found" : " were found"));
}

Members Image(const std::vector<FirstMatrixSubject>& subjects) {
  Members members;
  AddPromise("toolkit", subjects, &FirstMatrixSubject::toolkit_version, &members);
  AddPromise("cudnn", subjects, &FirstMatrixSubject::cudnn_version, &members);
  return members;
}

// Empty where the loader's view is the only one, which is what a matrix means that says nothing.
std::string Subjects(const std::vector<FirstMatrixSubject>& subjects) {
  if (subjects.size() == 1 && subjects[0].name == "system" && subjects[0].spec == "loader") return {};
  Members members;
  for (const FirstMatrixSubject& subject : subjects)
    members.Add(subject.name, subject.spec,
                "cuDNN " + (subject.cudnn_version.empty() ? "not found" : subject.cudnn_version));
  return "\n  // The subjects that are tested instead of what the loader finds. \"subjects\": \"auto\" "
         "would take\n  // every part of the image that uses a GPU.\n  \"subjects\": {\n" +
         members.Text() + "  },\n";
}

std::string Checks(const std::vector<FirstMatrixSubject>& subjects) {
  const auto some = [&](std::string FirstMatrixSubject::*version) {
    return std::any_of(subjects.begin(), subjects.end(),
                       [&](const FirstMatrixSubject& s) { return !(s.*version).empty(); });
  };
  std::vector<std::string> entries;
  const auto add = [&entries](const std::string& check, const std::string& rest = "") {
    entries.push_back("{ \"check\": " + Quoted(check) + rest + " }");
  };
  // Where one subject lacks it, and none is promised to lack it.
  const auto lacked = [&](std::string FirstMatrixSubject::*version) {
    const bool lacks = std::any_of(subjects.begin(), subjects.end(),
                                   [&](const FirstMatrixSubject& s) { return (s.*version).empty(); });
    return lacks && !IsAbsent(subjects, version) ? ", \"allow_skip\": [\"absent\"]" : "";
  };
  for (const char* name : {"driver.load", "driver.version", "driver.devices", "driver.canary"}) add(name);
  // What is promised to be free of CUDA has no file for them.
  if (std::any_of(subjects.begin(), subjects.end(), UsesGpu)) {
    for (const char* name : {"image.device_code", "image.symbols", "image.jit_tools", "image.known_faults"})
      add(name, ", \"allow_skip\": [\"absent\"]");
    add("framework.versions", ", \"allow_skip\": [\"absent\", \"version\"]");
  }
  add("toolkit.runtime", lacked(&FirstMatrixSubject::toolkit_version));
  if (some(&FirstMatrixSubject::toolkit_version)) {
    // toolkit.launch compiles its kernel with NVRTC.
    if (std::none_of(subjects.begin(), subjects.end(), [](const auto& s) { return s.without_nvrtc; }))
      for (const char* name : {"toolkit.nvrtc", "toolkit.launch"})
        add(name, lacked(&FirstMatrixSubject::toolkit_version));
    add("toolkit.gemm", ", \"allow_skip\": [\"absent\"]");  // a toolkit without cuBLAS is one
  }
  for (const char* name : {"cudnn.load", "cudnn.version"})
    add(name, lacked(&FirstMatrixSubject::cudnn_version));
  if (some(&FirstMatrixSubject::cudnn_version)) add("cudnn.init", lacked(&FirstMatrixSubject::cudnn_version));
  std::string out = "  \"checks\": [\n";
  for (const std::string& entry : entries)
    out += "    " + entry + (&entry == &entries.back() ? "" : ",") + "\n";
  return out + "  ]\n";
}

}  // namespace

std::string FirstMatrix(const FirstMatrixInput& input) {
  const bool has_parent = !input.parent.empty();
  std::string out =
      "// What this image and its runners promise, as found by cudnn-ci init. Read it, widen what may "
      "change,\n"
      "// and keep it beside what builds the image. Keys and ranges: matrices/README.md.\n"
      "{\n  \"schema\": \"cudnn-ci/matrix/1\",\n  \"name\": " +
      Quoted(input.name) + ",\n";
  if (has_parent) {
    out +=
        "  // The checks, and what is not said below, come from a matrix that comes with cudnn-ci.\n  "
        "\"extends\": " +
        Quoted("builtin:" + input.parent) + ",\n";
  }
  out += Subjects(input.subjects);
  const std::string runner = Runner(input.host, has_parent).Text();
  out +=
      "\n  // What the fleet promises. A runner that does not keep it is at fault, not the image.\n"
      "  \"runner\": {\n" +
      runner + "  },\n";
  out += "\n  // What the image promises; \"absent\" is a promise too.\n  \"image\": {\n" +
         Image(input.subjects).Text() + (has_parent ? "  }\n" : "  },\n");
  if (!has_parent) out += "\n" + Checks(input.subjects);
  return out + "}\n";
}

}  // namespace cudnn_ci
