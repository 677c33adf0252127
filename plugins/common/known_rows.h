// The rows of the table of known regressions that may hit a case. They explain how it ended and change no
// judgement.
#ifndef CUDNN_CI_PLUGINS_COMMON_KNOWN_ROWS_H_
#define CUDNN_CI_PLUGINS_COMMON_KNOWN_ROWS_H_

#include <cudnn_ci/check.hpp>

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "common/known_regressions.h"

namespace cudnn_ci {

// Whether what a row says of the cases that it hits holds of one.
using HitsCase = std::function<bool(const Predicates& hits)>;

// The rows of this release of a library that hit the case on the GPU that it runs on.
std::vector<KnownRegression> KnownRowsOf(const Context& ctx, const std::string& version, const HitsCase& hits,
                                         const std::string& library = kCudnn);

// "; known: wrong in ...", of the rows with one of these effects that hit; empty: there is none.
std::string TextOfKnown(const std::vector<KnownRegression>& rows, std::initializer_list<const char*> effects,
                        const HitsCase& hits);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_KNOWN_ROWS_H_
