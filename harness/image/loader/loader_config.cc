#include "image/loader/loader_config.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "image/elf/elf_file.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 64 << 10;
constexpr int kMostFiles = 200;

// The first words of the lines of a file; a comment begins with '#'.
std::vector<std::string> WordsOf(const std::string& path) {
  std::error_code ignored;
  std::vector<std::string> words;
  if (!fs::is_regular_file(path, ignored) || fs::file_size(path, ignored) > kMostBytes) return words;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream text(line.substr(0, line.find('#')));
    for (std::string word; text >> word;) words.push_back(word);
  }
  return words;
}

}  // namespace

std::vector<std::string> ConfiguredFolders(const std::string& root) {
  bool included = false;
  std::vector<std::string> folders;
  const auto take = [&](const std::string& word) {
    if (word[0] == '/') folders.push_back(word);
  };
  for (const std::string& word : WordsOf(root + "/etc/ld.so.conf")) {
    included = included || word.find("ld.so.conf.d/*.conf") != std::string::npos;
    take(word);
  }
  if (!included) return folders;
  std::error_code error;
  int files = 0;
  for (fs::directory_iterator it(root + "/etc/ld.so.conf.d", error), end;
       !error && it != end && ++files <= kMostFiles; it.increment(error))
    if (it->path().extension() == ".conf")
      for (const std::string& word : WordsOf(it->path().string())) take(word);
  return folders;
}

std::string LdconfigLine(const std::vector<std::string>& sonames, const std::string& root) {
  std::error_code error;
  if (!fs::exists(root + "/sbin/ldconfig", error)) return {};
  for (const std::string& folder : ConfiguredFolders(root))
    for (const std::string& soname : sonames)
      if (ElfFile(root + folder + "/" + soname).kind() == ElfFile::Kind::kNative) return "RUN ldconfig";
  return {};
}

}  // namespace cudnn_ci
