#include "image/elf/library_text.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/regular_file.h"
#include "image/elf/byte_source.h"
#include "image/elf/elf_sections.h"

namespace cudnn_ci {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{32} << 20;
constexpr std::size_t kMostVersion = 29;  // three numbers of nine digits, and dots

// "2.28.9" of "2.28.9+cuda13.0"; empty: no three numbers.
std::string_view ThreeNumbers(std::string_view text) {
  text = text.substr(0, text.find_first_not_of("0123456789."));
  const bool numbers = std::count(text.begin(), text.end(), '.') == 2 && text.front() != '.' &&
                       text.back() != '.' && text.find("..") == std::string_view::npos;
  return numbers && text.size() <= kMostVersion ? text : std::string_view();
}

// Empty: it cannot be read, or is no library.
std::string ReadOnlyData(const std::string& path) {
  const Fd file = OpenRegularFile(path);
  struct stat st {};
  if (!file.valid() || fstat(file.get(), &st) != 0) return "";
  const ByteSource bytes(file.get(), static_cast<std::uint64_t>(st.st_size));
  const ElfSections sections = ReadElfSections(bytes);
  const ElfSection* data = sections.Find(".rodata");
  return data == nullptr ? "" : bytes.Text(data->offset, std::min(data->size, kMostBytes));
}

}  // namespace

std::string VersionBehind(const std::string& path, const std::string& marker) {
  const std::string text = ReadOnlyData(path);
  std::string version;
  for (std::size_t at = text.find(marker); at != std::string::npos; at = text.find(marker, at + 1)) {
    const std::string_view found = ThreeNumbers(std::string_view(text).substr(at + marker.size()));
    if (found.empty() || found == version) continue;
    if (!version.empty()) return "";
    version = found;
  }
  return version;
}

std::string WordBehind(const std::string& path, const std::string& marker) {
  constexpr std::string_view kLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._+-";
  constexpr std::size_t kMostLetters = 64;
  const std::string text = ReadOnlyData(path);
  for (std::size_t at = text.find(marker); at != std::string::npos; at = text.find(marker, at + 1)) {
    const std::string_view behind = std::string_view(text).substr(at + marker.size(), kMostLetters);
    if (!ThreeNumbers(behind).empty())
      return std::string(behind.substr(0, behind.find_first_not_of(kLetters)));
  }
  return "";
}

std::string BundledName(const std::string& name) {
  constexpr std::size_t kDigits = 8;  // of the hash
  const std::size_t so = name.find(".so"), dash = name.rfind('-', so);
  if (so == std::string::npos || dash == std::string::npos || so - dash != kDigits + 1) return "";
  const bool hash = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dash) + 1,
                                name.begin() + static_cast<std::ptrdiff_t>(so),
                                [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  return hash ? name.substr(0, dash) + name.substr(so) : "";
}

}  // namespace cudnn_ci
