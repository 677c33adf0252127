// What the device code of an image means for the cards that it has to run on. Pure functions: which file is
// told by which finding, in words.
#ifndef CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_JUDGEMENT_H_
#define CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_JUDGEMENT_H_

#include <functional>
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

// What leads to a file of a package.
enum class FileUse {
  kImported,   // an import loads it in any case
  kOwnImport,  // the import of its own package alone, which came as a wheel and which nothing requires
  kRequired,   // the import of its own package alone, which others require and import under a condition or
               // never: they choose by the card
  kPerhaps,    // its package may load it
  kUnknown     // nothing of its package opens it by name, and it is no extension module
};
// Only asked where something would be said.
using UseOf = std::function<FileUse(const CodeFile& file)>;

struct DeviceCodeJudgement {
  std::vector<JudgedFile> files;
  std::vector<DeviceCodeFinding> findings;
  int judged = 0;  // files
};

// A file that lacks code for a card is an error, but
//   a note where its code is for single architectures or families alone, and another file of its package
//   serves the card, or where it is device code alone (.cubin, .ptx): who loads it chooses by the card;
//   a warning where its code is for single architectures or families alone, it is of a package, no other
//   file of that serves the card, and it serves another promised card, is for newer ones, or nothing of its
//   package leads to it;
//   where the package has the library once for each CUDA version, and another one of these serves the card;
//   where nobody named the card (PromisedCards::certain) and the file serves another one;
//   where nothing of its package opens it: what other package would is not known;
//   where its code begins at 9.0, all that it lacks are older cards, and no import but that of its own
//   package loads it in any case, which a wheel brought: a note where other packages require that one or
//   nothing loads the file, as of those who use it on newer cards alone, and else a warning, because what
//   imports it is not known.
// PTX that is compiled at the start is told of libraries that an import loads, or with many modules of it.
DeviceCodeJudgement JudgeDeviceCode(std::vector<CodeFile> files, const PromisedCards& cards,
                                    const PromisedDriver& driver, const UseOf& use_of = {});

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_JUDGEMENT_H_
