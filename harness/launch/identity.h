// Which image runs: its id, the name with a digest, or, of one that was never pushed, with its id.
#ifndef CUDNN_CI_LAUNCH_IDENTITY_H_
#define CUDNN_CI_LAUNCH_IDENTITY_H_

#include <string>
#include <vector>

namespace cudnn_ci::launch {

struct Identity {
  std::string id;  // as the engine tells it, "sha256:..."; the image's name where it tells none
  std::string
      digest;  // "NAME@sha256:...": the name that was typed, with the digest of what runs; empty: none
  std::string
      by_id;         // "NAME@sha256:...", with the id in the digest's place; empty: it has a digest, or no id
  std::string runs;  // what the engine is told to run
};

// The name that was typed, with the digest of that repository, or of another that it was pulled from.
// `digests`: the engine's list of "NAME@sha256:...". Empty: there is none. Of an id that was typed, the first
// name of the list.
std::string DigestOf(const std::string& typed, const std::string& id,
                     const std::vector<std::string>& digests);

// The same with the id instead of a digest; empty: `id` is none.
std::string NameWithId(const std::string& typed, const std::string& id);

// What reports and records call the image: by digest, by id, or by the name that was typed.
std::string TextOf(const Identity& identity, const std::string& typed);

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_IDENTITY_H_
