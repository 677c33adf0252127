// What engines say where they fail, told apart by their words: they give one status for many causes. Words
// that are a finding's by themselves are rows of knowledge/findings, in engine_messages.h.
#ifndef CUDNN_CI_LAUNCH_ENGINE_WORDS_H_
#define CUDNN_CI_LAUNCH_ENGINE_WORDS_H_

#include <string>

namespace cudnn_ci::launch {

// The engine could not make the container, and executed nothing in it.
bool RuntimeFailed(int status, const std::string& said);
// The program could not be started in the container. Some runtimes give a status of their own for it, some
// start a process that cannot become the program and ends with 1 or 255.
bool CouldNotStart(int status, const std::string& said);
// The status that docker gives where the engine's client has failed and has started no container.
int StatusOfClient(const std::string& said);
// nerdctl says that it has failed itself; a program of the container may say so too.
bool SaysFatal(const std::string& said);
// With `time="..." level=fatal msg="exec: \"x\": no such file"` of nerdctl's as `exec: "x": no such file`.
std::string WithPlainFatal(const std::string& said);
// This user may not open the engine's socket.
bool IsDenied(const std::string& said);
// The version in what `ENGINE version` prints; empty: it tells none.
std::string VersionIn(const std::string& output);
// What prints this for `ENGINE version` is podman, or nerdctl, whatever it is called.
bool IsPodman(const std::string& output);
bool IsNerdctl(const std::string& output);
// nerdctl has printed its own version and found no containerd: it ends with 0 where it looks for a rootless
// one.
bool IsClientAlone(const std::string& output);

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_ENGINE_WORDS_H_
