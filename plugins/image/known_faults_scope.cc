#include "image/known_faults_scope.h"

#include <cudnn_ci/facts.h>

#include <algorithm>

namespace cudnn_ci {
namespace {

using Words = std::vector<std::string>;

bool Has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The operations of a row by the words of the matrix; none: whatever the library does.
Words OperationsOf(const KnownRegression& row) {
  const auto named = row.hits.find("operation");
  if (named == row.hits.end()) return row.library == kCudnn ? Words{"convolution"} : Words{};
  Words words;
  for (const std::string& operation : named->second) {
    if (operation == "attention_forward" || operation == "attention_backward")
      words.push_back("attention");
    else if (operation == "grouped_matmul")
      words.push_back("matmul");
    else if (operation == "forward" || operation == "backward_data" || operation == "backward_filter")
      words.push_back("convolution");
    else
      words.push_back(operation);
  }
  return words;
}

// Whether something is in both; a list that is empty stands for all.
bool Meet(const Words& a, const Words& b) {
  return a.empty() || b.empty() || std::any_of(a.begin(), a.end(), [&](const auto& w) { return Has(b, w); });
}

Words ValuesOf(const KnownRegression& row, const char* key) {
  const auto found = row.hits.find(key);
  return found == row.hits.end() ? Words{} : found->second;
}

bool NamesGpus(const KnownRegression& row) {
  return row.hits.count("compute_capability_min") > 0 || row.hits.count("compute_capability_max") > 0;
}

bool CanHappen(const KnownRegression& row, const FaultScope& scope, const Satisfies& satisfies) {
  if (NamesGpus(row) && !scope.gpus.empty() &&
      std::none_of(scope.gpus.begin(), scope.gpus.end(),
                   [&](const std::string& gpu) { return FitsGpu(row.hits, gpu, satisfies); }))
    return false;
  if (!scope.processor.empty() && !Meet(ValuesOf(row, "processor"), {scope.processor})) return false;
  const Words least = ValuesOf(row, "cublaslt_min");
  return least.empty() || std::any_of(scope.cublas.begin(), scope.cublas.end(), [&](const auto& version) {
           return satisfies(version, ">=" + least.front());
         });
}

// What a program does not notice, or cannot survive.
bool IsGrave(const KnownRegression& row) {
  return Has({"wrong", "overwrite", "crash", "hang", "failure"}, row.effect);
}

}  // namespace

FaultWeight WeightOf(const KnownRegression& row, const FaultScope& scope, const Satisfies& satisfies) {
  const Words operations = OperationsOf(row);
  if (!Meet(operations, scope.operations) || !Meet(ValuesOf(row, "dtype"), scope.dtypes) ||
      !CanHappen(row, scope, satisfies))
    return FaultWeight::kNone;
  const bool trusted = row.confidence != "unsure";
  if (trusted && Has(scope.fail_on, row.effect)) return FaultWeight::kRed;
  if (row.Open() || !IsGrave(row)) return FaultWeight::kListed;
  const bool named = !scope.operations.empty() && !operations.empty();
  const bool promised_gpu = !NamesGpus(row) || !scope.gpus.empty();
  const bool silent = row.effect == "wrong" || row.effect == "overwrite";
  return row.confidence == "sure" && silent && named && promised_gpu ? FaultWeight::kRed
                                                                     : FaultWeight::kWarning;
}

Words PromisedGpus(const std::string& range, const TableEntry& entry, const Satisfies& satisfies) {
  Words gpus;
  if (range.empty()) return gpus;
  constexpr int kMostMajor = 20;
  for (int major = 1; major <= kMostMajor; ++major)
    for (int minor = 0; minor <= 9; ++minor) {
      const std::string gpu = std::to_string(major) + "." + std::to_string(minor);
      if (!entry(CCI_COMPATIBILITY_FIRST_TOOLKIT + gpu).empty() && satisfies(gpu, range)) gpus.push_back(gpu);
    }
  return gpus;
}

}  // namespace cudnn_ci
