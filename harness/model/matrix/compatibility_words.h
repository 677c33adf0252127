// Single words of the table of version facts: what they may be. Pure functions.
#ifndef CUDNN_CI_MODEL_MATRIX_COMPATIBILITY_WORDS_H_
#define CUDNN_CI_MODEL_MATRIX_COMPATIBILITY_WORDS_H_

#include <string>

namespace cudnn_ci {

// Up to nine digits.
bool IsNumber(const std::string& text);
// "13-0": the packages of forward compatibility bear their toolkit's version so.
bool IsPackage(const std::string& text);
bool IsVersion(const std::string& text);
// "libcudnn.so.9".
bool IsSoname(const std::string& text);
// An address that begins with https://.
bool IsUrl(const std::string& text);
// Whether the version `a` comes after `b`, or `b` is empty.
bool Later(const std::string& a, const std::string& b);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MATRIX_COMPATIBILITY_WORDS_H_
