// The texts of package managers' records: lines, names, and how much of them is read.
#ifndef CUDNN_CI_IMAGE_PACKAGES_RECORD_TEXT_H_
#define CUDNN_CI_IMAGE_PACKAGES_RECORD_TEXT_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci {

// Of one file of records: PyTorch's RECORD has 2 MB, and dpkg's status of a full image likewise.
inline constexpr std::size_t kMostRecordBytes = std::size_t{32} << 20;
// Of all files of records of one kind together.
inline constexpr std::size_t kMostRecordedBytes = std::size_t{256} << 20;
inline constexpr std::size_t kMostPackages = 20000;

// Calls `take` with each line, without its end.
void ForEachLine(std::string_view text, const std::function<void(std::string_view line)>& take);

// A name or version, as the packaging standard has their characters
// (https://packaging.python.org/en/latest/specifications/version-specifiers/); "?" for any other one.
std::string PrintableRecord(std::string text);

// The names in a folder, sorted, at most kMostPackages of them; none where it cannot be read.
std::vector<std::string> RecordNames(const std::string& folder);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_PACKAGES_RECORD_TEXT_H_
