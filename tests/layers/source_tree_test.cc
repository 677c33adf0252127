// Holds the whole source tree against the rules.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "cleaning_rules.h"
#include "include_rules.h"
#include "message_rules.h"
#include "size_rules.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// Path relative to the repository -> text, of every C and C++ file of harness and plugins.
std::map<std::string, std::string> SourceFiles() {
  const fs::path root = CUDNN_CI_SOURCE_DIR;
  std::map<std::string, std::string> files;
  for (const char* top : {"harness", "plugins"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension();
      if (!entry.is_regular_file() ||
          (extension != ".cc" && extension != ".c" && extension != ".h" && extension != ".hpp")) {
        continue;
      }
      std::ostringstream text;
      text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      files[fs::relative(entry.path(), root).generic_string()] = text.str();
    }
  }
  return files;
}

TEST(SourceTree, FollowsTheDependencyTable) {
  for (const auto& [path, text] : SourceFiles()) {
    for (const std::string& broken : BrokenRules(path, text)) ADD_FAILURE() << broken;
  }
}

TEST(SourceTree, HasNoFileAndNoFunctionThatIsTooLong) {
  for (const auto& [path, text] : SourceFiles()) {
    for (const std::string& problem : TooLong(path, text)) ADD_FAILURE() << problem;
  }
}

TEST(SourceTree, SearchesNoMessage) {
  const auto files = SourceFiles();
  for (const auto& [path, text] : files)
    for (const std::string& problem : SearchedMessages(path, text)) ADD_FAILURE() << problem;
  for (const MessageReader& reader : MessageReaders()) {
    ASSERT_EQ(files.count(std::string(reader.path)), 1u) << reader.path;
    EXPECT_FALSE(MessageSearches(reader.path, files.at(std::string(reader.path))).empty())
        << reader.path << " searches none and needs no place in the list";
  }
}

TEST(SourceTree, CleansTextWhereItEnters) {
  const auto files = SourceFiles();
  for (const auto& [path, text] : files)
    for (const std::string& problem : MisplacedCleanings(path, text)) ADD_FAILURE() << problem;
  for (const CleaningPlace& place : CleaningPlaces()) {
    ASSERT_EQ(files.count(std::string(place.path)), 1u) << place.path;
    EXPECT_FALSE(Cleanings(place.path, files.at(std::string(place.path))).empty())
        << place.path << " cleans none and needs no place in the list";
  }
}

TEST(SourceTree, IsReadWhole) {
  // A scan that finds nothing proves nothing: files of each kind must have been seen, with their includes.
  const auto files = SourceFiles();
  for (const char* known :
       {"harness/sdk/include/cudnn_ci/plugin.h", "harness/sdk/include/cudnn_ci/check.hpp",
        "harness/base/result.h", "harness/model/plan/plan.h", "plugins/common/driver_api.cc"}) {
    ASSERT_EQ(files.count(known), 1u) << known;
    EXPECT_FALSE(IncludesOf(files.at(known)).empty()) << known;
  }
  ASSERT_EQ(files.count("harness/base/text.cc"), 1u);
  EXPECT_GT(FunctionsOf(files.at("harness/base/text.cc")).size(), 10u);
}

}  // namespace
}  // namespace cudnn_ci
