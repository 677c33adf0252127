// The arithmetic of the fake cuDNN, and its faults in memory. Rounding and codings are those of the plugins'
// data_type.h, which has a test of its own.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "common/numeric/data_type.h"
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
    case CUDNN_DATA_INT32:
      return DataType::kInt32;
    case CUDNN_DATA_INT8:
      return DataType::kInt8;
    case CUDNN_DATA_FP8_E4M3:
      return DataType::kFloat8E4m3;
    case CUDNN_DATA_FP8_E5M2:
      return DataType::kFloat8E5m2;
    default:
      return DataType::kFloat32;
  }
}

// A tensor as n, c and three sizes: 2-D ones have depth 1.
struct Shape5 {
  std::int64_t d[5], stride[5];
};

Shape5 Five(const View& v) {
  const std::size_t rank = v.dims.size();
  Shape5 s{{v.dims[0], v.dims[1], 1, v.dims[rank - 2], v.dims[rank - 1]},
           {v.strides[0], v.strides[1], 0, v.strides[rank - 2], v.strides[rank - 1]}};
  if (rank == 5) s.d[2] = v.dims[2], s.stride[2] = v.strides[2];
  return s;
}

// Depth, height, width of a list of 2 or 3.
std::int64_t Axis(const std::vector<int>& list, int axis, int neutral) {
  const int from = axis - 3 + static_cast<int>(list.size());
  return from < 0 ? neutral : list[static_cast<std::size_t>(from)];
}

double At(const View& v, const Shape5& s, const std::int64_t at[5]) {
  std::int64_t offset = 0;
  for (int i = 0; i < 5; ++i) offset += at[i] * s.stride[i];
  return cudnn_ci::Load(TypeOf(v.type), v.data + offset * static_cast<std::int64_t>(SizeOf(v.type)));
}

// TF32 has float32's exponents and 11 bits.
double RoundToTf32(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int spacing = std::ilogb(value) - 10;
  return std::ldexp(std::nearbyint(std::ldexp(value, -spacing)), spacing);
}

// Whether the convolution that runs is one that the fault strikes.
thread_local bool struck = true;

const char* Fault() {
  const char* text = struck ? getenv("FAKE_CUDNN_FAULT") : nullptr;
  return text ? text : "";
}

bool FaultBegins(const char* with) { return strncmp(Fault(), with, strlen(with)) == 0; }

// What sums are rounded to: the compute type, or a fault's.
DataType SumType(const Convolution& v) {
  return FaultBegins("sums:") ? cudnn_ci::DataTypeFrom(Fault() + 5) : TypeOf(v.compute);
}

// The coordinate of x that meets output `out` and tap `t`.
std::int64_t Meet(const Convolution& v, int axis, std::int64_t out, std::int64_t t) {
  return out * Axis(v.stride, axis, 1) + t * Axis(v.dilation, axis, 1) - Axis(v.pad, axis, 0);
}

// The coordinate of y that meets element `in` of x and tap `t`; -1 if none does.
std::int64_t MeetBack(const Convolution& v, int axis, std::int64_t in, std::int64_t t) {
  const std::int64_t from = in + Axis(v.pad, axis, 0) - t * Axis(v.dilation, axis, 1);
  return from < 0 || from % Axis(v.stride, axis, 1) != 0 ? -1 : from / Axis(v.stride, axis, 1);
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

const View& Named(const Convolution& v, char name) {
  return name == 'x' ? v.x : name == 'w' ? v.w : name == 'b' ? v.bias : v.y;
}

// The `distance`th byte before or behind a buffer: "before-x", "behind-workspace".
unsigned char* GuardByte(const Convolution& v, const std::string& where, std::int64_t distance) {
  const std::string name = where.substr(where.find('-') + 1);
  const bool workspace = name == "workspace";
  unsigned char* begin = workspace ? v.workspace : Named(v, name[0]).data;
  const std::size_t bytes = workspace ? v.workspace_bytes : Named(v, name[0]).Bytes();
  return where.compare(0, 7, "before-") == 0 ? begin - distance : begin + bytes + distance - 1;
}

// Element `index` without the first of its products that is not 0.
void Lose(const Convolution& v, std::int64_t index) {
  double sum = 0, lost = 0;
  v.ForProducts(index, [&](double product) {
    if (lost == 0) lost = product;
    sum += product;
  });
  v.Out().Set(index, v.Finish(index, sum - lost));
}

// The first two channels of the first image, or the first two images.
void Swap(const View& out, const std::string& what) {
  const std::int64_t image = out.Count() / out.dims[0];
  const std::int64_t length = what == "images" ? image : image / out.dims[1];
  for (std::int64_t i = 0; i < length; ++i) {
    const double first = out.Get(i);
    out.Set(i, out.Get(length + i));
    out.Set(length + i, first);
  }
}

void SpoilElements(const Convolution& v, const std::vector<std::string>& words,
                   const std::vector<unsigned char>& before) {
  const View& out = v.Out();
  const std::string& what = words[0];
  const std::string where = words.size() > 1 ? words[1] : "";
  const std::string value = words.size() > 2 ? words[2] : "1";
  if (what == "swap") return Swap(out, where);
  if (what == "unwritten") {
    for (std::int64_t i = 0; i < out.Count(); ++i)
      if (where == "all" || i == Place(where, out.Count()))
        std::memcpy(out.Address(i), before.data() + (out.Address(i) - out.data), SizeOf(out.type));
    return;
  }
  const std::int64_t i = Place(where, out.Count());
  if (what == "element" || what == "fractions") out.Set(i, out.Get(i) + std::stod(value));
  if (what == "lost") Lose(v, i);
  if (what == "flip") {
    const int bit = std::stoi(value);
    out.Address(i)[bit / 8] ^= static_cast<unsigned char>(1 << bit % 8);
  }
}

// How often in a row the same was asked on the same data before this.
unsigned Repetitions(const Convolution& v) {
  static std::string last;
  static unsigned times = 0;
  std::string asked;
  for (const View* tensor : {&v.x, &v.w, &v.y})
    if (tensor != &v.Out()) asked.append(reinterpret_cast<const char*>(tensor->data), tensor->Bytes());
  times = asked == last ? times + 1 : 0;
  last = asked;
  return times;
}

void Spoil(const Convolution& v, const std::vector<unsigned char>& before) {
  const std::vector<std::string> words = Words(Fault());
  const std::string& what = words[0];
  const std::string where = words.size() > 1 ? words[1] : "";
  const std::string value = words.size() > 2 ? words[2] : "1";
  if (what == "varies") {
    v.Out().Address(Place(where, v.Out().Count()))[0] ^= static_cast<unsigned char>(Repetitions(v));
  } else if (what == "unsteady") {
    SpoilElements(v, {"unwritten", "first"}, before);
    v.Out().Address(v.Out().Count() - 1)[0] ^= 1;
  } else if (what == "guard") {
    *GuardByte(v, where, std::stoll(value)) ^= 0x3C;
  } else if (what == "input") {
    const View& input = Named(v, where[0]);
    input.data[Place(value, static_cast<std::int64_t>(input.Bytes()))] ^= 1;
  } else if (what == "read") {
    // Adds zero times what lies there, in the result's type.
    const View& out = v.Out();
    const auto element = static_cast<std::int64_t>(SizeOf(out.type));
    const std::int64_t back = where.compare(0, 7, "before-") == 0 ? element : 1;
    const unsigned char* from = where == "workspace" ? v.workspace : GuardByte(v, where, back);
    out.Set(0, out.Get(0) + 0 * cudnn_ci::Load(TypeOf(out.type), from));
  } else if (what == "fractions") {
    const View& input = v.operation == Operation::kForward ? v.x : v.y;
    if (input.Get(0) != std::floor(input.Get(0))) SpoilElements(v, words, before);
  } else if (what == "element" || what == "unwritten" || what == "swap" || what == "lost" || what == "flip") {
    SpoilElements(v, words, before);
  }
}

}  // namespace

std::size_t SizeOf(cudnnDataType_t type) { return cudnn_ci::SizeOf(TypeOf(type)); }

std::int64_t View::Count() const {
  std::int64_t count = 1;
  for (const int d : dims) count *= d;
  return count;
}

std::size_t View::Bytes() const { return static_cast<std::size_t>(Count()) * SizeOf(type); }

unsigned char* View::Address(std::int64_t index) const {
  std::int64_t offset = 0;
  for (std::size_t a = dims.size(); a-- > 0; index /= dims[a]) offset += index % dims[a] * strides[a];
  return data + offset * static_cast<std::int64_t>(SizeOf(type));
}

double View::Get(std::int64_t index) const { return cudnn_ci::Load(TypeOf(type), Address(index)); }
void View::Set(std::int64_t index, double value) const {
  cudnn_ci::Store(TypeOf(type), value, Address(index));
}

const View& Convolution::Out() const {
  return operation == Operation::kForward ? y : operation == Operation::kBackwardData ? x : w;
}

void Convolution::ForProducts(std::int64_t index, const std::function<void(double)>& visit) const {
  const Shape5 sx = Five(x), sw = Five(w), sy = Five(y), so = Five(Out());
  std::int64_t at[5];
  for (int a = 4; a >= 0; index /= so.d[a--]) at[a] = index % so.d[a];
  const std::int64_t filters = sw.d[0] / groups;  // of one group
  const bool forward = operation == Operation::kForward, data = operation == Operation::kBackwardData;
  const std::int64_t outer = forward ? sw.d[1] : data ? filters : sx.d[0];
  const Shape5& inner = operation == Operation::kBackwardFilter ? sy : sw;
  const bool rounded = FaultBegins("inputs:tf32") || (tf32 && x.type == CUDNN_DATA_FLOAT);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner.d[2] * inner.d[3] * inner.d[4]; ++i) {
      const std::int64_t t[3] = {i / inner.d[4] / inner.d[3], i / inner.d[4] % inner.d[3], i % inner.d[4]};
      const std::int64_t group = data ? at[1] / sw.d[1] : (forward ? at[1] : at[0]) / filters;
      std::int64_t in_x[5] = {forward ? at[0] : o, group * sw.d[1] + (forward ? o : at[1])};
      std::int64_t in_w[5] = {forward ? at[1] : group * filters + o, forward ? o : at[1] % sw.d[1]};
      std::int64_t in_y[5] = {data ? at[0] : o, data ? group * filters + o : at[0]};
      bool inside = true;
      for (int a = 0; a < 3; ++a) {
        in_w[a + 2] = t[a];
        in_y[a + 2] = data ? MeetBack(*this, a, at[a + 2], t[a]) : t[a];
        in_x[a + 2] = forward ? Meet(*this, a, at[a + 2], t[a]) : Meet(*this, a, t[a], at[a + 2]);
        const std::int64_t met = data ? in_y[a + 2] : in_x[a + 2];
        inside = inside && met >= 0 && met < (data ? sy : sx).d[a + 2];
      }
      if (!inside) continue;
      double one = forward || !data ? At(x, sx, in_x) : At(y, sy, in_y);
      double other = forward || data ? At(w, sw, in_w) : At(y, sy, in_y);
      if (rounded) one = RoundToTf32(one), other = RoundToTf32(other);
      visit(one * other);
    }
}

bool Convolution::CanBe(const std::vector<int>& pad_after) const {
  for (const View* v : {&x, &w, &y})
    if (!Countable(v->dims)) return false;
  if (x.dims[1] != w.dims[1] * groups || w.dims[0] % groups != 0) return false;
  if (y.dims[0] != x.dims[0] || y.dims[1] != w.dims[0]) return false;
  for (std::size_t a = 0; a + 2 < x.dims.size(); ++a) {
    const int padded = x.dims[a + 2] + pad[a] + pad_after[a], reach = (w.dims[a + 2] - 1) * dilation[a] + 1;
    if (reach > padded || y.dims[a + 2] != (padded - reach) / stride[a] + 1) return false;
  }
  return true;
}

bool Takes() { return getenv("FAKE_CUDNN_TAKES") != nullptr; }

cudnnStatus_t Take() {
  if (FakeIs("FAKE_CUDNN_TAKES", "abort")) abort();
  while (FakeIs("FAKE_CUDNN_TAKES", "hang")) sleep(1);
  return CUDNN_STATUS_SUCCESS;
}

bool Countable(const std::vector<int>& dims) {
  double count = 1;
  for (const int d : dims) {
    if (d < 1) return false;
    count *= d;
  }
  return count < 2147483648.0;
}

void Convolution::Run() const {
  const DataType sum_type = SumType(*this);
  for (std::int64_t i = 0; i < Out().Count(); ++i) {
    double sum = 0;
    ForProducts(i, [&](double product) { sum = cudnn_ci::RoundTo(sum_type, sum + product); });
    Out().Set(i, Finish(i, beta == 0 ? alpha * sum : alpha * sum + beta * Out().Get(i)));
  }
}

double Convolution::Finish(std::int64_t index, double sum) const {
  double value = cudnn_ci::RoundTo(TypeOf(sums), sum);
  if (FaultBegins("relu:first")) value = std::max(value, 0.0);
  if (bias.data && !FaultBegins("bias:lost")) {
    const std::int64_t channels = y.dims[1], pixels = y.Count() / y.dims[0] / channels;
    const std::int64_t channel = index / pixels + (FaultBegins("bias:next") ? 1 : 0);
    const double added = bias.Get(channel % channels);
    value = cudnn_ci::RoundTo(TypeOf(biased), value + (FaultBegins("bias:twice") ? 2 * added : added));
  }
  if (relu && !FaultBegins("relu:")) value = std::max(value, 0.0);
  return FaultBegins("saturated") ? std::clamp(value, -128.0, 127.0) : value;
}

// A library errs in one algorithm, here the first one of a process, a GPU in all of them; by
// FAKE_CUDNN_FAULT_EVERYWHERE in all, by FAKE_CUDNN_FAULT_FROM from that run of it in a process on (1), by
// FAKE_CUDNN_FAULT_RUNS in the first so many runs, and by
// FAKE_CUDNN_FAULT_GPU only on the GPU whose UUID ends so.
bool Strikes(int algorithm) {
  static const int kFirst = algorithm;
  static int runs = 0;
  if (!getenv("FAKE_CUDNN_FAULT_EVERYWHERE") && algorithm != kFirst) return false;
  const char* gpu = getenv("FAKE_CUDNN_FAULT_GPU");
  const char* visible = getenv("CUDA_VISIBLE_DEVICES");
  const std::string uuid = visible ? visible : "";
  if (gpu && (uuid.size() < strlen(gpu) || uuid.compare(uuid.size() - strlen(gpu), strlen(gpu), gpu) != 0))
    return false;
  ++runs;
  return runs >= FakeNumber("FAKE_CUDNN_FAULT_FROM", 1) &&
         runs <= FakeNumber("FAKE_CUDNN_FAULT_RUNS", 1 << 30);
}

void RunAndSpoil(const Convolution& v, bool spoil) {
  struck = spoil;
  const std::vector<unsigned char> before(v.Out().data, v.Out().data + v.Out().Bytes());
  v.Run();
  Spoil(v, before);
  if (v.workspace_bytes > 0) memset(v.workspace, 0, v.workspace_bytes);
}

bool Refused(int number) {
  const char* list = getenv("FAKE_CUDNN_REFUSES");
  std::istringstream numbers(list ? list : "");
  for (std::string item; std::getline(numbers, item, ',');)
    if (item == std::to_string(number)) return true;
  return false;
}

std::size_t WorkspaceBytes() { return static_cast<std::size_t>(FakeNumber("FAKE_CUDNN_WORKSPACE", 100)); }

std::string Apart(const Convolution& v) {
  return "[" + std::to_string(v.w.data - v.x.data) + "," + std::to_string(v.y.data - v.w.data) + "]";
}

std::string List(const std::vector<int>& values) {
  std::string text;
  for (const int v : values) text += (text.empty() ? "" : ",") + std::to_string(v);
  return "[" + text + "]";
}

}  // namespace fake_cudnn
