#include "golden.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace cudnn_ci {
namespace {

void ReplaceAll(std::string* text, const std::string& from, const std::string& to) {
  for (size_t at = 0; !from.empty() && (at = text->find(from, at)) != std::string::npos; at += to.size())
    text->replace(at, from.size(), to);
}

}  // namespace

std::string Normalised(std::string text, const std::string& folder) {
  ReplaceAll(&text, folder, "FOLDER");
  ReplaceAll(&text, CUDNN_CI_TREE, "TREE");
  ReplaceAll(&text, CUDNN_CI_FIXTURES, "FIXTURES");
  ReplaceAll(&text, CUDNN_CI_SOURCE_DIR, "SOURCE");
  ReplaceAll(&text, "../tests/", "SOURCE/tests/");  // a compiler cache may have made the path relative
  const std::pair<const char*, const char*> rules[] = {
      {R"(\d{8}T\d{6}Z-[0-9a-f]{8})", "RUN_ID"},
      {R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?)", "TIME"},
      {R"rx(hostname="[^"]*")rx", R"(hostname="HOST")"},
      {R"(\b[0-9a-f]{64}\b)", "SHA256"},
      {R"(sha256 [0-9a-f]{16}\b)", "sha256 SHORT"},
      {R"rx(time="[0-9.]+")rx", R"(time="SECONDS")"},
      {R"(outcomes.cc:\d+|\.cc:\d+)", ".cc:LINE"},
      // What a limit says is exact; what was measured is not.
      {R"((\]|[a-z_]) \d+\.\d{3} s\b)", "$1 N s"},
      {R"(thread \d+ \([^\n]*)", "thread N"},
      {R"(\d+ bytes left out)", "N bytes left out"},
      // Where the compiler has put what crashed and how it got there; and where the screen breaks the line of
      // it, or a report cuts it, both of which depend on the length of a path.
      {R"((  evidence    SIG[^;\n]*; in)[^\n]*(\n {14}[^\n]*)*)", "$1 PLACE"},
      {R"(; in [^\n"]*)", "; in PLACE"},
      {R"((  plugins     from [^:\n]*:)[^\n]*(\n {14}[^\n]*)*)", "$1 FILES"},
      {R"(, address 0x[0-9a-f]+( in [^\n]*)?)", ", address ADDRESS"},
      {R"((\n *#\d+ [^\n]*)+)", "\n#FRAMES"},
      {R"(, slow\b)", ""},
      {R"(\n *<property name="flags" value="slow"/>)", ""},
      {R"(process \d+)", "process N"},
      // The table of version facts changes with every release of NVIDIA's, and so does what is known of
      // packages.
      {R"(\n  versions    [^\n]*)", ""},
      {R"rx(\n *<property name="(compatibility\.sha256|judged\.versions|knowledge(\.\d+)?)"[^\n]*)rx", ""},
  };
  for (const auto& [pattern, word] : rules) text = std::regex_replace(text, std::regex(pattern), word);
  return text;
}

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(CUDNN_CI_GOLDEN_DIR) + "/" + name;
  if (const char* update = getenv("CUDNN_CI_UPDATE_GOLDEN"); update && *update) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(golden.str(), text) << "differs from " << path << "; CUDNN_CI_UPDATE_GOLDEN=1 takes the new one";
}

void ExpectValidJunit(const std::string& file) {
  if (system("command -v xmllint >/dev/null 2>&1") != 0) return;
  const std::string command = std::string("xmllint --noout --schema '") + CUDNN_CI_GOLDEN_DIR +
                              "/junit-10.xsd' '" + file + "' >'" + file + ".lint' 2>&1";
  const int status = system(command.c_str());
  std::ifstream said(file + ".lint");
  std::ostringstream text;
  text << said.rdbuf();
  EXPECT_EQ(status, 0) << text.str();
}

}  // namespace cudnn_ci
