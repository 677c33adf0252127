// The binding of cuBLAS.
#include "gemm/cublas_api.h"

#include "gemm/cublas_types.h"

namespace cudnn_ci {
namespace {

const Sonames kSonames = {{13, "libcublas.so.13"}, {12, "libcublas.so.12"}, {11, "libcublas.so.11"}};

constexpr int kDefaultAlgorithm = -1;  // CUBLAS_GEMM_DEFAULT

// Factors in the type in which a call takes them.
class Factors {
 public:
  Factors(int scale, const std::vector<double>& factors)
      : is_double_(scale == kReal64F), doubles_(factors), floats_(factors.begin(), factors.end()) {}
  const void* At(std::size_t place) const {
    return is_double_ ? static_cast<const void*>(&doubles_[place]) : &floats_[place];
  }

 private:
  const bool is_double_;
  const std::vector<double> doubles_;
  const std::vector<float> floats_;
};

}  // namespace

std::string CublasApi::Names() { return JoinedSonames(kSonames); }

bool CublasApi::Load(const Promise& promise, const std::vector<std::string>& subject_folders) {
  load_ = LoadPromised(kSonames, promise, subject_folders, &library_);
  if (library_.loaded()) Bind();
  return library_.loaded();
}

void CublasApi::Bind() {
  property_.Bind(library_, "cublasGetProperty");
  status_name_.Bind(library_, "cublasGetStatusName");
  create_.Bind(library_, "cublasCreate_v2");
  set_stream_.Bind(library_, "cublasSetStream_v2");
  set_workspace_.Bind(library_, "cublasSetWorkspace_v2");
  grouped_.Bind(library_, "cublasGemmGroupedBatchedEx");
  one_.Bind(library_, "cublasGemmEx");
}

// libraryPropertyType: major, minor and patch are 0, 1 and 2.
std::string CublasApi::Version() const {
  std::string version;
  for (int part = 0; part < 3; ++part) {
    int number = 0;
    Require(property_(part, &number), "cublasGetProperty");
    version += (part > 0 ? "." : "") + std::to_string(number);
  }
  return version;
}

void CublasApi::Require(int status, const char* call) const {
  if (status == 0) return;
  const char* name = status_name_ ? status_name_(status) : nullptr;
  throw CublasError(
      status, std::string(call) + ": " + std::to_string(status) + (name ? std::string(" ") + name : ""));
}

void CublasApi::Create() {
  if (!handle_) Require(create_(&handle_), "cublasCreate");
}

void CublasApi::SetStream(void* stream) { Require(set_stream_(handle_, stream), "cublasSetStream"); }

void CublasApi::SetWorkspace(void* memory, std::size_t bytes) const {
  Require(set_workspace_(handle_, memory, bytes), "cublasSetWorkspace");
}

void CublasApi::MultiplyGrouped(const CublasTypes& types, const CublasGroups& groups,
                                const CublasPointers& pointers) const {
  const Factors alpha(types.scale, groups.alpha), beta(types.scale, groups.beta);
  Require(
      grouped_(handle_, groups.transpose_a.data(), groups.transpose_b.data(), groups.m.data(),
               groups.n.data(), groups.k.data(), alpha.At(0), pointers.a, types.matrix, groups.lda.data(),
               pointers.b, types.matrix, groups.ldb.data(), beta.At(0), pointers.c, types.matrix,
               groups.ldc.data(), static_cast<int>(groups.m.size()), groups.products.data(), types.compute),
      "cublasGemmGroupedBatchedEx");
}

void CublasApi::MultiplyOne(const CublasTypes& types, const CublasGroups& groups, std::size_t group,
                            const void* a, const void* b, void* c) const {
  const Factors alpha(types.scale, groups.alpha), beta(types.scale, groups.beta);
  Require(one_(handle_, groups.transpose_a[group], groups.transpose_b[group], groups.m[group],
               groups.n[group], groups.k[group], alpha.At(group), a, types.matrix, groups.lda[group], b,
               types.matrix, groups.ldb[group], beta.At(group), c, types.matrix, groups.ldc[group],
               types.compute, kDefaultAlgorithm),
          "cublasGemmEx");
}

}  // namespace cudnn_ci
