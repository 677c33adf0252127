#include "cli/init.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "model/builtin_matrices.h"
#include "model/first_matrix.h"

namespace cudnn_ci {
namespace {

// The matrix that comes with cudnn-ci for the toolkit's major; empty: none does. An image without a toolkit
// or without a cuDNN is held to less than that.
std::string ParentFor(const HostFacts& found, const std::string& matrices) {
  if (found.toolkit_version.empty() || found.cudnn_version.empty()) return {};
  const std::string name = "cu" + found.toolkit_version.substr(0, found.toolkit_version.find('.'));
  return IsBuiltinName(name) && FindBuiltin(name, matrices).ok() ? name : "";
}

}  // namespace

Result<std::string> WriteFirstMatrix(const Options& options, Session* session) {
  const std::string& file = options.init_file;
  struct stat there {};
  if (file != "-" && lstat(file.c_str(), &there) == 0)
    return Error{file + " is there already; name another file, or take it away first"};
  session->DiscoverPlugins({{"system", "loader"}});
  const HostFacts found = DecodeHostFacts(session->discovery().facts);
  const std::string text = FirstMatrix({options.init_name, ParentFor(found, options.matrices_dir()), found});
  if (file == "-") return text;
  if (const Status written = WriteFileAtomically(file, text); !written.ok()) return Error{written.error()};
  return "found " + session->FoundInWords() + "\nwrote " + file + "; read it, then: cudnn-ci --matrix " +
         ShellQuote(file) + "\n";
}

}  // namespace cudnn_ci
