#include "worker/plugin_library.h"

// The standard library's filesystem instead of Boost's keeps Boost header-only here.
#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>
#include <cstddef>
#include <exception>
#include <list>

#include "base/fd.h"

namespace cudnn_ci::worker {
namespace {

Status CheckPlugin(const cci_plugin* plugin, const std::string& stem) {
  if (!plugin) return Error{std::string(CCI_PLUGIN_SYMBOL) + " returned NULL"};
  if (!CCI_HAS(cci_plugin, plugin, abi_minor))
    return Error{"its plugin table has only " + std::to_string(plugin->struct_size) + " bytes"};
  if (plugin->abi_major != CCI_ABI_MAJOR)
    return Error{"built for plugin ABI " + std::to_string(plugin->abi_major) + "." +
                 std::to_string(plugin->abi_minor) + ", this cudnn-ci speaks " +
                 std::to_string(CCI_ABI_MAJOR) + "." + std::to_string(CCI_ABI_MINOR)};
  if (!CCI_HAS(cci_plugin, plugin, facts)) return Error{"its plugin table ends before `facts`"};
  if (!plugin->name || !plugin->version || !plugin->checks)
    return Error{"its plugin table has no name, version or checks"};
  if (stem != plugin->name)
    return Error{"names itself '" + std::string(plugin->name) + "', but the file is " + stem +
                 CCI_PLUGIN_SUFFIX};
  return {};
}

// A plugin brings its own unwinder, which asks ours about our frames when an exception reaches them.
// Ours answers by aborting until it has seen an exception itself.
void PrepareUnwinder() {
  try {
    throw 0;
  } catch (int) {
  }
}

}  // namespace

std::string PluginStem(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::string suffix = CCI_PLUGIN_SUFFIX;
  if (name.size() <= suffix.size() || name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0)
    return {};
  return name.substr(0, name.size() - suffix.size());
}

Result<const cci_plugin*> LoadPlugin(const PluginToLoad& file) {
  namespace dll = boost::dll;
  // Lives as long as the process: unloading CUDA libraries, or code with threads, is unsafe. Never destroyed,
  // but always reachable, so that a leak checker keeps quiet.
  static auto* const kLibraries = new std::list<dll::shared_library>;
  dll::shared_library* const library = &kLibraries->emplace_back();
  Fd descriptor(file.descriptor);  // closed once the loader has mapped the file
  const std::string path =
      descriptor.valid() ? "/proc/self/fd/" + std::to_string(descriptor.get()) : file.path;
  try {
    // The throwing overload: the other one loses the loader's text.
    library->load(path, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
  } catch (const std::exception& e) {
    std::string text = e.what();
    // Boost wraps dlerror's text: "boost::dll::shared_library::load() failed (dlerror system message: TEXT):
    // Bad ..."
    const std::string before = "dlerror system message: ";
    if (const size_t at = text.find(before); at != std::string::npos) {
      text = text.substr(at + before.size());
      if (const size_t end = text.rfind("): "); end != std::string::npos) text = text.substr(0, end);
    }
    if (text.starts_with(path)) text = file.path + text.substr(path.size());
    return Error{text};
  }
  descriptor.Close();
  if (!library->has(CCI_PLUGIN_SYMBOL))
    return Error{std::string("does not export ") + CCI_PLUGIN_SYMBOL +
                 ": not a cudnn-ci plugin, or built for another ABI"};
  const auto entry = library->get<const cci_plugin*()>(CCI_PLUGIN_SYMBOL);
  PrepareUnwinder();
  const cci_plugin* plugin = nullptr;
  try {
    plugin = entry();
  } catch (const std::exception& e) {
    return Error{"an exception left " + std::string(CCI_PLUGIN_SYMBOL) + ": " + e.what()};
  } catch (...) {
    return Error{"an exception left " + std::string(CCI_PLUGIN_SYMBOL)};
  }
  if (Status s = CheckPlugin(plugin, PluginStem(file.path)); !s.ok()) return Error{s.error()};
  return plugin;
}

}  // namespace cudnn_ci::worker
