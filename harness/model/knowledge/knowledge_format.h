// The formats of the files of knowledge, as data: which lists each has, which fields a row, and what a value
// may be. Private to model.
#ifndef CUDNN_CI_MODEL_KNOWLEDGE_KNOWLEDGE_FORMAT_H_
#define CUDNN_CI_MODEL_KNOWLEDGE_KNOWLEDGE_FORMAT_H_

#include <string>
#include <vector>

namespace cudnn_ci {

// Adapters bring code, which an interpreter of the image runs (plugins/kernels).
inline constexpr const char* kAdaptersSchema = "cudnn-ci/adapters/1";
inline constexpr const char* kAdapterCode = "code";

enum class FieldKind {
  kName,           // letters, digits and "._+-"
  kNamePattern,    // the same, "#" (a digit) and, behind two others, "*" (any text)
  kModule,         // a Python module without a parent: looking for one below another imports that
  kPythonName,     // a Python package's name in its normalised form, "acme-infer"
  kPythonPattern,  // the same, "#" and "*" as above
  kFinding,        // a finding's id, "library-missing"
  kFilePattern,    // the same as a name, and "*"
  kPath,           // names between slashes, relative, none of them ".."
  kPathPattern,    // the same, "*", and "%" for a CUDA major
  kText,           // words on one line
  kWord,           // one of `words`
  kFlag,
  kNumber,  // 1 to 99
  kRange,   // of versions: "<3.6"
  kUrl,
  kCommand,       // printable, on one line
  kNames,         // a list of names
  kPythonNames,   // of Python packages in their normalised form
  kPaths,         // a list of paths
  kPathPatterns,  // a list of patterns of paths
  kSteps,         // a list of objects: what a package opens
  kCode           // the name of a file of Python beside this one, "acme.py"
};

struct FieldFormat {
  const char* key;
  FieldKind kind;
  bool required = true;
  std::vector<std::string> words = {};
};

// A field that names a row of another list, by that row's field `target`.
struct Reference {
  const char* field;
  const char* list;
  const char* target;
};

// One list of a file.
struct ListFormat {
  const char* name;                 // "packages"
  const char* entry;                // how keys of its rows begin for plugins: "package."; null: they get none
  std::vector<FieldFormat> fields;  // "source" and "confidence" aside
  std::vector<const char*> key;     // the fields that together name a row
  std::vector<Reference> references = {};
  bool base_only = false;    // rows are taken of the files that come with cudnn-ci alone
  bool with_source = false;  // plugins are told the source
  bool with_origin = false;  // and whether the row is of a file that does not come with cudnn-ci: "added"
  // A pattern that is one of Python's normalised names where "manager" is "python"; null: none.
  const char* name_of_manager = nullptr;
  std::vector<const char*> together = {};  // a row has all of these fields or none
};

struct FileFormat {
  const char* schema;  // "cudnn-ci/packages/1"
  const char* file;  // that comes with cudnn-ci, or a folder of such files: "packages.json"; null: none does
  std::vector<ListFormat> lists;
};

const std::vector<FileFormat>& KnowledgeFormats();

// The fields of one step of kSteps.
const std::vector<FieldFormat>& StepFields();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_KNOWLEDGE_KNOWLEDGE_FORMAT_H_
