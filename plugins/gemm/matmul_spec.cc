#include "gemm/matmul_spec.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "common/numeric/data_type.h"

namespace cudnn_ci {

bool MatmulSpec::SetSize(const std::string& text, std::int64_t least) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::int64_t* size : {&m, &n, &k}) {
    if (size != &m && (at == end || *at++ != 'x')) return false;
    const auto [next, error] = std::from_chars(at, end, *size);
    if (error != std::errc() || *size < least || *size > INT32_MAX) return false;
    at = next;
  }
  return at == end;
}

DataType MatmulSpec::OutputType() const {
  if (type == DataType::kInt8 && scales == MatmulScales::kNone) return DataType::kInt32;
  return SizeOf(type) == 1 ? DataType::kBfloat16 : type;
}

MatmulPlace MatmulSpec::PlaceOf(const MatmulLayout& layout, std::int64_t index) {
  const std::int64_t within = index % layout.stride;
  const MatmulPlace place = {index / layout.stride, within % layout.ld, within / layout.ld};
  return {place.batch, place.row, place.column, place.row >= layout.rows || place.column >= layout.columns};
}

double MatmulSpec::MostElements() const {
  double most = 0;
  for (const MatmulLayout& layout : {A(), B(), D()})
    most = std::max(most, static_cast<double>(batch) * static_cast<double>(layout.ld) *
                              (static_cast<double>(layout.columns) + (padding > 0 ? 1 : 0)));
  return most;
}

double MatmulSpec::Flops() const {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
         static_cast<double>(batch);
}

std::string MatmulSpec::EpilogueText() const {
  std::string activation = relu ? "relu" : gelu ? "gelu" : "";
  if (!bias) return activation;
  return activation.empty() ? "bias" : "bias_" + activation;
}

std::string MatmulSpec::TypeText() const { return NameOf(type); }

std::string MatmulSpec::Text() const {
  std::ostringstream os;
  os << TypeText() << (tf32 ? " by TF32 " : " ") << (transpose_a ? 't' : 'n') << (transpose_b ? 't' : 'n')
     << ' ' << m << 'x' << n << 'x' << k;
  if (padding > 0) os << ", padding " << padding;
  if (batch > 1) os << ", batch " << batch;
  if (alpha != 1) os << ", alpha " << alpha;
  if (beta != 0) os << ", beta " << beta;
  if (const std::string epilogue = EpilogueText(); !epilogue.empty()) os << ", " << epilogue;
  if (scales != MatmulScales::kNone) os << (scales == MatmulScales::kRow ? ", row" : ", tensor") << " scales";
  return os.str();
}

}  // namespace cudnn_ci
