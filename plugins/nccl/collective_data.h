// Exact data for collectives: what each rank sends, and what is right for it to receive. Sums, products and
// averages are of whole numbers that no type rounds, in any order of the ranks, and show which rank is
// missing; copies are random bytes, NaNs among them. Knows neither CUDA nor NCCL's functions.
#ifndef CUDNN_CI_PLUGINS_NCCL_COLLECTIVE_DATA_H_
#define CUDNN_CI_PLUGINS_NCCL_COLLECTIVE_DATA_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compute/operand.h"
#include "compute/reference_data.h"
#include "nccl/collective_spec.h"

namespace cudnn_ci {

// Of one rank: an input, if it sends anything, and an output, of 0 elements if it receives nothing.
Operands OperandsOf(const CollectiveSpec& spec, int rank);

// Why the numbers cannot be exact for so many ranks: "an average of 3 ranks, which rounds". Empty: they can.
std::string InexactBecause(const CollectiveSpec& spec);

// The numbers of a reduction: at each place of the vector one of some patterns, which is a number for each
// rank.
class ReductionPatterns {
 public:
  explicit ReductionPatterns(const CollectiveSpec& spec);
  std::size_t size() const { return sent_.size(); }
  double Sent(std::size_t pattern, int rank) const { return sent_[pattern][static_cast<std::size_t>(rank)]; }
  // Of these weights, a number of times that each rank takes part.
  double Result(std::size_t pattern, const std::vector<int>& weights) const;
  double Result(std::size_t pattern) const { return Result(pattern, std::vector<int>(ranks_, 1)); }

 private:
  void AddSums(const CollectiveSpec& spec);
  void AddNumbers(const CollectiveSpec& spec, bool whole_mean);
  void AddProducts(const CollectiveSpec& spec);
  void AddExtremes(const CollectiveSpec& spec);
  const Reduction reduction_;
  const std::size_t ranks_;
  std::vector<std::vector<double>> sent_;  // by pattern and rank
};

class CollectiveData : public ReferenceData {
 public:
  CollectiveData(const CollectiveSpec& spec, int rank);

  void Encode(std::size_t input, unsigned char* to) const override;
  Judgement Judge(std::size_t output, double bound, const unsigned char* got) const override;
  std::shared_ptr<const void> owner() const override { return owner_; }

  // "(element 7 of the chunk of rank 3)", of an index in the output.
  std::string Place(std::int64_t index) const;
  // What explains all wrong elements of an output, or those of its first chunk that has some: "rank 3 is
  // missing", "it is what rank 1 sent". Empty: nothing that is known.
  std::string Explain(const unsigned char* got) const;

 private:
  // Gives an element by its index.
  using Fill = std::function<void(std::int64_t element, unsigned char* to)>;
  using Fits = std::function<bool(const Fill& fill)>;
  // What a rank sends, and what is right for this one to receive.
  Fill Sends(int rank) const;
  Fill Receives() const;
  // What is right for its output to hold behind the shift.
  struct Held {
    RankLayout layout;
    Fill received, sent;
    void operator()(std::int64_t e, unsigned char* to) const;
  };
  std::vector<unsigned char> Encoded(const std::function<double(std::size_t)>& value) const;
  Fill OfPatterns(std::vector<unsigned char> encoded, std::int64_t begin) const;
  // Whether each received element is right or what `fill` gives.
  bool IsHeld(const Fill& fill, const unsigned char* got, std::int64_t begin, std::int64_t end) const;

  // Where in the vector the part begins that a rank receives of a reduction.
  std::int64_t ReducedBegin(int rank) const;
  std::string ExplainTaken(int rank, std::int64_t chunk, const Fits& fits) const;
  std::string ExplainSent(int rank, std::int64_t chunk, const Fits& fits) const;

  const CollectiveSpec spec_;
  const int rank_;
  const RankLayout layout_;
  const std::unique_ptr<const ReductionPatterns> patterns_;  // null: of copies
  const std::shared_ptr<const void> owner_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_COLLECTIVE_DATA_H_
