// What engines print where they start no container: knowledge/findings tells whose fault each message is, and
// what to do. `cudnn-ci explain` reads the same rows.
#ifndef CUDNN_CI_LAUNCH_ENGINE_MESSAGES_H_
#define CUDNN_CI_LAUNCH_ENGINE_MESSAGES_H_

#include <optional>
#include <string>
#include <vector>

namespace cudnn_ci::launch {

// A row of knowledge/findings with "settles_launch" or "settles_pull".
struct EngineMessage {
  std::string finding;              // "image.user-unknown"
  int exit_code = 3;                // of the launcher, by the finding's blame
  std::vector<std::string> parts;   // as they are printed, in lower case; base/message_pattern.h
  std::string fix;                  // plain text
  std::vector<std::string> unless;  // options by which the caller has chosen what the message is about
};

// All rows of the folder knowledge/findings with this mark. What cannot be read has none.
std::vector<EngineMessage> ReadEngineMessages(const std::string& folder, const char* mark);
inline constexpr char kSettlesLaunch[] = "settles_launch";
inline constexpr char kSettlesPull[] = "settles_pull";

struct SaidMessage {
  EngineMessage message;
  std::string line;  // from the message on, as the engine said it
};

// The message that shares most letters with a line of `said`; none: no line has one.
std::optional<SaidMessage> FindEngineMessage(const std::string& said,
                                             const std::vector<EngineMessage>& messages);

// There is no image of that name, as far as registries let this job know: of several that were asked one may
// have had no time, or asked who it is. `messages`: those with kSettlesPull.
bool KnowsNoSuchImage(const std::string& said, const std::vector<EngineMessage>& messages);

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_ENGINE_MESSAGES_H_
