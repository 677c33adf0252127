#include "include_rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "room_rules.h"

namespace cudnn_ci {
namespace {

// Layer -> the layers it may include beside itself. harness/DESIGN.md draws the same as a graph.
const std::map<std::string, std::set<std::string>, std::less<>>& AllowedLayers() {
  static const std::map<std::string, std::set<std::string>, std::less<>> kAllowed = {
      {"sdk", {}},
      {"base", {}},
      {"embed", {"base"}},
      {"image", {"base"}},
      {"model", {"image", "base"}},
      {"wire", {"model", "base"}},
      {"exec", {"wire", "model", "image", "base"}},
      {"worker", {"wire", "model", "base", "sdk"}},
      {"plant", {}},
      {"report", {"model", "base"}},
      {"review", {"report", "model", "base"}},
      {"launch", {"report", "model", "base"}},
      {"cli", {"launch", "embed", "exec", "review", "report", "model", "image", "base"}},
      {"main", {"cli", "launch"}},
      {"plugins", {"sdk", "image"}},
  };
  return kAllowed;
}

std::string_view FirstFolder(std::string_view path) {
  const size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// Third-party headers by prefix, and where each may be included; an empty place is any .cc file.
struct ThirdParty {
  std::string_view header;
  std::string_view place;
  std::string_view place_suffix;
};
constexpr std::array<ThirdParty, 9> kThirdParty = {{
    {"nlohmann/", "", ""},
    {"utf8.h", "harness/base/utf8.cc", ""},
    {"CLI/", "harness/cli/", ""},
    {"lz4.h", "plugins/image/device_code/fatbin.cc", ""},
    {"zstd.h", "plugins/image/device_code/fatbin.cc", ""},
    {"zstd.h", "harness/embed/archive.cc", ""},
    {"tinyxml2.h", "harness/report/formats/junit", ".cc"},
    {"boost/dll", "harness/worker/plugin_library.cc", ""},
    {"boost/", "", ""},
}};

// The harness never touches CUDA; the worker asks the driver after a case, plugins do the rest.
constexpr std::array<std::string_view, 4> kCudaHeaders = {"cuda", "cudnn.h", "nvml.h", "nvrtc.h"};

std::string ThirdPartyProblem(std::string_view path, std::string_view include) {
  std::string_view header;  // of the rules that apply
  std::string places;
  for (const ThirdParty& rule : kThirdParty) {
    if (!include.starts_with(rule.header) || (!header.empty() && rule.header != header)) continue;
    header = rule.header;
    if (!path.ends_with(".cc")) return "third-party headers belong into .cc files";
    if (path.starts_with(rule.place) && path.ends_with(rule.place_suffix)) return "";
    places += (places.empty() ? "" : " and ") + std::string(rule.place) +
              std::string(rule.place_suffix.empty() ? "" : "*") + std::string(rule.place_suffix);
  }
  return places.empty() ? "" : "is for " + places + " only";
}

// Where exec talks to the kernel. All other files of it are values, pure functions and state machines.
constexpr std::array<std::string_view, 11> kSystemFiles = {
    "attachments.cc",   "bounded_call.cc",   "guardian.cc",      "isolation.cc",
    "launch.cc",        "plugin_file.cc",    "pool.cc",          "proc.cc",
    "process_posix.cc", "scratch_folder.cc", "worker_process.cc"};

// System headers of exec that have one place: there is one file that starts programs and one loop that waits
// for them. A worker's process names the descriptors for it; a bounded call waits for its child alone.
struct SystemPlace {
  std::string_view header;
  std::array<std::string_view, 3> files;
};
constexpr std::array<SystemPlace, 3> kSystemPlaces = {{
    {"spawn.h", {"process_posix.cc"}},
    {"poll.h", {"pool.cc", "worker_process.cc", "bounded_call.cc"}},
    {"sys/signalfd.h", {"pool.cc", "isolation.cc"}},
}};

bool IsSystemHeader(const Include& include) {
  constexpr std::array<std::string_view, 5> kHeaders = {"unistd.h", "fcntl.h", "poll.h", "spawn.h",
                                                        "dirent.h"};
  if (include.quoted || include.name == "sys/types.h") return false;
  return include.name.starts_with("sys/") ||
         std::find(kHeaders.begin(), kHeaders.end(), include.name) != kHeaders.end();
}

std::string SystemProblem(std::string_view path, const Include& include) {
  if (!IsSystemHeader(include)) return "";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const auto has_name = [&](const auto& files) {
    return std::find(files.begin(), files.end(), name) != files.end();
  };
  for (const SystemPlace& rule : kSystemPlaces)
    if (include.name == rule.header && !has_name(rule.files))
      return "is for " + std::string(rule.files[0]) + " only";
  return has_name(kSystemFiles) ? "" : "this file of exec knows no system calls";
}

bool IsCudaHeader(std::string_view include) {
  return include.ends_with(".h") && std::any_of(kCudaHeaders.begin(), kCudaHeaders.end(),
                                                [&](auto prefix) { return include.starts_with(prefix); });
}

// The exact data of collectives and what is known of them, which know neither CUDA nor NCCL's functions: a
// framework's collectives are held to the same.
constexpr std::array<std::string_view, 4> kCollectives = {"nccl/collective_data.h", "nccl/collective_spec.h",
                                                          "nccl/known_faults.h", "nccl/nccl_types.h"};

// The exact data of products, likewise, which kernels of the image are held to.
constexpr std::array<std::string_view, 2> kProducts = {"gemm/matmul_data.h", "gemm/matmul_spec.h"};

// A plugin sees its own folder and the libraries of all plugins, which are: common, and above it compute.
std::string PluginProblem(std::string_view own, std::string_view name) {
  const std::string_view included = FirstFolder(name);
  if (included.empty() || included == own || included == "common") return "";
  if (own == "framework" && std::find(kCollectives.begin(), kCollectives.end(), name) != kCollectives.end())
    return "";
  if (own == "kernels" && std::find(kProducts.begin(), kProducts.end(), name) != kProducts.end()) return "";
  if (included != "compute") return "a plugin must not know another plugin";
  return own == "common" ? "common must not know compute" : "";
}

std::string LayerProblem(std::string_view path, std::string_view layer, const Include& include) {
  const std::string_view folder = FirstFolder(include.name);
  std::string_view target = folder == "cudnn_ci" ? "sdk" : folder;
  // Two plugins have the names of layers, whose files lie in rooms.
  if (layer == "plugins" && (folder == "image" || folder == "exec") && !LiesInARoom(include.name))
    target = "";
  if (target == layer) return "";
  // The keys of facts stand once, in C, for plugins and harness alike.
  if (layer == "model" && include.name == "cudnn_ci/facts.h") return "";
  // Readers of files, control groups, paths, the mark of a cut and names of files, random bits, and ids of
  // findings, which harness and plugins share.
  constexpr std::array<std::string_view, 16> kShared = {"base/cgroup.h",        "base/memory_room.h",
                                                        "base/process_room.h",  "base/cut_mark.h",
                                                        "base/driver_names.h",  "base/file.h",
                                                        "base/json_bytes.h",    "base/regular_file.h",
                                                        "base/path.h",          "base/knowledge_words.h",
                                                        "base/package_names.h", "base/text.h",
                                                        "base/variables.h",     "base/random.h",
                                                        "base/launched_task.h", "model/record/finding_ids.h"};
  if (layer == "plugins" && std::find(kShared.begin(), kShared.end(), include.name) != kShared.end())
    return "";
  if (AllowedLayers().count(target) != 0) {
    if (AllowedLayers().find(layer)->second.count(std::string(target)) != 0) return "";
    return std::string(layer) + " must not know " + std::string(target);
  }
  return layer == "plugins" && include.quoted ? PluginProblem(FirstFolder(path.substr(8)), include.name) : "";
}

}  // namespace

std::vector<Include> IncludesOf(std::string_view text) {
  std::vector<Include> includes;
  const auto skip_blanks = [](std::string_view* line) {
    while (!line->empty() && (line->front() == ' ' || line->front() == '\t')) line->remove_prefix(1);
  };
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    skip_blanks(&line);
    if (!line.starts_with('#')) continue;
    line.remove_prefix(1);
    skip_blanks(&line);
    if (!line.starts_with("include")) continue;
    line.remove_prefix(7);
    skip_blanks(&line);
    if (line.empty() || (line.front() != '"' && line.front() != '<')) continue;
    const bool quoted = line.front() == '"';
    const size_t last = line.find(quoted ? '"' : '>', 1);
    if (last != std::string_view::npos) {
      includes.push_back({std::string(line.substr(1, last - 1)), quoted});
    }
  }
  return includes;
}

std::string LayerOf(std::string_view path) {
  if (path.starts_with("plugins/")) return "plugins";
  if (!path.starts_with("harness/")) return "";
  path.remove_prefix(8);
  if (path == "main.cc") return "main";
  return std::string(FirstFolder(path));
}

std::vector<std::string> BrokenRules(std::string_view path, std::string_view text) {
  std::vector<std::string> broken;
  const std::string layer = LayerOf(path);
  if (layer.empty()) return broken;
  const std::string where(path);
  if (AllowedLayers().count(layer) == 0) {
    broken.push_back(where + ": '" + layer + "' is no layer of the table");
    return broken;
  }
  for (const Include& include : IncludesOf(text)) {
    const auto report = [&](const std::string& why) {
      if (!why.empty()) broken.push_back(where + ": #include " + include.name + ": " + why);
    };
    if (include.name.find("..") != std::string::npos) report("name the layer, not the way to it");
    report(ThirdPartyProblem(path, include.name));
    report(LayerProblem(path, layer, include));
    if (include.quoted) report(RoomProblem(path, include.name));
    if (layer == "exec") report(SystemProblem(path, include));
    if (IsCudaHeader(include.name) && layer != "plugins" && layer != "worker")
      report("the harness never touches CUDA");
  }
  return broken;
}

}  // namespace cudnn_ci
