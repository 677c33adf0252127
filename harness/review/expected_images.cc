// Images that were expected, and the reports that there are. See expected_images.h.
#include "review/expected_images.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "model/merge/merge.h"
#include "model/record/finding.h"
#include "report/text/case_text.h"

namespace cudnn_ci {
namespace {

constexpr char kSmall[] = "abcdefghijklmnopqrstuvwxyz", kDigits[] = "0123456789";
constexpr char kImageCharacters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/:[]";  // [::1]:5000/team/train:1
constexpr size_t kMostImageBytes = 500, kMostTypeBytes = 100;

bool IsOf(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

bool IsDigest(std::string_view text) {
  constexpr std::string_view kAlgorithm = "sha256:";
  return text.starts_with(kAlgorithm) && text.size() == kAlgorithm.size() + 64 &&
         IsOf(text.substr(kAlgorithm.size()), "0123456789abcdef");
}

bool IsType(std::string_view text) {
  return text.size() <= kMostTypeBytes && text[0] != '-' && IsOf(text, std::string(kSmall) + kDigits + "-");
}

// The repository and the tag of a name without a digest.
void SplitName(const std::string& name, ExpectedImage* image) {
  const size_t colon = name.rfind(':'), slash = name.rfind('/');
  const bool tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  image->repository = name.substr(0, tagged ? colon : std::string::npos);
  if (tagged) image->tag = name.substr(colon + 1);
  for (const std::string_view supposed : {"docker.io/", "library/"})
    if (image->repository.starts_with(supposed)) image->repository.erase(0, supposed.size());
}

// What a report calls its image, and the tag by which the launcher was given it.
ExpectedImage ImageOf(const PageRow& row) {
  ExpectedImage image, typed;
  const std::string name = row.view.image.substr(0, row.view.image.find(' '));  // without "(image id ...)"
  const size_t at = name.find('@');
  SplitName(name.substr(0, at), &image);
  if (at != std::string::npos) image.digest = name.substr(at + 1);
  SplitName(row.typed_image.substr(0, row.typed_image.find('@')), &typed);
  if (image.tag.empty() && typed.repository == image.repository) {
    image.tag = typed.tag;
    if (typed.tag.empty() && row.typed_image.find('@') == std::string::npos) image.tag = "latest";
  }
  // What docker supposes where neither is typed.
  if (image.tag.empty() && image.digest.empty()) image.tag = "latest";
  return image;
}

bool IsNamed(const RunView& view) { return !view.image.empty() && view.image != "unidentified"; }

Result<ExpectedImage> ParseImage(const std::string& text) {
  ExpectedImage image;
  image.text = text;
  const std::string shown = SingleLine(text, 200);
  const std::vector<std::string> parts = Split(text, '@');
  for (size_t i = 1; i < parts.size(); ++i) {
    std::string type = parts[i];
    std::transform(type.begin(), type.end(), type.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (i == 1 && IsDigest(parts[i]))
      image.digest = parts[i];
    else if (i + 1 == parts.size() && !type.empty() && IsType(type))
      image.gpu = type;
    else
      return Error{"--expect: " + shown +
                   " has after @ neither a digest, sha256:..., nor words of a GPU model, as in @l4"};
  }
  if (text.size() > kMostImageBytes || parts[0][0] == '-' || !IsOf(parts[0], kImageCharacters))
    return Error{"--expect: " + shown + " is not the name of an image"};
  SplitName(parts[0], &image);
  if (image.repository.empty() || parts[0].back() == ':')
    return Error{"--expect: " + shown + " is not the name of an image"};
  return image;
}

bool IsOfImage(const PageRow& row, const ExpectedImage& expected) {
  const RunView& view = row.view;
  if (!IsNamed(view)) return false;
  const ExpectedImage image = ImageOf(row);
  if (image.repository != expected.repository) return false;
  if (!expected.tag.empty() && image.tag != expected.tag) return false;
  if (!expected.digest.empty() && image.digest != expected.digest) return false;
  if (expected.gpu.empty()) return true;
  if (expected.gpu == kNoGpu) return view.gpus.empty();
  return std::any_of(view.gpus.begin(), view.gpus.end(),
                     [&](const std::string& model) { return IsGpuType(expected.gpu, model); });
}

// Of two exit codes the one with the lower rank counts; 0, and a code that is no verdict's, come last.
constexpr std::array<int, 5> kOrder = {1, 5, 3, 6, 4};
size_t RankOf(int exit_code) {
  return static_cast<size_t>(std::find(kOrder.begin(), kOrder.end(), exit_code) - kOrder.begin());
}

ImageStanding MissingImage(const std::string& name, const std::string& detail) {
  const Finding finding = HarnessFinding("image-not-judged", detail);
  return {name, 4, "missing", FindingName(finding) + ": " + detail};
}

// What one run says of its image.
ImageStanding StandingOf(const PageRow& row, const std::string& name) {
  const RunView& view = row.view;
  // Where the launcher was used wrongly (2), no image was tested. For an interrupted run no one can
  // tell.
  const bool of_verdict = view.exit_code == 0 || RankOf(view.exit_code) < kOrder.size();
  const int code = of_verdict ? view.exit_code : view.exit_code == 2 ? 4 : 6;
  if (!row.problem.empty())
    return {name, code == 0 ? 6 : code, view.verdict.empty() ? "unreadable" : view.verdict, row.problem};
  if (code != 0) return {name, code, view.verdict, view.headline_cause};
  if (!view.partial.empty()) return MissingImage(name, "only a part was tested: " + view.partial);
  if (view.report_only) return MissingImage(name, "its run was not gating (--report-only)");
  if (!view.complete) return {name, 6, "incomplete", "its run did not finish"};
  return {name, 0, "passed", ""};
}

// The models that a run saw, each once; empty: it saw no GPU.
std::string GpusOf(const RunView& view) {
  const std::set<std::string> models(view.gpus.begin(), view.gpus.end());
  return Join({models.begin(), models.end()}, ", ");
}

// When the last pass of an image began, by the GPUs that it saw; empty: none has passed on these.
using Passes = std::map<std::string, std::string>;

// Whether a pass on the same GPUs came after the run. One that saw none may be a job's for any of them: then
// all have passed since.
bool IsSuperseded(const RunView& run, const Passes& passes) {
  const std::string gpus = GpusOf(run);
  return std::all_of(passes.begin(), passes.end(), [&](const auto& pass) {
    const bool counts =
        gpus.empty() ? !pass.first.empty() || !pass.second.empty() || passes.size() == 1 : pass.first == gpus;
    return !counts || run.timestamp < pass.second;
  });
}

// The worst of the runs; a later pass supersedes a runner's fault of the same image on the
// same GPUs.
ImageStanding FoldRuns(const std::vector<const PageRow*>& runs, const std::string& name) {
  std::map<std::string, Passes> passes;  // by image
  for (const PageRow* run : runs) {
    std::string& last = passes[run->view.image][GpusOf(run->view)];
    if (StandingOf(*run, name).exit_code == 0) last = std::max(last, run->view.timestamp);
  }
  ImageStanding worst = {name, 0, "passed", ""};
  for (const PageRow* run : runs) {
    const ImageStanding one = StandingOf(*run, name);
    const bool may_be_superseded = one.exit_code == 3 || one.exit_code == 6;
    if (may_be_superseded && IsSuperseded(run->view, passes[run->view.image])) continue;
    if (RankOf(one.exit_code) < RankOf(worst.exit_code)) worst = one;
  }
  return worst;
}

std::string PlaceOf(const ExpectedImage& image) { return image.repository + "@" + image.digest; }

// The tags of images that a digest names too.
std::map<std::string, std::string> TagsOf(const std::vector<const PageRow*>& rows) {
  std::map<std::string, std::string> tags;
  for (const PageRow* row : rows)
    if (const ExpectedImage image = ImageOf(*row); !image.tag.empty() && !image.digest.empty())
      tags.emplace(PlaceOf(image), image.tag);
  return tags;
}

// By what it is one image among others: a digest alone only where no report names its tag.
std::string KeyOf(const PageRow& row, const std::map<std::string, std::string>& tags) {
  const ExpectedImage image = ImageOf(row);
  if (!image.tag.empty()) return image.repository + ":" + image.tag;
  const auto tag = tags.find(PlaceOf(image));
  return image.repository + ":" + (tag == tags.end() ? image.digest : tag->second);
}

// Rows of one unexpected image, by that image; one that names none stands for itself.
std::vector<std::pair<std::string, std::vector<const PageRow*>>> Unnamed(
    const std::vector<const PageRow*>& rows) {
  std::vector<std::pair<std::string, std::vector<const PageRow*>>> groups;
  std::map<std::string, size_t> places;
  const std::map<std::string, std::string> tags = TagsOf(rows);
  for (const PageRow* row : rows) {
    const bool named = IsNamed(row->view);
    const std::string key = named ? "image " + KeyOf(*row, tags) : "folder " + row->source;
    const auto [place, added] = places.emplace(key, groups.size());
    if (added) groups.push_back({named ? row->view.image : row->source, {}});
    groups[place->second].second.push_back(row);
  }
  return groups;
}

std::string CountOf(size_t count) { return std::to_string(count) + (count == 1 ? " image" : " images"); }

// Why reports may be of no image.
std::string Nameless(size_t count) {
  if (count == 0) return "";
  return "; " + std::to_string(count) + (count == 1 ? " report names" : " reports name") +
         " no image: --subject-image names it";
}

}  // namespace

Result<ExpectedImages> ParseExpected(const std::vector<std::string>& arguments) {
  ExpectedImages expected;
  std::set<std::string> seen;
  for (const std::string& argument : arguments) {
    if (IsOf(argument, kDigits)) {
      if (arguments.size() > 1) return Error{"--expect: give a number alone"};
      expected.count = argument.size() > 5 ? 0 : std::stoul(argument);
      if (expected.count == 0 || expected.count > kMostExpected)
        return Error{"--expect: from 1 to " + std::to_string(kMostExpected) + " images can be expected"};
      continue;
    }
    for (const std::string& text : Split(argument, ',')) {
      if (text.empty()) return Error{"--expect: the name of an image is empty"};
      Result<ExpectedImage> image = ParseImage(text);
      if (!image.ok()) return Error{image.error()};
      const std::string key = image->repository + ":" + image->tag + "@" + image->digest + "@" + image->gpu;
      if (!seen.insert(key).second) return Error{"--expect: " + SingleLine(text, 200) + " is given twice"};
      if (expected.images.size() == kMostExpected)
        return Error{"--expect: from 1 to " + std::to_string(kMostExpected) + " images can be expected"};
      expected.images.push_back(std::move(*image));
    }
  }
  return expected;
}

ImagesVerdict VerdictOnImages(const std::vector<PageRow>& rows, const ExpectedImages& expected) {
  ImagesVerdict verdict;
  std::set<const PageRow*> used;
  const auto nameless = static_cast<size_t>(
      std::count_if(rows.begin(), rows.end(), [](const PageRow& row) { return !IsNamed(row.view); }));
  for (const ExpectedImage& image : expected.images) {
    std::vector<const PageRow*> runs;
    for (const PageRow& row : rows)
      if (IsOfImage(row, image)) runs.push_back(&row), used.insert(&row);
    verdict.images.push_back(runs.empty()
                                 ? MissingImage(image.text, "no report is about it" + Nameless(nameless))
                                 : FoldRuns(runs, image.text));
  }
  // Beside a launcher's runs, one that names no image may have tested the machine that it ran on.
  const bool launched =
      std::any_of(rows.begin(), rows.end(), [](const PageRow& row) { return !row.typed_image.empty(); });
  std::vector<const PageRow*> others;
  for (const PageRow& row : rows)
    if (used.count(&row) == 0) others.push_back(&row);
  size_t judged = 0;
  for (const auto& [name, runs] : Unnamed(others)) {
    verdict.images.push_back(FoldRuns(runs, name));
    const std::string& word = verdict.images.back().word;
    const bool counts = IsNamed(runs.front()->view) || !launched;
    judged += counts && word != "missing" && word != "unreadable" ? 1 : 0;
  }
  if (judged < expected.count)
    verdict.images.push_back(
        MissingImage(CountOf(expected.count), CountOf(judged) + " of " + std::to_string(expected.count) +
                                                  " that were expected" + Nameless(launched ? nameless : 0)));
  for (const ImageStanding& image : verdict.images)
    if (RankOf(image.exit_code) < RankOf(verdict.exit_code)) verdict.exit_code = image.exit_code;
  return verdict;
}

}  // namespace cudnn_ci
