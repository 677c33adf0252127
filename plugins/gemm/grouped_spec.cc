#include "gemm/grouped_spec.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace cudnn_ci {
namespace {

constexpr char kForm[] =
    "is not a group: give rows, columns and products in each sum, such as 17x19x23, then *2 for two "
    "products, then any of nn, tn, nt, tt, alpha=2, beta=-1 and padding=3, each after a space";

constexpr std::int64_t kLargestSize = 65536, kMostProducts = 1024, kLargestPadding = 4096;
constexpr std::size_t kMostGroups = 256;
// Of A, B and C together: what a case takes stays below a GiB or two.
constexpr std::int64_t kMostElements = std::int64_t{1} << 26;
// To which the documentation would have all matrices aligned.
constexpr std::int64_t kAlignedBytes = 16;

bool ReadNumber(const std::string& text, std::int64_t most, std::int64_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && *number >= 0 && *number <= most;
}

// Those by which nothing is rounded.
bool ReadFactor(const std::string& text, double* factor) {
  for (const double known : {0.0, 0.5, 1.0, 2.0, -0.5, -1.0, -2.0}) {
    std::ostringstream os;
    os << known;
    if (os.str() == text) return *factor = known, true;
  }
  return false;
}

bool ReadTransposes(const std::string& text, MatmulSpec* group) {
  if (text.size() != 2 || text.find_first_not_of("nt") != std::string::npos) return false;
  group->transpose_a = text[0] == 't', group->transpose_b = text[1] == 't';
  return true;
}

std::string ReadWord(const std::string& word, MatmulSpec* group) {
  const auto value = [&word] { return word.substr(word.find('=') + 1); };
  const std::string name = word.substr(0, word.find('='));
  if (ReadTransposes(word, group)) return "";
  if (name == "padding")
    return ReadNumber(value(), kLargestPadding, &group->padding) ? ""
                                                                 : "has a padding that is not from 0 to 4096";
  if (name != "alpha" && name != "beta") return kForm;
  if (!ReadFactor(value(), name == "alpha" ? &group->alpha : &group->beta))
    return "has " + word + ", which must be 0, 0.5, 1, 2 or one of them negative; others cause rounding";
  return group->alpha == 0 ? "has an alpha of 0, which leaves nothing to compute" : "";
}

std::string ReadSize(const std::string& word, MatmulSpec* group) {
  const std::size_t star = word.find('*');
  if (!group->SetSize(word.substr(0, star), 0)) return kForm;
  if (std::max({group->m, group->n, group->k}) > kLargestSize) return "has a size above 65536";
  if (star == std::string::npos) return "";
  return ReadNumber(word.substr(star + 1), kMostProducts, &group->batch)
             ? ""
             : "has a number of products after * that is not from 0 to 1024";
}

std::string GroupText(const MatmulSpec& group) {
  std::ostringstream os;
  os << group.m << 'x' << group.n << 'x' << group.k;
  if (group.batch != 1) os << '*' << group.batch;
  os << ' ' << (group.transpose_a ? 't' : 'n') << (group.transpose_b ? 't' : 'n');
  if (group.alpha != 1) os << " alpha=" << group.alpha;
  if (group.beta != 0) os << " beta=" << group.beta;
  if (group.padding > 0) os << " padding=" << group.padding;
  return os.str();
}

}  // namespace

bool IsEmpty(const MatmulSpec& group) { return std::min({group.m, group.n, group.k, group.batch}) == 0; }

std::string GroupedSpec::Add(const std::string& text) {
  MatmulSpec group;
  group.type = type, group.tf32 = tf32;
  group.transpose_a = transpose_a, group.transpose_b = transpose_b;
  group.alignment = kAlignedBytes / static_cast<std::int64_t>(SizeOf(type));
  group.data_set = groups.size();
  std::istringstream words(text);
  std::string word;
  words >> word;
  std::string wrong = ReadSize(word, &group);
  while (wrong.empty() && words >> word) wrong = ReadWord(word, &group);
  if (wrong.empty()) groups.push_back(group);
  return wrong;
}

std::string GroupedSpec::Problem() const {
  if (groups.size() > kMostGroups) return "has more than 256 groups";
  if (Products() > kMostProducts) return "has more than 1024 products";
  const std::int64_t elements =
      Starts(&MatmulSpec::A).back() + Starts(&MatmulSpec::B).back() + Starts(&MatmulSpec::D).back();
  if (elements > kMostElements) return "has matrices of more than 67108864 elements";
  return std::all_of(groups.begin(), groups.end(), IsEmpty) ? "has only empty groups: nothing is computed"
                                                            : "";
}

std::int64_t GroupedSpec::Products() const {
  std::int64_t products = 0;
  for (const MatmulSpec& group : groups) products += group.batch;
  return products;
}

bool GroupedSpec::HasEmptyGroup() const { return std::any_of(groups.begin(), groups.end(), IsEmpty); }

std::vector<std::int64_t> GroupedSpec::Starts(MatmulLayout (MatmulSpec::*layout)() const) const {
  std::vector<std::int64_t> starts = {0};
  for (const MatmulSpec& group : groups) starts.push_back(starts.back() + group.Elements((group.*layout)()));
  return starts;
}

std::string GroupedSpec::Text() const {
  std::string text = (groups.empty() ? MatmulSpec() : groups.front()).TypeText();
  text += tf32 ? " by TF32, groups " : ", groups ";
  for (std::size_t i = 0; i < groups.size(); ++i) text += (i > 0 ? "; " : "") + GroupText(groups[i]);
  return text;
}

GroupedPlace PlaceIn(const std::vector<std::int64_t>& starts, std::int64_t index) {
  const auto next = std::upper_bound(starts.begin(), starts.end(), index);
  const auto group = static_cast<std::size_t>(next - starts.begin()) - 1;
  return {group, index - starts[group]};
}

}  // namespace cudnn_ci
