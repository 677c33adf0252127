#include "framework/collective_files.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/numeric/fill.h"
#include "compute/describe_result.h"
#include "nccl/collective_data.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

struct Call {
  const char *collective, *reduction;
  bool jax;  // JAX has it as one collective
};
constexpr Call kCalls[] = {{"all_reduce", "sum", true},          {"all_reduce", "max", true},
                           {"all_reduce", "average", true},      {"reduce_scatter", "sum", true},
                           {"reduce_scatter", "average", false}, {"all_gather", "none", true},
                           {"broadcast", "none", false},         {"all_to_all", "none", true}};

// No power of two, at which an average of one rank is right in every release. Each with a type of reductions
// and one of copies.
struct Size {
  std::int64_t count;
  const char *reduced, *copied;
};
constexpr Size kSizes[] = {
    {1023, "float32", "int32"}, {262145, "float32", "int32"}, {1048584, "bfloat16", "uint8"}};

// Buffers that have a chunk for each rank are as large as the others.
std::int64_t ChunkOf(const CollectiveSpec& spec, std::int64_t count) {
  const bool whole = spec.collective == Collective::kAllReduce || spec.collective == Collective::kBroadcast;
  return whole || spec.ranks == 1 ? count : (count / spec.ranks) | 1;
}

std::string FileOf(const std::string& folder, size_t index, int rank, const char* end) {
  return folder + "/" + std::to_string(index) + "." + std::to_string(rank) + "." + end;
}

size_t ResultBytes(const CollectiveSpec& spec, int rank) {
  return static_cast<size_t>(spec.Of(rank).output) * spec.type->size;
}

// "80000000", in the order in which they lie in memory.
std::string FillOf(const CollectiveSpec& spec) {
  const std::uint32_t word = UnwrittenWord(spec.type->memory);
  char text[9];
  std::snprintf(text, sizeof text, "%02x%02x%02x%02x", word & 0xff, word >> 8 & 0xff, word >> 16 & 0xff,
                word >> 24);
  return text;
}

std::string WrongOfRank(const CollectiveSpec& spec, int rank, const std::string& path) {
  const size_t bytes = ResultBytes(spec, rank);
  std::vector<unsigned char> got(bytes + 1);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(got.data()), static_cast<std::streamsize>(got.size()));
  if (const auto read = static_cast<size_t>(file.gcount()); read != bytes)
    return "its result has " + std::string(read > bytes ? "more than " : "") +
           std::to_string(read > bytes ? bytes : read) + " bytes, expected " + std::to_string(bytes);
  const CollectiveData data(spec, rank);
  const Judgement judged = data.Judge(0, 0, got.data());
  if (judged.wrong > 0) {
    const std::string why = data.Explain(got.data());
    return DescribeWrong(judged, data.Place(judged.first_wrong), 0) + (why.empty() ? "" : "; " + why);
  }
  return judged.unwritten > 0 ? DescribeUnwritten(judged, data.Place(judged.first_unwritten)) : "";
}

}  // namespace

std::vector<CollectiveSpec> CollectivesOf(const Probe& probe, int ranks) {
  const bool jax = probe.name == std::string(kJax.name);
  std::vector<CollectiveSpec> calls;
  for (const Call& call : kCalls)
    for (const Size& size : kSizes) {
      CollectiveSpec spec;
      spec.SetCollective(call.collective);
      if (std::string(call.reduction) != "none") spec.reduction = ReductionFrom(call.reduction);
      spec.type = FindNcclType(spec.Reduces() ? size.reduced : size.copied);
      spec.ranks = ranks;
      spec.root = spec.HasRoot() ? ranks - 1 : 0;
      spec.count = ChunkOf(spec, size.count);
      // As torch.distributed has these two.
      spec.in_place = !jax && (spec.collective == Collective::kAllReduce || spec.HasRoot());
      if ((call.jax || !jax) && InexactBecause(spec).empty()) calls.push_back(spec);
    }
  return calls;
}

void WriteCollectives(const std::string& folder, const std::vector<CollectiveSpec>& calls) {
  std::error_code error;
  fs::remove_all(folder, error);  // of the case before in this process
  fs::create_directories(folder, error);
  for (size_t i = 0; i < calls.size(); ++i)
    for (int rank = 0; rank < calls[i].ranks; ++rank) {
      const auto sends = static_cast<size_t>(calls[i].Of(rank).sends);
      if (sends == 0) continue;
      std::vector<unsigned char> bytes(sends * calls[i].type->size);
      CollectiveData(calls[i], rank).Encode(0, bytes.data());
      std::ofstream file(FileOf(folder, i, rank, "in"), std::ios::binary);
      file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
      file.close();
      if (!file) throw std::runtime_error("cannot write " + FileOf(folder, i, rank, "in"));
    }
}

std::string ProblemOf(const std::string& folder, const std::vector<CollectiveSpec>& calls, int processes) {
  nlohmann::json cases = nlohmann::json::array();
  for (const CollectiveSpec& spec : calls) {
    const std::string text = spec.Text();
    cases.push_back({{"text", text},
                     {"collective", text.substr(0, text.find(' '))},
                     {"reduction", NameOf(spec.reduction)},
                     {"dtype", spec.type->name},
                     {"root", spec.root},
                     {"bytes", ResultBytes(spec, 0)},
                     {"fill", FillOf(spec)}});
  }
  return nlohmann::json{
      {"collectives",
       {{"folder", folder}, {"ranks", calls.front().ranks}, {"processes", processes}, {"cases", cases}}}}
      .dump();
}

bool HasResults(const std::string& folder, const std::vector<CollectiveSpec>& calls, size_t index) {
  const CollectiveSpec& spec = calls[index];
  for (int rank = 0; rank < spec.ranks; ++rank) {
    std::error_code error;
    const auto size = fs::file_size(FileOf(folder, index, rank, "out"), error);
    if (error || size != ResultBytes(spec, rank)) return false;
  }
  return true;
}

std::string WrongWith(const std::string& folder, const std::vector<CollectiveSpec>& calls, size_t index) {
  const CollectiveSpec& spec = calls[index];
  std::string first;
  int wrong = 0;
  for (int rank = 0; rank < spec.ranks; ++rank) {
    const std::string text = WrongOfRank(spec, rank, FileOf(folder, index, rank, "out"));
    if (text.empty()) continue;
    if (++wrong == 1) first = (spec.ranks > 1 ? "rank " + std::to_string(rank) + ": " : "") + text;
  }
  return wrong > 1 ? first + "; wrong on " + std::to_string(wrong) + " ranks" : first;
}

}  // namespace cudnn_ci
