#include "cli/option_checks.h"

#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <string>

#include "base/text.h"
#include "model/matrix/image_identity.h"

namespace cudnn_ci {

CLI::Validator CheckSeconds() {
  return CLI::Validator(
      [](std::string& text) {
        char* end = nullptr;
        const double s = strtod(text.c_str(), &end);
        const bool ok = end != text.c_str() && *end == '\0' && s > 0 && s <= 604800;
        return ok ? std::string() : text + " is not a number of seconds above 0 and at most 604800";
      },
      "", "seconds");
}

CLI::Validator CheckWhole(int least, int most) {
  return CLI::Validator(
      [least, most](std::string& text) {
        const bool digits = !text.empty() && text.size() <= 9 && (text.size() == 1 || text[0] != '0') &&
                            text.find_first_not_of("0123456789") == std::string::npos;
        const bool ok = digits && atoi(text.c_str()) >= least && atoi(text.c_str()) <= most;
        return ok ? std::string()
                  : text + " is not a whole number from " + std::to_string(least) + " to " +
                        std::to_string(most);
      },
      "", "whole");
}

CLI::Validator CheckDevice() {
  return CLI::Validator(
      [](std::string& text) {
        const auto only = [&](size_t from, const char* characters) {
          return text.size() > from && text.find_first_not_of(characters, from) == std::string::npos;
        };
        const bool index = only(0, "0123456789") || (text.compare(0, 3, "gpu") == 0 && only(3, "0123456789"));
        const bool uuid = (text.compare(0, 4, "GPU-") == 0 || text.compare(0, 4, "MIG-") == 0) &&
                          only(4, "0123456789abcdefABCDEFGPU/-");
        return text == "all" || index || uuid
                   ? std::string()
                   : text + " is not a GPU: write all, an index in PCI order, or a UUID (GPU-..., MIG-...)";
      },
      "", "device");
}

CLI::Validator CheckWorkersPerGpu() {
  return CLI::Validator(
      [](std::string& text) {
        const bool number = !text.empty() && text.size() <= 2 && text[0] != '0' &&
                            text.find_first_not_of("0123456789") == std::string::npos;
        return number || text == "auto" ? std::string() : text + " is neither auto nor a number from 1 to 99";
      },
      "", "workers");
}

CLI::Validator CheckPath() {
  return CLI::Validator(
      [](std::string& text) {
        if (text.empty()) return std::string("the name of the file or folder is empty");
        return text == "-" ? std::string("standard input and output are not supported; name a file")
                           : std::string();
      },
      "", "path");
}

CLI::Validator CheckReport() { return CheckNotEmpty("the name of the file is empty"); }

CLI::Validator CheckFolder() {
  return CLI::Validator(
      [](std::string& text) {
        if (text.empty()) return std::string("the name of the folder is empty");
        return text == "-" ? std::string("standard output is not a folder") : std::string();
      },
      "", "folder");
}

CLI::Validator CheckNotEmpty(const std::string& complaint) {
  return CLI::Validator([complaint](std::string& text) { return text.empty() ? complaint : std::string(); },
                        "", "text");
}

CLI::Validator CheckImage() {
  return CLI::Validator(
      [](std::string& text) {
        return IsImageByDigest(text)
                   ? std::string()
                   : CleanLine(text, 300) +
                         " is not NAME@sha256:... with 64 digits, as in RepoDigests of `docker image "
                         "inspect`";
      },
      "", "image");
}

}  // namespace cudnn_ci
