#include "gemm/grouped_candidates.h"

#include <cstring>
#include <memory>

#include "gemm/cublas_types.h"

namespace cudnn_ci {
namespace {

// What cuBLAS takes on Hopper unless it is told (cublasSetWorkspace in its documentation); elsewhere less.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;
constexpr std::size_t kWorkspaceAlignment = 256;

constexpr std::int64_t kDefaultAlgorithm = -1;  // CUBLAS_GEMM_DEFAULT

CublasTypes TypesOf(const GroupedSpec& spec) {
  return {RealTypeOf(spec.type), ScaleTypeOf(spec.type), ComputeTypeOf(spec.type, spec.tf32)};
}

CublasGroups GroupsOf(const GroupedSpec& spec) {
  const auto number = [](std::int64_t value) { return static_cast<int>(value); };
  CublasGroups groups;
  for (const MatmulSpec& group : spec.groups) {
    groups.transpose_a.push_back(group.transpose_a ? 1 : 0);
    groups.transpose_b.push_back(group.transpose_b ? 1 : 0);
    groups.m.push_back(number(group.m));
    groups.n.push_back(number(group.n));
    groups.k.push_back(number(group.k));
    groups.lda.push_back(number(group.A().ld));
    groups.ldb.push_back(number(group.B().ld));
    groups.ldc.push_back(number(group.D().ld));
    groups.products.push_back(number(group.batch));
    groups.alpha.push_back(group.alpha);
    groups.beta.push_back(group.beta);
  }
  return groups;
}

// The matrices of one product.
struct Matrices {
  std::size_t group;
  const unsigned char *a, *b, *c;  // c: before the call; null: no group reads it
  unsigned char* d;
};

class GroupedCandidate : public Candidate {
 public:
  GroupedCandidate(const CublasSession& session, const GroupedSpec& spec)
      : session_(session),
        spec_(spec),
        a_(spec.Starts(&MatmulSpec::A)),
        b_(spec.Starts(&MatmulSpec::B)),
        d_(spec.Starts(&MatmulSpec::D)) {}

  // What the documentation promises of one stream and one kind of GPU.
  bool deterministic() const override { return true; }
  std::int64_t number() const override { return kDefaultAlgorithm; }

 protected:
  std::vector<Matrices> MatricesOf(const VariantPack& pack) const {
    const std::size_t bytes = SizeOf(spec_.type);
    const auto input = [&](std::size_t place, std::int64_t element) {
      return place < pack.inputs.size() ? static_cast<const unsigned char*>(pack.inputs[place]) +
                                              static_cast<std::size_t>(element) * bytes
                                        : nullptr;
    };
    std::vector<Matrices> all;
    for (std::size_t i = 0; i < spec_.groups.size(); ++i) {
      const MatmulSpec& group = spec_.groups[i];
      for (std::int64_t p = 0; p < group.batch; ++p) {
        const std::int64_t d = d_[i] + p * group.D().stride;
        all.push_back({i, input(0, a_[i] + p * group.A().stride), input(1, b_[i] + p * group.B().stride),
                       input(2, d),
                       static_cast<unsigned char*>(pack.outputs[0]) + static_cast<std::size_t>(d) * bytes});
      }
    }
    return all;
  }

  // The call adds to the memory that it writes to, so that C has to be there: the rows of it alone, since
  // nothing else of D may be written.
  void CopyC(const Matrices& product) const {
    const MatmulSpec& group = spec_.groups[product.group];
    if (group.beta == 0 || group.m == 0 || group.n == 0) return;
    const std::size_t bytes = SizeOf(spec_.type);
    CUDA_MEMCPY2D copy;
    std::memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = reinterpret_cast<CUdeviceptr>(product.c);
    copy.dstDevice = reinterpret_cast<CUdeviceptr>(product.d);
    copy.srcPitch = copy.dstPitch = static_cast<std::size_t>(group.D().ld) * bytes;
    copy.WidthInBytes = static_cast<std::size_t>(group.m) * bytes;
    copy.Height = static_cast<std::size_t>(group.n);
    session_.driver().Require(session_.driver().Memcpy2DAsync(&copy, session_.stream()), "cuMemcpy2DAsync");
  }

  const CublasSession& session_;
  const GroupedSpec spec_;

 private:
  const std::vector<std::int64_t> a_, b_, d_;  // where groups begin
};

class OneCall : public GroupedCandidate {
 public:
  using GroupedCandidate::GroupedCandidate;

  std::string Name() const override { return "cublasGemmGroupedBatchedEx"; }
  std::size_t Prepare() override { return AddressBytes() + kWorkspaceBytes; }
  void Run(const VariantPack& pack) override {
    const std::vector<Matrices> products = MatricesOf(pack);
    addresses_.clear();
    for (const Matrices& product : products) addresses_.push_back(product.a);
    for (const Matrices& product : products) addresses_.push_back(product.b);
    for (const Matrices& product : products) addresses_.push_back(product.d);
    for (const Matrices& product : products) CopyC(product);
    auto* const memory = static_cast<unsigned char*>(pack.workspace);
    const DriverApi& driver = session_.driver();
    driver.Require(driver.MemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(memory), addresses_.data(),
                                          addresses_.size() * sizeof addresses_[0], session_.stream()),
                   "cuMemcpyHtoDAsync");
    const std::size_t each = products.size() * sizeof addresses_[0];
    Asked([&] {
      session_.cublas().SetWorkspace(memory + AddressBytes(), pack.workspace_bytes - AddressBytes());
      session_.cublas().MultiplyGrouped(TypesOf(spec_), GroupsOf(spec_),
                                        {memory, memory + each, memory + 2 * each});
    });
  }

 private:
  // The arrays of addresses lie before the library's workspace, behind which there is a guard.
  std::size_t AddressBytes() const {
    const std::size_t bytes = 3 * static_cast<std::size_t>(spec_.Products()) * sizeof(void*);
    return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
  }
  std::vector<const void*> addresses_;
};

class CallForEach : public GroupedCandidate {
 public:
  using GroupedCandidate::GroupedCandidate;

  std::string Name() const override { return "cublasGemmEx for each product"; }
  std::size_t Prepare() override { return kWorkspaceBytes; }
  void Run(const VariantPack& pack) override {
    const CublasGroups groups = GroupsOf(spec_);
    Asked([&] { session_.cublas().SetWorkspace(pack.workspace, pack.workspace_bytes); });
    for (const Matrices& product : MatricesOf(pack)) {
      CopyC(product);
      if (groups.m[product.group] == 0 || groups.n[product.group] == 0) continue;
      Asked([&] {
        session_.cublas().MultiplyOne(TypesOf(spec_), groups, product.group, product.a, product.b, product.d);
      });
    }
  }
};

template <class Kind>
Candidates Only(const CublasSession& session, const GroupedSpec& spec) {
  Candidates candidates;
  candidates.list.push_back(std::make_unique<Kind>(session, spec));
  return candidates;
}

}  // namespace

Candidates GroupedCall(const CublasSession& session, const GroupedSpec& spec) {
  return Only<OneCall>(session, spec);
}

Candidates SingleCalls(const CublasSession& session, const GroupedSpec& spec) {
  return Only<CallForEach>(session, spec);
}

}  // namespace cudnn_ci
