// The container engine: which one, and what it says of an image and of a container.
#ifndef CUDNN_CI_LAUNCH_ENGINE_H_
#define CUDNN_CI_LAUNCH_ENGINE_H_

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "launch/cancel.h"
#include "launch/identity.h"
#include "launch/options.h"
#include "launch/program.h"

namespace cudnn_ci::launch {

struct Engine {
  std::string name;         // as it is called
  std::string version;      // empty: it tells none
  std::string chosen;       // why it is this one
  bool by_cdi = false;      // it passes GPUs by CDI by default
  bool is_nerdctl = false;  // which ends with 1 where it fails itself
};

// Why there is none.
struct NoEngine {
  bool missing = false;  // not one is installed
  std::string names;     // those that were looked for, or that did not answer
  std::string named_by;  // " (named by DOCKER_HOST)"; empty: none was named
  std::string said;      // their words
};

// Without asking it: the one that is named, or the first that is installed.
Engine EngineForDryRun(const Options& options);

// One that was named, by --engine or by its own variable, is never changed for another.
std::variant<Engine, NoEngine> ChooseEngine(const Options& options, Cancel* cancel);

// Questions to the engine. An answer that is late or too long is none.
class Inspector {
 public:
  Inspector(const Engine* engine, Cancel* cancel) : engine_(engine), cancel_(cancel) {}

  bool HasImage(const std::string& image) const;
  // The identity of an image on this machine.
  Identity Identify(const std::string& image) const;
  // Of an image as Identity::runs names it: its processor, as Go calls it, "arm64"; empty: none of which an
  // image is always as it says.
  std::string Processor(const std::string& image) const;
  // What `image inspect` prints of digests and configuration, as JSON; empty: nothing of use.
  std::string Config(const std::string& image) const;
  // The names of variables that the image sets and must not: our own, by which it would choose what tests
  // it, and those that choose the part of the cases.
  std::vector<std::string> VariablesToBlank(const std::string& image) const;
  // The container was ended because memory ran out.
  bool RanOutOfMemory(const std::string& container) const;
  // The container was started, and its program has ended with this status.
  bool HasEnded(const std::string& container, int status) const;
  // It runs an image's health check, and can leave it out: an older nerdctl does neither.
  bool CanLeaveOutHealthCheck() const;
  // Whether the engine had it, and has removed it.
  bool Remove(const std::string& container) const;

 private:
  std::string Ask(const std::vector<std::string>& words, size_t most_output = size_t{1} << 20) const;
  // The first line of what `image inspect` prints in this format; nerdctl 1.7 prints it for every name.
  std::string AskOfImage(const std::string& format, const std::string& image,
                         size_t most_output = size_t{1} << 20) const;
  std::string DigestsOf(const std::string& image) const;

  const Engine* const engine_;
  Cancel* const cancel_;
};

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_ENGINE_H_
