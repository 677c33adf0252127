#include "image/symbols/symbols_steps.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "image/symbols/symbols_remedy.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

std::string WithMajor(std::string text, int cuda_major) {
  const std::size_t at = text.find('%');
  if (at != std::string::npos) text.replace(at, 1, std::to_string(cuda_major));
  return text;
}

// The folders that a pattern of folders means, "nvidia/cu*/lib" below `in`, sorted.
std::vector<std::string> FoldersLike(const std::string& in, const std::string& pattern) {
  std::vector<std::string> folders = {in};
  std::error_code error;
  for (const std::string& part : Split(pattern, '/')) {
    std::vector<std::string> next;
    for (const std::string& folder : folders) {
      if (part.find('*') == std::string::npos) next.push_back(folder + "/" + part);
      if (part.find('*') == std::string::npos) continue;
      for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        if (GlobMatch(part, it->path().filename().string())) next.push_back(it->path().string());
    }
    std::sort(next.begin(), next.end());
    folders = std::move(next);
  }
  return folders;
}

}  // namespace

std::vector<std::string> NamesLike(const std::string& folder, const std::string& pattern) {
  std::vector<std::string> names;
  std::error_code error;
  if (pattern.find('*') == std::string::npos) {
    if (fs::is_regular_file(folder + "/" + pattern, error)) names.push_back(pattern);
    return names;
  }
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (std::string name = it->path().filename().string(); GlobMatch(pattern, name))
      names.push_back(std::move(name));
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> FilesOfStep(const OpenStep& step, int cuda_major,
                                     const std::vector<std::string>& package_folders) {
  std::vector<std::string> files;
  for (const std::string& packages : package_folders) {
    for (const std::string& folder : step.folders) {
      if (cuda_major == 0 && folder.find('%') != std::string::npos) continue;
      for (const std::string& in : FoldersLike(packages, WithMajor(folder, cuda_major)))
        for (const std::string& name : NamesLike(in, step.name)) files.push_back(in + "/" + name);
    }
  }
  return files;
}

namespace {

// What a source says of a name: "12.6" of "cuda = '12.6'", or of "('cuda', '12.6')" in a list.
std::string SaidOf(const std::string& name, const std::string& line) {
  if (const std::size_t equals = line.find('=');
      equals != std::string::npos && Trim(std::string_view(line).substr(0, equals)) == name)
    return QuotedText(line.substr(equals));
  const std::string key = "'" + name + "', ";
  const std::size_t at = name.empty() ? std::string::npos : line.find(key);
  return at == std::string::npos ? "" : QuotedText(line.substr(at + key.size()));
}

// What the package's own file of versions says.
BuiltFor SaidVersions(const PackageRule& rule, const std::vector<std::string>& package_folders) {
  BuiltFor built;
  if (rule.versions_in.empty()) return built;
  for (const std::string& folder : package_folders)
    for (const std::string& line : Split(ReadSmallFile(folder + "/" + rule.versions_in), '\n')) {
      if (built.cuda_major == 0)
        built.cuda_major = std::max(0, std::atoi(SaidOf(rule.cuda_name, line).c_str()));
      if (built.cudnn.empty()) built.cudnn = SaidOf(rule.cudnn_name, line);
    }
  built.said = built.cuda_major != 0;
  return built;
}

}  // namespace

BuiltFor BuiltForOf(const PackageRule& rule, const SymbolRules& rules,
                    const std::vector<std::string>& package_folders, LoaderFiles* files) {
  if (rule.cuda_major != 0) return {rule.cuda_major};
  BuiltFor built = SaidVersions(rule, package_folders);
  if (built.cuda_major != 0 || rule.cuda_of.empty()) return built;
  const std::size_t slash = rule.cuda_of.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : rule.cuda_of.substr(0, slash);
  const OpenStep step = {{folder}, rule.cuda_of.substr(slash + 1), {}, StepNeed::kTried};
  for (const std::string& found : FilesOfStep(step, 0, package_folders)) {
    const LoaderFiles::File file = files->Open(found);
    built.cuda_major = file.table ? rules.CudaMajorOf(file.table->needed) : 0;
    if (built.cuda_major > 0) break;
  }
  return built;
}

}  // namespace cudnn_ci
