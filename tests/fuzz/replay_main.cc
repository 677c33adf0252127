// Drives a fuzz target without libFuzzer: every file of the corpus as it is, then mutations of them, the same
// ones every time. Knows nothing of what is tested; a finding aborts and leaves the input's origin on stderr.
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "fuzz_target.h"

namespace {

std::string current;  // what is being tested, for the one who reads of the abort

std::vector<std::string> ReadCorpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());  // directory order differs between file systems
  std::vector<std::string> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

// Only raw draws of the generator: what the standard's distributions make of them differs between libraries.
class Mutator {
 public:
  std::string Mutate(const std::vector<std::string>& corpus) {
    std::string text = Pick(corpus);
    for (size_t rounds = 1 + Below(4); rounds > 0; --rounds) Once(corpus, &text);
    return text;
  }

 private:
  size_t Below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  const std::string& Pick(const std::vector<std::string>& from) { return from[Below(from.size())]; }

  void Once(const std::vector<std::string>& corpus, std::string* text) {
    static const std::vector<std::string> kTokens = {"{",
                                                     "}",
                                                     "[",
                                                     "]",
                                                     ",",
                                                     ":",
                                                     "\"",
                                                     "null",
                                                     "true",
                                                     "-1",
                                                     "0",
                                                     "1e308",
                                                     "9223372036854775807",
                                                     "\n",
                                                     "\\u0",
                                                     "\xff",
                                                     "1e999",
                                                     "\xc3\xa9",
                                                     "18446744073709551615",
                                                     "//",
                                                     "-9223372036854775809"};
    const size_t at = Below(text->size() + 1), length = Below(std::min<size_t>(64, text->size() - at + 1));
    switch (Below(6)) {
      case 0:
        if (at < text->size()) (*text)[at] = static_cast<char>((*text)[at] ^ (1 << Below(8)));
        break;
      case 1:
        text->erase(at, length);
        break;
      case 2:
        text->insert(at, text->substr(at, length));
        break;
      case 3:
        text->insert(at, Pick(kTokens));
        break;
      case 4:
        text->replace(at, length, Pick(kTokens));
        break;
      default: {
        const std::string& other = Pick(corpus);
        text->replace(at, std::string::npos, other.substr(Below(other.size() + 1)));
      }
    }
  }

  std::mt19937_64 random_{20250101};
};

void Test(const std::string& text, const std::string& origin) {
  current = origin;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

void SayWhere(int) { fprintf(stderr, "while testing %s\n", current.c_str()); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s CORPUS MUTATIONS\n", argv[0]);
    return 2;
  }
  const std::vector<std::string> corpus = ReadCorpus(argv[1]);
  if (corpus.empty()) {
    fprintf(stderr, "no corpus in %s\n", argv[1]);
    return 1;
  }
  signal(SIGABRT, SayWhere);
  for (size_t i = 0; i < corpus.size(); ++i)
    Test(corpus[i], "file " + std::to_string(i) + " in order of name");
  Mutator mutator;
  const long mutations = strtol(argv[2], nullptr, 10);
  for (long i = 0; i < mutations; ++i) Test(mutator.Mutate(corpus), "mutation " + std::to_string(i));
  printf("%zu documents and %ld mutations of them\n", corpus.size(), mutations);
  return 0;
}
