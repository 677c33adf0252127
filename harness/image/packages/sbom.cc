#include "image/packages/sbom.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace cudnn_ci {
namespace {

// Percent-encoding of a package URL; anything else stays as it is.
std::string Decoded(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? digit(text[i + 1]) : -1;
    const int low = high >= 0 ? digit(text[i + 2]) : -1;
    if (low < 0) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

// "pkg:TYPE/NAMESPACE/NAME@VERSION?QUALIFIERS#SUBPATH" into type, name and version. False: it is none.
bool ReadPackageUrl(std::string_view url, SbomPackage* package) {
  constexpr std::string_view kScheme = "pkg:";
  if (url.substr(0, kScheme.size()) != kScheme) return false;
  url.remove_prefix(kScheme.size());
  url = url.substr(0, url.find_first_of("?#"));
  while (!url.empty() && url.front() == '/') url.remove_prefix(1);
  const size_t slash = url.find('/');
  if (slash == std::string_view::npos || slash == 0) return false;
  const size_t at = url.rfind('@');
  const bool has_version = at != std::string_view::npos && at > slash;
  const std::string_view name = url.substr(slash + 1, (has_version ? at : url.size()) - slash - 1);
  if (name.empty()) return false;
  package->type = std::string(url.substr(0, slash));
  std::transform(package->type.begin(), package->type.end(), package->type.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  package->name = Decoded(name.substr(name.rfind('/') + 1));
  if (has_version) package->version = Decoded(url.substr(at + 1));
  return true;
}

// Takes the names and versions out of the stream of a document's values. Memory is bounded by the document
// and the number of packages; nothing is called recursively.
class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return Enter(false) && StartPackage(); }
  bool end_object() override { return EndPackage(); }
  bool start_array(std::size_t) override { return Enter(true); }
  bool end_array() override {
    frames_.pop_back();
    return true;
  }
  bool key(string_t& name) override {
    frames_.back().key = std::move(name);
    return true;
  }
  bool string(string_t& value) override {
    Take(value);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& problem) override {
    if (error.empty()) error = std::string("is not JSON: ") + CleanLine(problem.what(), 200);
    return false;
  }

  Result<std::vector<SbomPackage>> Packages() {
    if (!error.empty()) return Error{error};
    const auto begins = [](const std::string& text, std::string_view with) {
      return text.compare(0, with.size(), with) == 0;
    };
    if (bom_format_ == "CycloneDX") {
      const bool known = begins(version_, "1.") && version_.size() == 3 && version_[2] >= '4';
      if (!known) return Error{"is CycloneDX " + Quoted(version_) + "; 1.4 and later are read"};
    } else if (!spdx_version_.empty()) {
      if (spdx_version_ != "SPDX-2.2" && spdx_version_ != "SPDX-2.3")
        return Error{"is " + Quoted(spdx_version_) + "; SPDX-2.2 and SPDX-2.3 are read"};
    } else {
      return Error{"is neither SPDX 2 nor CycloneDX: it has no \"spdxVersion\" and no \"bomFormat\""};
    }
    return std::move(packages_);
  }

  std::string error;

 private:
  struct Frame {
    bool list = false;
    bool package = false;  // an object whose name and version count
    std::string key;       // of an object, the last one
  };
  struct Open {
    SbomPackage own;                // in the document's own words
    std::string url;                // CycloneDX
    std::string type, locator;      // SPDX, of the reference that is open
    std::vector<std::string> urls;  // SPDX
  };

  static std::string Quoted(const std::string& text) { return "\"" + CleanLine(text, 60) + "\""; }

  bool Enter(bool list) {
    if (frames_.size() >= static_cast<size_t>(kMaxSbomDepth)) {
      error = "is nested more than " + std::to_string(kMaxSbomDepth) + " deep";
      return false;
    }
    frames_.push_back({list, false, {}});
    return true;
  }

  // Whether frame `at` is an object directly in a list of this key, of the object before it.
  bool IsItemOf(size_t at, std::string_view key) const {
    return at >= 2 && !frames_[at].list && frames_[at - 1].list && !frames_[at - 2].list &&
           frames_[at - 2].key == key;
  }

  bool StartPackage() {
    const size_t at = frames_.size() - 1;
    const bool inner = at >= 2 && frames_[at - 2].package;
    const bool component = IsItemOf(at, "components") && (at == 2 || inner);
    const bool package = at == 2 && IsItemOf(at, "packages");
    if (!component && !package) return true;
    if (packages_.size() + open_.size() >= kMaxSbomPackages) {
      error = "lists more than " + std::to_string(kMaxSbomPackages) + " packages";
      return false;
    }
    frames_.back().package = true;
    open_.emplace_back();
    return true;
  }

  bool IsReference() const {
    const size_t at = frames_.size() - 1;
    return at >= 2 && frames_[at - 2].package && IsItemOf(at, "externalRefs");
  }

  bool EndPackage() {
    if (IsReference()) {
      Open& open = open_.back();
      if (open.type == "purl") open.urls.push_back(std::move(open.locator));
      open.type.clear(), open.locator.clear();
    }
    const bool package = frames_.back().package;
    frames_.pop_back();
    if (!package) return true;
    Open open = std::move(open_.back());
    open_.pop_back();
    if (!open.url.empty()) open.urls.insert(open.urls.begin(), std::move(open.url));
    for (const std::string& url : open.urls)
      if (ReadPackageUrl(url, &open.own)) break;
    // Here what was written by others enters.
    open.own.name = CleanLine(open.own.name), open.own.version = CleanLine(open.own.version);
    if (!open.own.name.empty()) packages_.push_back(std::move(open.own));
    return true;
  }

  void Take(const std::string& value) {
    if (frames_.empty() || frames_.back().list) return;
    const std::string& key = frames_.back().key;
    if (frames_.size() == 1) {
      if (key == "bomFormat") bom_format_ = value;
      if (key == "specVersion") version_ = value;
      if (key == "spdxVersion") spdx_version_ = value;
    } else if (frames_.back().package) {
      Open& open = open_.back();
      if (key == "name") open.own.name = value;
      if (key == "version" || key == "versionInfo") open.own.version = value;
      if (key == "purl") open.url = value;
    } else if (IsReference()) {
      if (key == "referenceType") open_.back().type = value;
      if (key == "referenceLocator") open_.back().locator = value;
    }
  }

  std::vector<Frame> frames_;
  std::vector<Open> open_;
  std::string bom_format_, version_, spdx_version_;
  std::vector<SbomPackage> packages_;
};

}  // namespace

Result<std::vector<SbomPackage>> ParseSbom(std::string_view text) {
  Handler handler;
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  return handler.Packages();
}

Result<std::vector<SbomPackage>> ReadSbom(const std::string& path) {
  const Result<std::string> text = ReadFile(path, kMaxSbomBytes);
  if (!text.ok()) return Error{text.error()};
  Result<std::vector<SbomPackage>> packages = ParseSbom(*text);
  if (!packages.ok()) return Error{path + " " + packages.error()};
  return packages;
}

}  // namespace cudnn_ci
