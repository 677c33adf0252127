#include "image/symbols/symbols_variants.h"

#include <algorithm>
#include <cctype>

namespace cudnn_ci {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// The name without its folder and without what follows the first dot.
std::string BareName(const std::string& file_name) {
  const std::string name = file_name.substr(file_name.rfind('/') + 1);
  return name.substr(0, name.find('.', 1));
}

}  // namespace

std::string VersionDigits(const std::string& version, int parts) {
  std::string digits;
  for (const char c : version) {
    if (c == '.' && --parts == 0) break;
    if (c != '.' && !IsDigit(c)) break;
    if (c != '.') digits += c;
  }
  return digits;
}

std::string CudaDigitsOf(const std::string& version) {
  const std::size_t local = version.find("+cu");
  if (local == std::string::npos) return "";
  const std::size_t begin = local + 3,
                    end = std::min(version.find_first_not_of("0123456789", begin), version.size());
  return version.substr(begin, end - begin);
}

VariantName VariantOf(const std::string& path, const MachineWords& machines) {
  VariantName name;
  const std::size_t slash = path.rfind('/') + 1;
  const std::string text = path.substr(0, slash) + BareName(path);
  for (std::size_t at = 0; at < text.size();) {
    if (!IsLetter(text[at]) && !IsDigit(text[at])) {
      name.key += text[at++];
      continue;
    }
    std::size_t letters = at;
    while (letters < text.size() && IsLetter(text[letters])) ++letters;
    std::size_t digits = letters;
    while (digits < text.size() && IsDigit(text[digits])) ++digits;
    const std::string word = text.substr(at, letters - at), number = text.substr(letters, digits - letters);
    const auto machine = machines.find(word);
    const bool device = machine != machines.end();
    if (number.empty() && !device) {
      name.key += word;
    } else {
      if (name.marks.empty()) name.begin = device ? at : letters;
      name.key += (device ? "" : word) + "#";
      name.marks.push_back({word, number, device ? std::optional(machine->second) : std::nullopt});
    }
    at = digits;
  }
  return name;
}

VariantFit FitOf(const VariantName& name, const BuiltWith& torch) {
  VariantFit fit = VariantFit::kUnknown;
  for (std::size_t i = 0; i < name.marks.size(); ++i) {
    const VariantMark& mark = name.marks[i];
    bool fits = false;
    if (mark.word == "torch" && !torch.version.empty()) {
      // "torch29", or "torch2.9" whose minor is a mark of its own.
      const bool apart = i + 1 < name.marks.size() && name.marks[i + 1].word.empty();
      fits = mark.number + (apart ? name.marks[i + 1].number : "") == VersionDigits(torch.version, 2);
    } else if (mark.machine == MachineKind::kCuda && !torch.version.empty()) {
      fits = !torch.cuda.empty() && (mark.number.empty() || mark.number == VersionDigits(torch.cuda, 2) ||
                                     mark.number == VersionDigits(torch.cuda, 1));
    } else if (mark.machine && !torch.version.empty()) {
      fits = mark.machine == MachineKind::kAnyGpu ? !torch.cuda.empty()
                                                  : mark.machine == MachineKind::kCpu && torch.cuda.empty();
    } else {
      continue;
    }
    if (!fits) return VariantFit::kOther;
    fit = VariantFit::kFits;
  }
  return fit;
}

bool NamesFile(const std::string& literal, const std::string& file_name, const MachineWords& machines) {
  constexpr std::size_t kShortest = 4;
  const std::string said = BareName(literal), name = BareName(file_name);
  if (said.size() < kShortest) return false;
  const VariantName variant = VariantOf(name, machines);
  for (const std::string& begin : {std::string(), std::string("lib")}) {
    const std::string whole = begin + said;
    if (whole == name) return true;
    if (variant.marks.empty() || name.compare(0, whole.size(), whole) != 0) continue;
    // A separator may belong to what the source puts in.
    if (whole.size() + 1 >= variant.begin) return true;
  }
  return false;
}

}  // namespace cudnn_ci
