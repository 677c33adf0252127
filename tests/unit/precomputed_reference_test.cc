// Reference data that are made before they are asked for.
#include "compute/precomputed_reference.h"

#include <gmock/gmock.h>

#include <atomic>
#include <new>

#include "attention/data.h"

namespace cudnn_ci {
namespace {

// Counts how often it makes its data.
class CountingSource : public ReferenceSource {
 public:
  explicit CountingSource(double bytes) : bytes_(bytes) {}
  std::shared_ptr<const ReferenceData> Get() const override { return ++made_, nullptr; }
  double MakingBytes() const override { return bytes_; }
  double Growth() const override { return bytes_; }
  void ForgetOthers() const override {}
  int made() const { return made_; }

 private:
  const double bytes_;
  mutable std::atomic<int> made_ = 0;
};

TEST(PrecomputedReferenceTest, AreMadeWhereTheHostHasRoom) {
  const auto made = [](double bytes, double room) {
    const auto source = std::make_shared<CountingSource>(bytes);
    { const PrecomputedReference ahead(MakingOf(source, room)); }
    return source->made();
  };
  EXPECT_EQ(made(1000, 1000), 1);
  EXPECT_EQ(made(1000, 999), 0);
  EXPECT_EQ(made(0x1p28, 1e12), 1);
  EXPECT_EQ(made(0x1p28 + 1, 1e12), 0) << "beyond what is made without being asked for";
}

TEST(PrecomputedReferenceTest, WhatFailsAheadEndsNothing) {
  {
    const PrecomputedReference ahead([] { throw std::bad_alloc(); });
  }
  { const PrecomputedReference none(nullptr); }
}

TEST(PrecomputedReferenceTest, WhatWasMadeAheadIsWhatIsAskedFor) {
  AttentionProblemSpec spec;
  spec.shape = {1, 2, 2, 64, 64, 64, 64, AttentionMask::kNone, 0, {}, {}};
  const std::shared_ptr<const ReferenceSource> source = AttentionReference(spec);
  EXPECT_GT(source->Growth(), 0);
  { const PrecomputedReference ahead(MakingOf(source, 1e12)); }
  EXPECT_EQ(source->Growth(), 0) << "they are there";
  EXPECT_EQ(source->Get(), source->Get());
}

}  // namespace
}  // namespace cudnn_ci
