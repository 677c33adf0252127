// Versions and ranges for tests of plugins, which ask the harness for both.
#ifndef CUDNN_CI_TESTS_DOTTED_VERSIONS_H_
#define CUDNN_CI_TESTS_DOTTED_VERSIONS_H_

#include <cctype>
#include <sstream>
#include <string>

namespace cudnn_ci {

// Ranges of two terms at most, of whole numbers and tenths: enough to show where bounds are looked at.
inline bool Within(const std::string& version, const std::string& range) {
  const auto number = [](const std::string& text) {
    double value = 0, unit = 1;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, '.'); unit /= 100) value += std::stoi(part) * unit;
    return value;
  };
  std::istringstream terms(range);
  for (std::string term; terms >> term;) {
    const double bound = number(term.substr(term.find_first_of("0123456789"))), v = number(version);
    if (term[0] == '>' && !(term[1] == '=' ? v >= bound : v > bound)) return false;
    if (term[0] == '<' && !(term[1] == '=' ? v <= bound : v < bound)) return false;
    if (std::isdigit(static_cast<unsigned char>(term[0])) && v != bound) return false;
  }
  return true;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_DOTTED_VERSIONS_H_
