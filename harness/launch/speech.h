// What the launcher says on stderr, and texts from outside made fit to be shown: cleaned, without secrets.
#ifndef CUDNN_CI_LAUNCH_SPEECH_H_
#define CUDNN_CI_LAUNCH_SPEECH_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cudnn_ci::launch {

// "cudnn-ci run: MESSAGE" as one line, without secrets and without commands to a pipeline.
void Say(const std::string& message);

// Bytes from outside as clean lines without secrets.
std::string Shown(std::string_view bytes);

// The same on one line of at most `most_bytes`.
std::string ShownLine(std::string_view bytes, size_t most_bytes = 4000);

// Of what a program has said: the last lines, at most `lines` of them and 4000 bytes. Secrets are masked
// before anything is cut.
std::string LastLines(std::string_view said, int lines);

// GitHub obeys lines of a job's output. What engine, tool and image say is no command to it between two marks
// that cannot be guessed.
class GithubSilence {
 public:
  GithubSilence() = default;
  GithubSilence(const GithubSilence&) = delete;
  GithubSilence& operator=(const GithubSilence&) = delete;
  ~GithubSilence();  // the second mark
  // The first mark, `word`, where this is a job of GitHub's. `in_one`: from here on stderr is standard
  // output, for of two streams GitHub keeps no order.
  void Begin(std::string word, bool in_one);

 private:
  std::string word_;
};

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_SPEECH_H_
