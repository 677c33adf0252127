// What a cuDNN install says of itself beside its libraries: headers to build against, and the metadata of the
// package it came with. A file that is missing says nothing. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_CUDNN_METADATA_H_
#define CUDNN_CI_PLUGINS_CUDNN_METADATA_H_

#include <string>

namespace cudnn_ci {

// "9.19.0" of the text of cudnn_version.h; empty if it defines no version.
std::string VersionOfHeader(const std::string& text);

// True if a package's version, less what its packager added behind a dash, is of this release: "9.19.0.56-1"
// is of "9.19.0", and "9.19.01" is not.
bool IsOfVersion(const std::string& package_version, const std::string& version);

// How the headers that belong to the libraries of a folder differ from their version, in words:
// "/usr/include/ cudnn_version.h has version 8.9.7"; empty if they agree or there are none.
std::string HeaderDifference(const std::string& directory, const std::string& version);

// The same of Python packages: another version than the libraries have, or two packages that both claim them.
std::string PackageDifference(const std::string& directory, const std::string& version);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_METADATA_H_
