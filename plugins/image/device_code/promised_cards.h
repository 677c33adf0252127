// Which cards the device code of an image has to run on, and which PTX their driver compiles: of the check's
// parameter, the contract, the facts and the table of version facts.
#ifndef CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_PROMISED_CARDS_H_
#define CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_PROMISED_CARDS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "image/device_code/device_code_cover.h"

namespace cudnn_ci {

// What is asked, each by a key; empty where there is no answer. Context has all of them.
struct CardSources {
  std::function<std::string(const std::string&key)> contract, fact, compatibility;
  std::function<bool(const std::string& version, const std::string& range)> satisfies;
};

struct PromisedCards {
  std::vector<Card> cards;  // rising, each once; empty: none is known
  // Each was named, or is in this machine. False: they are all those that the contract's range allows, of
  // which the fleet may have some alone.
  bool certain = true;
  std::string origin;  // who says so, in words: "the parameter gpus"
};

// In this order: `gpus`; the contract's list of compute capabilities; the GPUs of this machine that the
// contract's range allows; the cards of the table that it allows. Without a contract the GPUs of this
// machine, and no others.
PromisedCards FindPromisedCards(const std::vector<std::string>& gpus, const CardSources& sources);

struct PromisedDriver {
  std::string version;               // "580.65.06"; empty: none is known
  std::string cuda;                  // the newest CUDA version that it supports: "13.0"
  std::optional<PtxVersion> newest;  // the newest PTX that it compiles
  std::string origin;                // who says so, in words
};

// The lower bound of the contract's "runner.driver", else the driver of this machine. A branch that the table
// does not know counts as the last one before it.
PromisedDriver FindPromisedDriver(const CardSources& sources);

// The lowest version that a range in bounds (">=580.65.06 <600", "=595.45.04") allows; empty: it has no lower
// bound.
std::string LowestOf(const std::string& range);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_PROMISED_CARDS_H_
