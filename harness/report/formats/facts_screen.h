// What host and image are, on one screen: `cudnn-ci facts`. A pure function of the inventory.
#ifndef CUDNN_CI_REPORT_FORMATS_FACTS_SCREEN_H_
#define CUDNN_CI_REPORT_FORMATS_FACTS_SCREEN_H_

#include <cstddef>
#include <string>

#include "model/inventory/inventory.h"

namespace cudnn_ci {

struct FactsScreenOptions {
  size_t width = 100;  // columns
  // Lists are cut after some lines, with a count of the rest; false: they are whole.
  bool bounded = true;
};

// Many lines, each with a line feed.
std::string FactsScreen(const Inventory& inventory, const FactsScreenOptions& options);

// Every fact by its key, a subject after the other: what plugins reported, as they did.
std::string FactsList(const Facts& facts);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_FACTS_SCREEN_H_
