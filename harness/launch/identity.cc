#include "launch/identity.h"

#include <string_view>

#include "base/text.h"
#include "model/matrix/image_identity.h"

namespace cudnn_ci::launch {
namespace {

constexpr std::string_view kSha256 = "sha256:";

std::string_view Without(std::string_view text, std::string_view head) {
  return text.substr(0, head.size()) == head ? text.substr(head.size()) : text;
}

// As engines abbreviate it: "docker.io/library/app" is "app".
std::string_view PlainName(std::string_view name) {
  if (const std::string_view shorter = Without(name, "index.docker.io/"); shorter != name)
    name = shorter;
  else
    name = Without(name, "docker.io/");
  if (const std::string_view shorter = Without(name, "library/"); shorter != name) return shorter;
  return Without(name, "localhost/");
}

// Without a tag and a digest; empty: it is (the beginning of) an id.
std::string NameTyped(const std::string& typed, const std::string& id) {
  const std::string_view digits = Without(typed, kSha256);
  if (!digits.empty() && Without(id, kSha256).substr(0, digits.size()) == digits) return "";
  std::string name = typed.substr(0, typed.find('@'));
  const size_t colon = name.rfind(':'), slash = name.rfind('/');
  if (colon != std::string::npos && (slash == std::string::npos || colon > slash)) name.resize(colon);
  return name;
}

}  // namespace

std::string DigestOf(const std::string& typed, const std::string& id,
                     const std::vector<std::string>& digests) {
  const std::string name = NameTyped(typed, id);
  std::string first, any, same, exact;
  for (const std::string& listed : digests) {
    const std::vector<std::string> parts = Split(listed, '@');
    if (parts.size() != 2) continue;
    if (first.empty()) first = parts[0], any = parts[1];
    if (PlainName(parts[0]) == PlainName(name) && (same.empty() || typed == listed)) same = parts[1];
    if (typed.ends_with("@" + parts[1])) exact = parts[1];
  }
  if (any.empty()) return "";
  return (name.empty() ? first : name) + "@" + (!exact.empty() ? exact : !same.empty() ? same : any);
}

std::string NameWithId(const std::string& typed, const std::string& id) {
  const std::string text = typed + "@" + std::string(kSha256) + std::string(Without(id, kSha256));
  return IsImageByDigest(text) ? text : "";
}

std::string TextOf(const Identity& identity, const std::string& typed) {
  if (!identity.digest.empty()) return identity.digest;
  return identity.by_id.empty() ? typed : ImageById(identity.by_id);
}

}  // namespace cudnn_ci::launch
