// The arithmetic of the fake cuDNN, and its faults in memory. Rounding and 16-bit codings are those of the
// plugin's numeric.h, which has a test of its own.
#include <cmath>
#include <cstring>

#include "conv/numeric.h"
#include "fake_cudnn.h"
#include "fake_env.h"

namespace fake_cudnn {
namespace {

using cudnn_ci::DataType;

DataType TypeOf(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_HALF:
      return DataType::kFloat16;
    case CUDNN_DATA_BFLOAT16:
      return DataType::kBfloat16;
    case CUDNN_DATA_DOUBLE:
      return DataType::kFloat64;
    default:
      return DataType::kFloat32;
  }
}

template <class T>
T As(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double Load(cudnnDataType_t type, const unsigned char* at) {
  switch (TypeOf(type)) {
    case DataType::kFloat16:
      return static_cast<double>(cudnn_ci::DecodeFloat16(As<std::uint16_t>(at)));
    case DataType::kBfloat16:
      return static_cast<double>(cudnn_ci::DecodeBfloat16(As<std::uint16_t>(at)));
    case DataType::kFloat64:
      return As<double>(at);
    default:
      return static_cast<double>(As<float>(at));
  }
}

void Store(cudnnDataType_t type, double value, unsigned char* at) {
  const DataType to = TypeOf(type);
  const double rounded = std::isnan(value) ? value : cudnn_ci::RoundTo(to, value);
  if (to == DataType::kFloat64) {
    std::memcpy(at, &rounded, sizeof rounded);
  } else if (to == DataType::kFloat32) {
    const auto narrow = static_cast<float>(rounded);
    std::memcpy(at, &narrow, sizeof narrow);
  } else {
    const std::uint16_t nan = to == DataType::kFloat16 ? 0x7E00 : 0x7FC0;
    const std::uint16_t bits = std::isnan(rounded)        ? nan
                               : to == DataType::kFloat16 ? cudnn_ci::EncodeFloat16(rounded)
                                                          : cudnn_ci::EncodeBfloat16(rounded);
    std::memcpy(at, &bits, sizeof bits);
  }
}

std::int64_t Count(const std::vector<int>& dims) {
  std::int64_t count = 1;
  for (const int d : dims) count *= d;
  return count;
}

// A tensor as n, c and three sizes: 2-D ones have depth 1.
struct Shape5 {
  std::int64_t d[5], stride[5];
};

Shape5 Five(const std::vector<int>& dims, const std::vector<std::int64_t>& strides) {
  Shape5 s{{dims[0], dims[1], 1, dims[dims.size() - 2], dims.back()},
           {strides[0], strides[1], 0, strides[dims.size() - 2], strides.back()}};
  if (dims.size() == 5) s.d[2] = dims[2], s.stride[2] = strides[2];
  return s;
}

Shape5 Five(const cudnnTensorStruct& t) { return Five(t.dims, {t.strides.begin(), t.strides.end()}); }

Shape5 Five(const cudnnFilterStruct& w) {
  std::vector<std::int64_t> strides(w.dims.size());
  const bool last = w.format == CUDNN_TENSOR_NHWC;
  std::int64_t stride = last ? w.dims[1] : 1;
  for (std::size_t a = w.dims.size(); a-- > 2; stride *= w.dims[a]) strides[a] = stride;
  strides[1] = last ? 1 : stride;
  strides[0] = last ? stride : stride * w.dims[1];
  return Five(w.dims, strides);
}

// Depth, height, width of a list of 2 or 3.
std::int64_t Axis(const std::vector<int>& list, int axis, int neutral) {
  const int from = axis - 3 + static_cast<int>(list.size());
  return from < 0 ? neutral : list[static_cast<std::size_t>(from)];
}

// One output element, in the compute type.
double Sum(const Convolution& v, const Shape5& x, const Shape5& w, const std::int64_t at[5]) {
  const std::int64_t group = at[1] / (w.d[0] / v.c->groups);
  const DataType compute = TypeOf(v.c->compute);
  double sum = 0;
  for (std::int64_t ch = 0; ch < w.d[1]; ++ch)
    for (std::int64_t tap = 0; tap < w.d[2] * w.d[3] * w.d[4]; ++tap) {
      const std::int64_t t[3] = {tap / w.d[4] / w.d[3], tap / w.d[4] % w.d[3], tap % w.d[4]};
      std::int64_t from = at[0] * x.stride[0] + (group * w.d[1] + ch) * x.stride[1];
      std::int64_t weight = at[1] * w.stride[0] + ch * w.stride[1];
      bool inside = true;
      for (int a = 0; a < 3; ++a) {
        const std::int64_t i =
            at[a + 2] * Axis(v.c->stride, a, 1) + t[a] * Axis(v.c->dilation, a, 1) - Axis(v.c->pad, a, 0);
        inside = inside && i >= 0 && i < x.d[a + 2];
        from += i * x.stride[a + 2];
        weight += t[a] * w.stride[a + 2];
      }
      if (!inside) continue;
      const auto x_size = static_cast<std::int64_t>(SizeOf(v.x->type));
      const auto w_size = static_cast<std::int64_t>(SizeOf(v.w->type));
      sum += Load(v.x->type, v.px + from * x_size) * Load(v.w->type, v.pw + weight * w_size);
      sum = cudnn_ci::RoundTo(compute, sum);
    }
  return sum;
}

// "first", "middle", "last" or a number, of `count`.
std::int64_t Place(const std::string& name, std::int64_t count) {
  if (name == "first") return 0;
  if (name == "middle") return count / 2;
  if (name == "last") return count - 1;
  return std::stoll(name);
}

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ':')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

// The `distance`th byte before or behind a buffer: "before-x", "behind-workspace".
unsigned char* GuardByte(const Convolution& v, const std::string& where, std::int64_t distance) {
  const std::string name = where.substr(where.find('-') + 1);
  auto* x = const_cast<unsigned char*>(v.px);
  auto* w = const_cast<unsigned char*>(v.pw);
  unsigned char* begin = name == "x" ? x : name == "w" ? w : name == "y" ? v.py : v.workspace;
  const std::size_t bytes = name == "x"   ? v.XBytes()
                            : name == "w" ? v.WBytes()
                            : name == "y" ? v.YBytes()
                                          : v.workspace_bytes;
  return where.compare(0, 7, "before-") == 0 ? begin - distance : begin + bytes + distance - 1;
}

}  // namespace

std::size_t SizeOf(cudnnDataType_t type) { return cudnn_ci::SizeOf(TypeOf(type)); }

std::size_t Convolution::XBytes() const { return static_cast<std::size_t>(Count(x->dims)) * SizeOf(x->type); }
std::size_t Convolution::WBytes() const { return static_cast<std::size_t>(Count(w->dims)) * SizeOf(w->type); }
std::size_t Convolution::YBytes() const { return static_cast<std::size_t>(YCount()) * SizeOf(y->type); }
std::int64_t Convolution::YCount() const { return Count(y->dims); }

unsigned char* Convolution::YAddress(std::int64_t index) const {
  std::int64_t offset = 0;
  for (std::size_t a = y->dims.size(); a-- > 0; index /= y->dims[a])
    offset += index % y->dims[a] * y->strides[a];
  return py + offset * static_cast<std::int64_t>(SizeOf(y->type));
}
double Convolution::Y(std::int64_t index) const { return Load(y->type, YAddress(index)); }
void Convolution::SetY(std::int64_t index, double value) const { Store(y->type, value, YAddress(index)); }

void Convolution::Run() const {
  const Shape5 sx = Five(*x), sw = Five(*w), sy = Five(*y);
  for (std::int64_t i = 0; i < YCount(); ++i) {
    const std::int64_t at[5] = {i / sy.d[4] / sy.d[3] / sy.d[2] / sy.d[1],
                                i / sy.d[4] / sy.d[3] / sy.d[2] % sy.d[1], i / sy.d[4] / sy.d[3] % sy.d[2],
                                i / sy.d[4] % sy.d[3], i % sy.d[4]};
    const double sum = alpha * Sum(*this, sx, sw, at);
    SetY(i, beta == 0 ? sum : sum + beta * Y(i));
  }
}

void Spoil(const Convolution& v, const std::vector<unsigned char>& before) {
  const char* text = getenv("FAKE_CUDNN_FAULT");
  if (!text) return;
  const std::vector<std::string> words = Words(text);
  const std::string& what = words[0];
  const std::string where = words.size() > 1 ? words[1] : "";
  const std::string value = words.size() > 2 ? words[2] : "1";
  const std::size_t element = SizeOf(v.y->type);
  if (what == "element") {
    const std::int64_t i = Place(where, v.YCount());
    v.SetY(i, v.Y(i) + std::stod(value));
  } else if (what == "unwritten") {
    for (std::int64_t i = 0; i < v.YCount(); ++i)
      if (where == "all" || i == Place(where, v.YCount()))
        std::memcpy(v.YAddress(i), before.data() + (v.YAddress(i) - v.py), element);
  } else if (what == "guard") {
    *GuardByte(v, where, std::stoll(value)) ^= 0x3C;
  } else if (what == "input") {
    const bool x = where == "x";
    const std::int64_t byte = Place(value, static_cast<std::int64_t>(x ? v.XBytes() : v.WBytes()));
    const_cast<unsigned char*>(x ? v.px : v.pw)[byte] ^= 1;
  } else if (what == "read") {
    // Adds zero times what lies there, in y's type.
    const std::int64_t back = where.compare(0, 7, "before-") == 0 ? static_cast<std::int64_t>(element) : 1;
    const unsigned char* from = where == "workspace" ? v.workspace : GuardByte(v, where, back);
    v.SetY(0, v.Y(0) + 0 * Load(v.y->type, from));
  }
}

}  // namespace fake_cudnn
