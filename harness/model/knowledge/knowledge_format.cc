#include "model/knowledge/knowledge_format.h"

#include <cudnn_ci/facts.h>

#include "base/knowledge_words.h"

namespace cudnn_ci {
namespace {

using Kind = FieldKind;

constexpr Reference kLibrary = {"library", "libraries", "library"},
                    kFeature = {"feature", "features", "feature"};

ListFormat GpuLibraries() {
  return {"gpu_libraries",
          CCI_KNOWLEDGE_GPU_LIBRARY,
          {{"file", Kind::kName},
           {"package", Kind::kPythonName},
           {"conda", Kind::kName, false},
           {"suffix_in_13", Kind::kFlag, false},
           {"numbered_as_cuda", Kind::kFlag, false},
           {"linked_only", Kind::kFlag, false},
           {"minor_in_name", Kind::kFlag, false},
           {"computes", Kind::kFlag, false},
           {"folder", Kind::kPath, false}},
          {"file"}};
}

FileFormat Packages() {
  return {
      "cudnn-ci/packages/1",
      "packages.json",
      {{"libraries", CCI_KNOWLEDGE_LIBRARY, {{"library", Kind::kName}, {"title", Kind::kText}}, {"library"}},
       {"packages",
        CCI_KNOWLEDGE_PACKAGE,
        {{"manager", Kind::kWord, true, {"python", "conda", "distribution"}},
         {"name", Kind::kNamePattern},
         {"library", Kind::kName, false},
         {"framework", Kind::kText, false}},
        {"manager", "name"},
        {kLibrary},
        false,
        false,
        false,
        "name"},
       {"frameworks",
        CCI_KNOWLEDGE_FRAMEWORK,
        {{"framework", Kind::kName},
         {"title", Kind::kText},
         {"module", Kind::kModule},
         {"distributions", Kind::kPythonNames},
         {"for_cpu", Kind::kPythonNames, false},
         {"native", Kind::kPathPatterns, false},
         {"run_path_of", Kind::kPaths, false},
         {"takes_package", Kind::kFlag},
         {"opens_by_name", Kind::kFlag}},
        {"framework"}},
       {"files",
        CCI_KNOWLEDGE_FILE,
        {{"file", Kind::kName}, {"library", Kind::kName}, {"version_behind", Kind::kText, false}},
        {"file"},
        {kLibrary}},
       GpuLibraries(),
       {"numbers",
        kKnowledgeNumber,
        {{"package", Kind::kPythonName},
         {"number", Kind::kName},
         {"packages", Kind::kPythonNames},
         {"major", Kind::kNumber, false},
         {"unsuffixed", Kind::kNumber, false}},
        {"package", "number"}},
       {"baked",
        kKnowledgeBaked,
        {{"file", Kind::kName},
         {"object", Kind::kName},
         {"title", Kind::kText},
         {"changed_in", Kind::kName, false}},
        {"file", "object"}},
       {"driver_libraries",
        CCI_KNOWLEDGE_DRIVER_LIBRARY,
        {{"file", Kind::kName}, {"functions", Kind::kName}},
        {"file"},
        {},
        true}}};
}

FileFormat Imports() {
  return {"cudnn-ci/imports/1",
          "imports.json",
          {{"imports",
            CCI_KNOWLEDGE_IMPORT,
            {{"import", Kind::kName},
             {"title", Kind::kText},
             {"marker", Kind::kPath},
             {"marker_says", Kind::kText, false},
             {"cuda_of", Kind::kPathPattern, false},
             {"cuda_major", Kind::kNumber, false},
             {"versions_in", Kind::kPath, false},
             {"cuda_name", Kind::kName, false},
             {"cudnn_name", Kind::kName, false},
             {"after", Kind::kName, false},
             {"core", Kind::kPythonPattern, false},
             {"whole", Kind::kPythonName, false},
             {"core_extra", Kind::kName, false},
             {"packages", Kind::kNames},
             {"for_gpu", Kind::kPythonNames, false},
             {"for_cpu", Kind::kPythonNames, false},
             {"libraries", Kind::kNames, false},
             {"same_cuda", Kind::kNames, false},
             {"same_cuda_major", Kind::kNames, false},
             {"first", Kind::kSteps, false},
             {"main_begins", Kind::kFlag, false},
             {"main", Kind::kSteps, false},
             {"later", Kind::kSteps, false}},
            {"marker"},
            {},
            false,
            false,
            true},
           {"words",
            kKnowledgeWord,
            {{"word", Kind::kName},
             {"means", Kind::kWord, true, {"opener", "cuda", "any_gpu", "cpu", "other_machine"}}},
            {"word"}}}};
}

FileFormat Compilers() {
  return {"cudnn-ci/compilers/1",
          "compilers.json",
          {{"features",
            CCI_KNOWLEDGE_FEATURE,
            {{"feature", Kind::kName},
             {"package", Kind::kPythonPattern},
             {"ordinary", Kind::kFlag},
             {"part_of", Kind::kPythonName, false},
             {"serves", Kind::kName, false},
             {"only_if_required", Kind::kFlag, false}},
            {"feature", "package"},
            {{"serves", "features", "feature"}}},
           {"users",
            CCI_KNOWLEDGE_USER,
            {{"feature", Kind::kName}, {"package", Kind::kPythonName}},
            {"feature", "package"},
            {kFeature}},
           {"needs",
            CCI_KNOWLEDGE_NEED,
            {{"feature", Kind::kName},
             {"tool",
              Kind::kWord,
              true,
              {"c_compiler", "cxx_compiler", "python_headers", "ldconfig", "driver_link_name", "triton_ptxas",
               "triton_libdevice", "triton_cache", "triton_package", "libnvvm", "libdevice", "nvrtc",
               "cuda_headers", "cupy_cache", "toolkit_ptxas", "nvcc", "curand_headers", "ninja"}},
             {"versions", Kind::kRange, false},
             {"always", Kind::kFlag},
             {"used_for", Kind::kText}},
            {"feature", "tool", "versions"},
            {kFeature},
            false,
            true}}};
}

FileFormat Remedies() {
  return {"cudnn-ci/remedies/1",
          nullptr,
          {{"remedies",
            nullptr,
            {{"finding", Kind::kFinding},
             {"remedy", Kind::kText},
             {"link", Kind::kUrl, false},
             {"command", Kind::kCommand, false},
             {"where", Kind::kWord, false, {"image", "host", "matrix"}}},
            {"finding"},
            {},
            false,
            false,
            false,
            nullptr,
            {"command", "where"}}}};
}

FileFormat Adapters() {
  return {kAdaptersSchema,
          "adapters",
          {{"adapters",
            CCI_KNOWLEDGE_ADAPTER,
            {{"adapter", Kind::kName},
             {"title", Kind::kText},
             {"distributions", Kind::kPythonNames},
             {"versions", Kind::kRange},
             {kAdapterCode, Kind::kCode},
             {"known_good", Kind::kText, false},
             {"known_bad", Kind::kText, false}},
            {"adapter"}},
           {"implementations",
            CCI_KNOWLEDGE_IMPLEMENTATION,
            {{"adapter", Kind::kName},
             {"implementation", Kind::kText},
             {"arithmetic",
              Kind::kWord,
              false,
              {"exact", "online_softmax", "recomputed_softmax", "rounded_partials"}},
             {"library", Kind::kWord, false, {"cudnn"}},
             {"promises", Kind::kPathPatterns, false},
             {"offers", Kind::kPathPatterns, false},
             {"kernels", Kind::kNames, false},
             {"versions", Kind::kRange, false},
             {"capability", Kind::kName, false},
             {"processes", Kind::kNames, false}},
            {"adapter", "implementation"},
            {{"adapter", "adapters", "adapter"}}},
           {.name = "faults",
            .entry = CCI_KNOWLEDGE_KERNEL_FAULT,
            .fields = {{"adapter", Kind::kName},
                       {"implementation", Kind::kText},
                       {"problems", Kind::kPathPatterns},
                       {"versions", Kind::kRange},
                       {"effect", Kind::kText},
                       {"remedy", Kind::kText}},
            .key = {"adapter", "implementation", "effect"},
            .references = {{"adapter", "adapters", "adapter"}},
            .with_source = true}}};
}

}  // namespace

const std::vector<FileFormat>& KnowledgeFormats() {
  static const std::vector<FileFormat> kFormats = {Packages(), Imports(), Compilers(), Remedies(),
                                                   Adapters()};
  return kFormats;
}

const std::vector<FieldFormat>& StepFields() {
  static const std::vector<FieldFormat> kFields = {
      {"open", Kind::kFilePattern},
      {"in", Kind::kPathPatterns, false},
      {"by", Kind::kPathPatterns, false},
      {"need", Kind::kWord, true, {"must", "together", "partly", "tried"}},
      {"global", Kind::kFlag, false},
      {"toolkit", Kind::kFlag, false}};
  return kFields;
}

}  // namespace cudnn_ci
