// What the device code of an image means for the cards that it has to run on. Pure functions: which file is
// told by which finding, in words.
#ifndef CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_JUDGEMENT_H_
#define CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_JUDGEMENT_H_

#include <string>
#include <vector>

#include "image/device_code/device_code_cover.h"
#include "image/device_code/device_code_files.h"
#include "image/device_code/promised_cards.h"
#include "image/findings.h"

namespace cudnn_ci {

// One file, and what is said of it.
struct JudgedFile {
  CodeFile file;
  enum class State {
    kJudged,       // `covers` says how it runs on each card
    kLinkedLater,  // an object or archive: no process loads it
    kNotJudged     // its kernels lie elsewhere, or come into being at run time
  } state = State::kNotJudged;
  std::vector<Cover> covers;  // one for each card, in their order; empty unless kJudged
};

struct DeviceCodeFinding {
  const char* id;
  std::string detail;
};

struct DeviceCodeJudgement {
  std::vector<JudgedFile> files;
  std::vector<DeviceCodeFinding> findings;
  int judged = 0;  // files
};

// A file that lacks code for a card is an error, but
//   a note where its code is for single architectures or families alone, and another file of its package
//   serves the card, or where it is device code alone (.cubin, .ptx): who loads it chooses by the card;
//   a warning where its code is for single architectures or families alone, it is of a package, and no other
//   file of that serves the card;
//   where the package has the library once for each CUDA version, and another one of these serves the card;
//   where nobody named the card (PromisedCards::certain) and the file serves another one.
DeviceCodeJudgement JudgeDeviceCode(std::vector<CodeFile> files, const PromisedCards& cards,
                                    const PromisedDriver& driver);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_JUDGEMENT_H_
