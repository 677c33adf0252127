#include "report/formats/facts_screen.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "base/text.h"
#include "report/text/text_page.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostRows = 8;
constexpr size_t kMostVariables = 16;  // more than plugins of ours report
constexpr size_t kMostText = 300;      // of one name, path or value
constexpr size_t kHang = 2;

std::string Shown(const std::string& text) { return CleanLine(text, kMostText); }

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(0, slash);
}

// Rows under one label; what is beyond the bound is counted.
class Section {
 public:
  Section(const char* label, size_t most, TextPage* page) : label_(label), most_(most), page_(page) {}
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
  ~Section() {
    if (rows_ > most_)
      page_->Item("", "and " + std::to_string(rows_ - most_) + " more; cudnn-ci facts --all lists them");
  }
  void Row(const std::string& text) {
    if (rows_++ < most_) page_->Item(rows_ == 1 ? label_ : "", text, kHang);
  }

 private:
  const std::string label_;
  const size_t most_;
  TextPage* const page_;
  size_t rows_ = 0;
};

std::string Gibibytes(int64_t bytes) {
  char text[32];
  snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (int64_t{1} << 30));
  return text;
}

std::string Cudnn(const std::string& version, const std::string& cuda) {
  return (version.empty() ? "of unknown version" : Shown(version)) +
         (cuda.empty() ? "" : " for CUDA " + Shown(cuda));
}

std::string Names(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names)
    if (shown.size() < kMostRows) shown.push_back(Shown(name));
  const size_t more = names.size() - shown.size();
  return Join(shown, ", ") + (more == 0 ? "" : " and " + std::to_string(more) + " more");
}

void AddDriver(const FoundDriver& driver, Section* section) {
  if (driver.library.empty() && driver.version.empty()) {
    section->Row(driver.module_version.empty()
                     ? "not found"
                     : "no libcuda.so.1 here; the kernel module is " + Shown(driver.module_version));
    return;
  }
  section->Row((driver.version.empty() ? "unknown version" : Shown(driver.version)) +
               (driver.source.empty() ? "" : ", by " + Shown(driver.source)) +
               (driver.cuda.empty() ? "" : "; supports CUDA " + Shown(driver.cuda)));
  section->Row("kernel module " +
               (driver.module_version.empty() ? "not seen" : Shown(driver.module_version)) + "; NVML " +
               (driver.nvml.empty() ? "not found" : Shown(driver.nvml)));
  section->Row(driver.library.empty()
                   ? "no libcuda.so.1"
                   : Shown(driver.library) + (driver.compat ? ", of a cuda-compat package" : ""));
  if (!driver.fabric_wait_s.empty())
    section->Row("its GPUs' fabric was not ready: waited for " + Shown(driver.fabric_wait_s) + " s");
}

void AddGpus(const Inventory& inventory, Section* section) {
  if (inventory.gpus.empty())
    section->Row("none can be used" + (inventory.gpu_error.empty() ? "" : ": " + Shown(inventory.gpu_error)));
  for (size_t i = 0; i < inventory.gpus.size(); ++i) {
    const GpuFacts& gpu = inventory.gpus[i];
    std::string row = "gpu" + std::to_string(i) + ": " + Shown(gpu.model);
    if (gpu.uuid.compare(0, 4, "MIG-") == 0) row += ", a MIG instance";
    row += ", compute capability " + Shown(gpu.compute_capability);
    if (gpu.memory_bytes) row += ", " + Gibibytes(*gpu.memory_bytes);
    if (gpu.memory_free_bytes) row += " (" + Gibibytes(*gpu.memory_free_bytes) + " free)";
    if (!gpu.compute_mode.empty() && gpu.compute_mode != "default")
      row += ", compute mode " + Shown(gpu.compute_mode);
    section->Row(row);
  }
}

void AddSubjects(const Inventory& inventory, Section* section) {
  const bool some_judged = std::any_of(inventory.subjects.begin(), inventory.subjects.end(),
                                       [](const SubjectView& view) { return view.judged; });
  for (const SubjectView& view : inventory.subjects) {
    std::string row = Shown(view.subject.name) + " (" + Shown(view.subject.spec) + "): ";
    if (view.toolkit_path.empty())
      row += view.toolkit_version.empty() ? "no CUDA runtime"
                                          : "NVRTC " + Shown(view.toolkit_version) + " alone";
    else
      row += "CUDA runtime " + Shown(view.toolkit_version);
    row += view.cudnn_path.empty() ? ", no cuDNN" : ", cuDNN " + Cudnn(view.cudnn_version, view.cudnn_cuda);
    if (some_judged && !view.judged) row += "; not tested";
    section->Row(row);
  }
}

void AddToolkits(const std::vector<FoundToolkit>& toolkits, Section* section) {
  if (toolkits.empty()) section->Row("none found");
  for (const FoundToolkit& toolkit : toolkits)
    section->Row(
        Shown(toolkit.version) + " in " + Shown(toolkit.folder) +
        (toolkit.origin.empty() || toolkit.origin == "toolkit" ? "" : " (" + Shown(toolkit.origin) + ")") +
        ": " + (toolkit.taken_by.empty() ? "no subject uses it" : "used by " + Names(toolkit.taken_by)));
}

void AddCudnn(const Inventory& inventory, Section* section) {
  const bool some_gated = std::any_of(inventory.subjects.begin(), inventory.subjects.end(),
                                      [](const SubjectView& view) { return view.judged; });
  if (inventory.cudnn.empty()) section->Row("none found");
  for (const FoundCudnn& copy : inventory.cudnn) {
    std::string row = Cudnn(copy.version, copy.cuda) + " in " + Shown(FolderOf(copy.path)) +
                      (copy.origin.empty() ? "" : " (" + Shown(copy.origin) + ")") + ": ";
    row += copy.used_by.empty() ? "no subject uses it" : "used by " + Names(copy.used_by);
    if (copy.used_by.empty() || (some_gated && !copy.gated)) row += ", not tested";
    section->Row(row);
  }
}

std::string VersionIn(const std::vector<FoundCudnn>& copies, const std::string& folder) {
  for (const FoundCudnn& copy : copies)
    if (FolderOf(copy.path) == folder) return Cudnn(copy.version, copy.cuda);
  return "in " + Shown(folder);
}

// Which cuDNN the packages of an environment get.
std::string CudnnOf(const PythonEnvironment& environment, const Inventory& inventory) {
  for (const SubjectView& view : inventory.subjects) {
    if (!IsOf(view.subject, environment) || view.cudnn_path.empty()) continue;
    const bool own = FolderOf(view.cudnn_path) == environment.cudnn;
    if (own || environment.cudnn.empty()) break;
    return "cuDNN " + Cudnn(view.cudnn_version, view.cudnn_cuda) + " in " + Shown(FolderOf(view.cudnn_path)) +
           ", instead of its own";
  }
  if (environment.cudnn.empty()) {
    for (const SubjectView& view : inventory.subjects)
      if (view.subject.spec == "loader" && !view.cudnn_path.empty())
        return "the loader's cuDNN " + Cudnn(view.cudnn_version, view.cudnn_cuda);
    return "no cuDNN";
  }
  return "its own cuDNN " + VersionIn(inventory.cudnn, environment.cudnn);
}

// A name of a package that says no more than the title is not told.
std::string PackageText(const PythonPackage& package) {
  const bool tells = package.distribution.find('-') != std::string::npos;
  return Shown(package.title + " " + package.version) +
         (tells ? " (" + Shown(package.distribution) + ")" : "");
}

void AddEnvironments(const Inventory& inventory, Section* section) {
  for (const PythonEnvironment& environment : inventory.environments) {
    std::vector<std::string> frameworks;
    for (const PythonPackage& package : environment.frameworks)
      if (frameworks.size() < kMostRows) frameworks.push_back(PackageText(package));
    section->Row(Shown(environment.interpreter) + ": " +
                 (frameworks.empty() ? "no framework" : Join(frameworks, ", ")) + "; " +
                 CudnnOf(environment, inventory));
  }
}

void AddPromises(const Inventory& inventory, Section* section) {
  const MatrixIdentity& matrix = *inventory.matrix;
  section->Row(Shown(matrix.name) + " (" + Shown(matrix.path) + ", sha256 " + Beginning(matrix.sha256, 16) +
               ")");
  // What does not fit first: no bound hides it.
  std::vector<FoundPromise> promises = inventory.promises;
  const auto rank = [](const FoundPromise& p) { return !p.fits ? 1 : *p.fits ? 2 : 0; };
  std::stable_sort(promises.begin(), promises.end(),
                   [&](const FoundPromise& a, const FoundPromise& b) { return rank(a) < rank(b); });
  for (const FoundPromise& p : promises)
    section->Row((!p.fits   ? "not known     "
                  : *p.fits ? "fits          "
                            : "does not fit  ") +
                 p.promise + " " + Shown(p.range) + ": " + Shown(p.found) +
                 (p.subject.empty() ? "" : " (" + Shown(p.subject) + ")"));
}

void AddChoice(const AutoChoice& choice, Section* section) {
  if (!choice.problem.empty()) {
    section->Row("chooses no matrix: " + CleanLine(choice.problem, 1000));
    return;
  }
  section->Row("would take " + Shown(choice.MatrixName()) + " (" + Shown(choice.because) + ") and test " +
               CleanLine(choice.Judged(), 1000));
  // A matrix that comes with cudnn-ci means what the loader finds.
  section->Row(!choice.candidates.empty() ? "cudnn-ci init writes a matrix of them"
                                          : "cudnn-ci facts --matrix " + Shown(choice.MatrixName()) +
                                                " shows its promises beside the facts");
}

}  // namespace

std::string FactsScreen(const Inventory& inventory, const FactsScreenOptions& options) {
  TextPage page(options.width);
  const auto section = [&](const char* label, const auto& fill, size_t most = kMostRows) {
    Section rows(label, options.bounded ? most : SIZE_MAX, &page);
    fill(&rows);
  };
  section("driver", [&](Section* rows) { AddDriver(inventory.driver, rows); });
  section("gpu", [&](Section* rows) { AddGpus(inventory, rows); });
  page.Gap();
  section("subject", [&](Section* rows) { AddSubjects(inventory, rows); });
  section("toolkit", [&](Section* rows) { AddToolkits(inventory.toolkits, rows); });
  section("cuDNN", [&](Section* rows) { AddCudnn(inventory, rows); });
  section("python", [&](Section* rows) { AddEnvironments(inventory, rows); });
  page.Gap();
  section(
      "variables",
      [&](Section* rows) {
        if (inventory.variables.empty()) rows->Row("no relevant variable is set");
        for (const auto& [name, value] : inventory.variables) rows->Row(Shown(name) + "=" + Shown(value));
      },
      kMostVariables);
  page.Gap();
  if (inventory.matrix) section("contract", [&](Section* rows) { AddPromises(inventory, rows); });
  if (inventory.choice) section("--auto", [&](Section* rows) { AddChoice(*inventory.choice, rows); });
  section("not known", [&](Section* rows) {
    for (const std::string& text : inventory.unknown) rows->Row(Shown(text));
  });
  return page.Take();
}

std::string FactsList(const Facts& facts) {
  std::string out;
  for (const auto& [subject, map] : facts.by_subject) {
    out += (out.empty() ? "subject " : "\nsubject ") + Shown(subject) + "\n";
    for (const auto& [key, value] : map) {
      std::string line = "  " + Shown(key);
      line.resize(std::max<size_t>(line.size() + 1, 34), ' ');
      out += line + CleanLine(value, 4000) + "\n";
    }
  }
  return out;
}

}  // namespace cudnn_ci
