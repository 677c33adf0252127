#include "model/remarks.h"

#include <span>
#include <string_view>

namespace cudnn_ci {
namespace {

struct Kind {
  std::string_view code, words;
};

constexpr Kind kNotGated[] = {{"version-not-promised", kNotPromisedWords},
                              {"promise-not-judged", kNotJudgedWords},
                              {"gpu-not-used", kGpuNotUsedWords},
                              {"cudnn-not-used", kCudnnNotUsedWords},
                              {"speed-not-compared", kSpeedNotComparedWords}};

constexpr Kind kWarnings[] = {{"waiver-without-case", kWaiverMatchesNoneWords},
                              {"waiver-without-finding", kWaiverUndeclaredWords},
                              {"waiver-blame", kWaiverBlameWords},
                              {"waivers-cut", kMoreWaiversWords},
                              {"case-gone", kCaseGoneWords},
                              {"no-version-table", kNoVersionTableWords},
                              {"variable-removed", kVariableRemovedWords},
                              {"plugin-writable", kWritableByOthersWords},
                              {"plugin-owner", kOwnedByAnotherWords},
                              {"auto-elsewhere", kAutoElsewhereWords},
                              {"environments-cut", kAutomaticSubjectsWords},
                              {"subject-cut", kFolderNotSearchedWords},
                              {"subject-cut", kFoldersTooLargeWords},
                              {"image-unidentified", kImageUnidentifiedWords},
                              {"drivers-differ", kShardsDriversWords}};

std::vector<std::string> Codes(const std::vector<std::string>& sentences, std::span<const Kind> kinds) {
  std::vector<std::string> codes;
  for (const std::string& sentence : sentences) {
    std::string_view code = "other";
    for (const Kind& kind : kinds)
      if (code == "other" && sentence.find(kind.words) != std::string::npos) code = kind.code;
    codes.emplace_back(code);
  }
  return codes;
}

}  // namespace

std::vector<std::string> NotGatedCodes(const std::vector<std::string>& sentences) {
  return Codes(sentences, kNotGated);
}

std::vector<std::string> WarningCodes(const std::vector<std::string>& sentences) {
  return Codes(sentences, kWarnings);
}

}  // namespace cudnn_ci
