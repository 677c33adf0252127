// The messages that a test meets, compared whole with a golden file. The file has a section for each test, so
// that a sentence stands in it once, beside what was given; the test itself asserts codes and arguments.
#ifndef CUDNN_CI_TESTS_UNIT_GOLDEN_MESSAGES_H_
#define CUDNN_CI_TESTS_UNIT_GOLDEN_MESSAGES_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_ci {

// Collects rows while a test runs, and compares them at its end with the section [Suite.Test] of
// tests/golden/messages/NAME. CUDNN_CI_UPDATE_GOLDEN=1 writes the section instead. One object per test and
// file.
class GoldenMessages {
 public:
  using Replacements = std::vector<std::pair<std::string, std::string>>;

  // `replacements`: texts of this machine, such as a folder's path, and the words that stand for them in the
  // file.
  explicit GoldenMessages(const std::string& name, Replacements replacements = {})
      : path_(std::string(CUDNN_CI_GOLDEN_DIR "/messages/") + name), replacements_(std::move(replacements)) {
    const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
    title_ = std::string(test->test_suite_name()) + "." + test->name();
  }
  GoldenMessages(const GoldenMessages&) = delete;
  GoldenMessages& operator=(const GoldenMessages&) = delete;

  ~GoldenMessages() {
    const char* update = std::getenv("CUDNN_CI_UPDATE_GOLDEN");
    if (update && *update && !::testing::Test::HasFatalFailure()) {
      Update();
    } else {
      EXPECT_EQ(Sections()[title_], rows_)
          << path_ << " [" << title_ << "]; CUDNN_CI_UPDATE_GOLDEN=1 takes the new one";
    }
  }

  // Adds a row: what was given, in a few words, and the message that answered. Returns the message as it was.
  std::string Row(const std::string& given, const std::string& message) {
    std::string text = message.empty() ? "(no message)" : message;
    for (const auto& [from, to] : replacements_) Replace(from, to, &text);
    rows_ += "  " + (given.empty() ? "(empty)" : given) + "\n";
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) rows_ += (line.empty() ? "" : "    " + line) + "\n";
    return message;
  }

 private:
  static void Replace(const std::string& from, const std::string& to, std::string* text) {
    for (size_t at = 0; !from.empty() && (at = text->find(from, at)) != std::string::npos; at += to.size())
      text->replace(at, from.size(), to);
  }

  std::map<std::string, std::string> Sections() const {
    std::map<std::string, std::string> sections;
    std::ifstream file(path_);
    std::string title, line;
    while (std::getline(file, line)) {
      if (line.rfind("[", 0) == 0 && line.back() == ']')
        title = line.substr(1, line.size() - 2);
      else
        sections[title] += line + "\n";
    }
    return sections;
  }

  // Tests of one file may run side by side.
  void Update() const {
    const int lock = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    ASSERT_GE(lock, 0) << path_;
    flock(lock, LOCK_EX);
    std::map<std::string, std::string> sections = Sections();
    if (rows_.empty())
      sections.erase(title_);
    else
      sections[title_] = rows_;
    std::ofstream file(path_);
    for (const auto& [title, rows] : sections) file << "[" << title << "]\n" << rows;
    file.close();
    close(lock);
  }

  const std::string path_;
  const Replacements replacements_;
  std::string title_, rows_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_GOLDEN_MESSAGES_H_
