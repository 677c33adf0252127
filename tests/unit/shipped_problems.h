// The cases that the shipped matrices plan for one check, as parameters: for tests of the data behind them.
#ifndef CUDNN_CI_TESTS_UNIT_SHIPPED_PROBLEMS_H_
#define CUDNN_CI_TESTS_UNIT_SHIPPED_PROBLEMS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cudnn_ci {

struct ShippedProblem {
  std::string id;         // of the entry of the matrix
  nlohmann::json params;  // those that are given, of the entry and of its axes; a shape in place of its name
};

// In the order of the matrix, every combination of axes, whichever of them the matrix takes. Reads the file
// and those that it extends, an entry of which it replaces by id.
inline std::vector<ShippedProblem> ShippedProblems(const std::string& matrix, const std::string& check) {
  std::vector<nlohmann::json> entries;
  nlohmann::json shapes = nlohmann::json::object();
  std::vector<nlohmann::json> files;
  for (std::string name = matrix + ".json"; !name.empty();) {
    std::ifstream in(std::string(CUDNN_CI_MATRICES) + "/" + name);
    files.insert(files.begin(), nlohmann::json::parse(in, nullptr, true, true));
    name = files.front().value("extends", "");
  }
  for (const nlohmann::json& file : files) {
    shapes.update(file.value("shapes", nlohmann::json::object()));
    for (const nlohmann::json& entry : file.value("checks", nlohmann::json::array())) {
      const auto same = [&entry](const nlohmann::json& other) { return other.at("id") == entry.at("id"); };
      if (const auto found = std::find_if(entries.begin(), entries.end(), same); found != entries.end())
        *found = entry;
      else
        entries.push_back(entry);
    }
  }
  std::vector<ShippedProblem> problems;
  for (const nlohmann::json& entry : entries) {
    if (!entry.contains("check")) continue;  // it removes another
    const nlohmann::json& named = entry["check"];
    if (named.is_array() ? std::find(named.begin(), named.end(), check) == named.end() : named != check)
      continue;
    std::vector<nlohmann::json> all = {entry.value("params", nlohmann::json::object())};
    const nlohmann::json axes = entry.value("axes", nlohmann::json::object());
    for (const auto& [name, values] : axes.items()) {
      std::vector<nlohmann::json> more;
      for (const nlohmann::json& params : all)
        for (const nlohmann::json& value : values) more.push_back(params), more.back()[name] = value;
      all = std::move(more);
    }
    for (nlohmann::json& params : all) {
      if (params.contains("shape") && params["shape"].is_string())
        params["shape"] = shapes.at(params["shape"].get<std::string>());
      problems.push_back({entry.at("id"), std::move(params)});
    }
  }
  EXPECT_FALSE(problems.empty()) << matrix << " has no " << check;
  return problems;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_SHIPPED_PROBLEMS_H_
