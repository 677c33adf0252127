#include "image/device_code/promised_cards.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace cudnn_ci {
namespace {

constexpr int kMostGpus = 256;

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

void Add(const std::string& text, std::vector<Card>* cards) {
  if (const std::optional<Card> card = ParseCard(text)) cards->push_back(*card);
}

void Sort(std::vector<Card>* cards) {
  std::sort(cards->begin(), cards->end());
  cards->erase(std::unique(cards->begin(), cards->end()), cards->end());
}

// "8.0 or 8.9 or 9.0", which is how a list in the matrix comes; empty for a range.
std::vector<Card> Listed(const std::string& contract) {
  std::vector<Card> cards;
  for (const std::string& word : Words(contract)) {
    if (word == "or") continue;
    const std::optional<Card> card = ParseCard(word);
    if (!card) return {};
    cards.push_back(*card);
  }
  return cards;
}

std::vector<Card> GpusOfThisMachine(const CardSources& sources) {
  std::vector<Card> cards;
  for (int i = 0; i < kMostGpus; ++i) {
    const std::string gpu = CCI_FACT_GPU + std::to_string(i);
    if (sources.fact(gpu + CCI_FACT_GPU_UUID).empty()) break;
    Add(sources.fact(gpu + CCI_FACT_GPU_COMPUTE_CAPABILITY), &cards);
  }
  return cards;
}

// The newest CUDA that a driver's branch supports.
std::string CudaOfDriver(const std::string& version, const CardSources& sources) {
  const int branch = std::atoi(version.c_str());
  int known = 0;
  for (const std::string& word : Words(sources.compatibility(CCI_COMPATIBILITY_DRIVER_BRANCHES))) {
    const int number = std::atoi(word.c_str());
    if (number <= branch) known = std::max(known, number);
  }
  return known == 0 ? "" : sources.compatibility(CCI_COMPATIBILITY_DRIVER_BRANCH + std::to_string(known));
}

}  // namespace

PromisedCards FindPromisedCards(const std::vector<std::string>& gpus, const CardSources& sources) {
  PromisedCards promised;
  const std::string contract = sources.contract("runner.compute_capability");
  for (const std::string& gpu : gpus) Add(gpu, &promised.cards);
  promised.origin = "the parameter gpus";
  if (promised.cards.empty()) {
    promised.cards = Listed(contract);
    promised.origin = "runner.compute_capability";
  }
  const auto outside = [&](const Card& card) {
    return !contract.empty() && !sources.satisfies(card.Text(), contract);
  };
  if (promised.cards.empty()) {
    promised.cards = GpusOfThisMachine(sources);
    promised.cards.erase(std::remove_if(promised.cards.begin(), promised.cards.end(), outside),
                         promised.cards.end());
    promised.origin = "the GPUs of this machine";
  }
  if (promised.cards.empty() && !contract.empty()) {
    for (const std::string& word : Words(sources.compatibility(CCI_COMPATIBILITY_CARDS)))
      Add(word, &promised.cards);
    promised.cards.erase(std::remove_if(promised.cards.begin(), promised.cards.end(), outside),
                         promised.cards.end());
    promised.origin = "runner.compute_capability " + contract;
    promised.certain = false;
  }
  Sort(&promised.cards);
  return promised;
}

std::string LowestOf(const std::string& range) {
  for (const std::string& word : Words(range)) {
    const std::size_t digit = word.find_first_of("0123456789");
    const std::string op = word.substr(0, digit);
    if (digit != std::string::npos && (op == ">=" || op == ">" || op == "=" || op == "=="))
      return word.substr(digit);
  }
  return {};
}

PromisedDriver FindPromisedDriver(const CardSources& sources) {
  PromisedDriver driver;
  driver.version = LowestOf(sources.contract("runner.driver"));
  driver.origin = "runner.driver";
  if (driver.version.empty()) {
    driver.version = sources.fact(CCI_FACT_DRIVER_VERSION);
    driver.origin = "the driver of this machine";
  }
  if (driver.version.empty()) return driver;
  driver.cuda = CudaOfDriver(driver.version, sources);
  if (!driver.cuda.empty())
    driver.newest = ParsePtxVersion(sources.compatibility(CCI_COMPATIBILITY_PTX_ISA + driver.cuda));
  return driver;
}

}  // namespace cudnn_ci
