// One process of a subject: what is opened in it, in turn, and what is wrong with each.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_PROCESS_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_PROCESS_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "image/contents/image_files.h"
#include "image/loader/loader_scope.h"
#include "image/symbols/symbols_faults.h"
#include "image/symbols/symbols_remedy.h"
#include "image/symbols/symbols_rules.h"
#include "image/symbols/symbols_steps.h"

namespace cudnn_ci {

// A value: a copy is a process in the same state, without the faults of the first.
class SymbolProcess {
 public:
  // `name`: "import torch". Without a program nothing can be said of symbols that an interpreter gives.
  SymbolProcess(LoaderScope scope, const FaultWriter* writer, std::string name)
      : scope_(std::move(scope)), writer_(writer), name_(std::move(name)) {}

  // dlopen; false: it fails, and what is wrong is among the faults. A file that fails leaves nothing in the
  // process.
  bool Open(const std::string& path, bool global = false);
  // The program itself and what it needs.
  void JudgeProgram();
  // Does what `rule` says; false: the package cannot be imported. `image`: whose folders of packages are
  // searched.
  bool Run(const PackageRule& rule, const ImageFiles& image);

  // A copy under another name.
  SymbolProcess As(const std::string& name) const;

  std::vector<SymbolFault>& faults() { return faults_; }
  const LoaderScope& scope() const { return scope_; }
  const std::string& name() const { return name_; }
  // Files that were in the process at some time, those that failed among them, by device and inode.
  const std::set<std::pair<dev_t, ino_t>>& seen() const { return seen_; }
  // How many undefined symbols were looked up since it was last asked.
  std::size_t TakeSymbols() { return std::exchange(symbols_, 0); }

 private:
  enum class Step { kDone, kNothingThere, kFailed };
  // A step whose file is not found, and the files of its name where nobody looks.
  struct Absent {
    const OpenStep* step;
    std::vector<std::string> elsewhere;
    std::string unfit = {};  // the file that is found, for another CUDA or cuDNN
  };
  // `unfit`, unless null: the first file that would be taken and is for others.
  std::vector<std::string> FilesFor(const OpenStep& step, const BuiltFor& built, const ImageFiles& image,
                                    std::string* unfit = nullptr) const;
  bool IsForOthers(const std::string& path, const BuiltFor& built) const;
  void SayAbsent(const std::vector<Absent>& absent, const PackageRule& rule, bool some_found,
                 const BuiltFor& built, const ImageFiles& image);
  SymbolFault NotThere(const OpenStep& step, const PackageRule& rule, const BuiltFor& built,
                       const ImageFiles& image) const;
  SymbolRemedies::Wanted WantedBy(const OpenStep& step, const BuiltFor& built, const ImageFiles& image) const;
  std::vector<int> AskersOf(const OpenStep& step, const ImageFiles& image) const;
  bool IsItsOwn(const OpenStep& step, const BuiltFor& built, const ImageFiles& image) const;
  bool HasOtherUser(const PackageRule& rule, const ImageFiles& image) const;
  void Soften(std::size_t begin);
  Step Take(const OpenStep& step, const BuiltFor& built, const ImageFiles& image);
  bool TakeMain(const PackageRule& rule, std::size_t begin, const BuiltFor& built, const ImageFiles& image);
  // False: a step that must be done is not.
  bool TakeAll(const std::vector<OpenStep>& steps, const PackageRule& rule, const BuiltFor& built,
               const ImageFiles& image);
  bool Judge(const OpenedFile& opened);

  LoaderScope scope_;
  const FaultWriter* writer_;
  std::string name_;
  std::vector<SymbolFault> faults_;
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::size_t symbols_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_PROCESS_H_
