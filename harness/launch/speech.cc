#include "launch/speech.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <utility>

#include "base/secrets.h"
#include "base/text.h"
#include "report/text/pipeline_commands.h"

namespace cudnn_ci::launch {
namespace {

constexpr size_t kMostBytes = 4000, kMostRead = 64 << 10;

}  // namespace

void Say(const std::string& message) {
  fprintf(stderr, "cudnn-ci run: %s\n", WithoutPipelineCommands(ShownLine(message)).c_str());
}

std::string Shown(std::string_view bytes) { return Secrets::OfThisProcess().Mask(CleanText(bytes)); }

std::string ShownLine(std::string_view bytes, size_t most_bytes) {
  return SingleLine(Shown(bytes), most_bytes);
}

std::string LastLines(std::string_view said, int lines) {
  if (said.size() > kMostRead) said.remove_prefix(said.size() - kMostRead);
  const std::string shown = Shown(said);
  std::string_view last = shown;
  while (!last.empty() && last.back() == '\n') last.remove_suffix(1);
  size_t begin = last.size();
  for (int i = 0; i < lines && begin != std::string_view::npos && begin > 0; ++i)
    begin = last.rfind('\n', begin - 1);
  if (begin != std::string_view::npos && begin < last.size())
    last.remove_prefix(begin + (last[begin] == '\n' ? 1 : 0));
  return last.size() <= kMostBytes ? std::string(last) : HeadAndTail(last, 0, kMostBytes);
}

void GithubSilence::Begin(std::string word, bool in_one) {
  const char* const github = getenv("GITHUB_ACTIONS");
  if (github == nullptr || std::string_view(github) != "true") return;
  if (in_one) dup2(STDOUT_FILENO, STDERR_FILENO);
  word_ = std::move(word);
  fprintf(stderr, "::stop-commands::%s\n", word_.c_str());
}

GithubSilence::~GithubSilence() {
  if (!word_.empty()) fprintf(stderr, "\n::%s::\n", word_.c_str());
}

}  // namespace cudnn_ci::launch
