// Which image is tested, as its inspector tells it: its name by digest, and the variables that it sets
// itself.
#ifndef CUDNN_CI_MODEL_MATRIX_IMAGE_IDENTITY_H_
#define CUDNN_CI_MODEL_MATRIX_IMAGE_IDENTITY_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "base/variables.h"

namespace cudnn_ci {

// Whether a text is NAME@sha256:HEX, with 64 lower-case digits and at most 255 bytes of name: a name that
// means one image for ever.
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests
bool IsImageByDigest(const std::string& text);

// What reports call an image that has no digest, for it was never pushed, from its name and id in that form:
// "NAME (image id sha256:HEX)". It cannot be pulled by this.
std::string ImageById(const std::string& name_and_id);

// Who said which image is tested: RunStarted::digest_from. kIdTold: it has no digest, and was told by its id.
inline constexpr char kDigestOfEngine[] = "engine", kDigestTold[] = "told", kIdTold[] = "id";

// What an engine's inspector says of an image.
struct ImageConfig {
  Variables variables;               // that the image sets
  std::vector<std::string> digests;  // of its manifest, "sha256:...", by whatever names; empty: not told
};

// Who said that the image has this name (NAME@DIGEST): kDigestOfEngine where the inspector lists the digest,
// else kDigestTold.
const char* DigestFrom(const std::string& image, const ImageConfig& config);

// The configuration of an image, from a file with what `docker image inspect` or `podman image inspect`
// prints, its .Config alone, or an OCI image configuration
// (https://github.com/opencontainers/image-spec/blob/main/config.md). At most 4 MiB. Errors name the file,
// the place and what to give instead; what an inspector says of a container is one, for it holds the runner's
// too.
Result<ImageConfig> ReadImageConfig(const std::string& path);

// Who has set each of the variables `seen`, by name: "image" (the value is the image's), "runner" (the image
// has no such variable), "runner, over the image's".
Variables AttributeVariables(const Variables& seen, const Variables& of_image);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MATRIX_IMAGE_IDENTITY_H_
