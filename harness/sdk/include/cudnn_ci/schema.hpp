// What a check declares: its summary, its place, and its parameters; each is schema and decoder at
// once, so that the two cannot drift apart. Part of check.hpp, which is what authors include.
#ifndef CUDNN_CI_SCHEMA_HPP_
#define CUDNN_CI_SCHEMA_HPP_

#include <cudnn_ci/plugin.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <limits>
#include <locale>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudnn_ci {

namespace detail {

// Owns one cci_param and its strings. Addresses stay valid: kept behind unique_ptr.
struct ParamStorage {
  std::string name, summary, default_json;
  std::vector<std::string> allowed;
  std::vector<const char*> allowed_table;
  std::deque<std::unique_ptr<ParamStorage>> fields;
  std::vector<const cci_param*> field_table;
  cci_param param{};

  const cci_param* Seal() {
    param.struct_size = sizeof(cci_param);
    param.name = name.c_str();
    param.summary = summary.empty() ? nullptr : summary.c_str();
    param.default_json = default_json.empty() ? nullptr : default_json.c_str();
    for (const auto& v : allowed) allowed_table.push_back(v.c_str());
    allowed_table.push_back(nullptr);
    param.allowed = allowed.empty() ? nullptr : allowed_table.data();
    for (auto& f : fields) field_table.push_back(f->Seal());
    field_table.push_back(nullptr);
    param.fields = fields.empty() ? nullptr : field_table.data();
    return &param;
  }
};

inline std::string JsonText(bool v) { return v ? "true" : "false"; }
inline std::string JsonText(const std::string& v) {
  std::string out = "\"";
  for (char ch : v) {
    if (ch == '"' || ch == '\\') out += '\\';
    out += ch;
  }
  return out + "\"";
}
inline std::string JsonText(const char* v) { return JsonText(std::string(v)); }
template <class T, std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, int> = 0>
std::string JsonText(T v) {
  std::ostringstream os;
  os.imbue(std::locale::classic());
  os.precision(std::numeric_limits<double>::max_digits10);
  os << v;
  return os.str();
}
template <class T>
std::string JsonText(const std::vector<T>& v) {
  std::string out = "[";
  for (const auto& e : v) out += (out.size() > 1 ? "," : "") + JsonText(e);
  return out + "]";
}

template <class T>
inline constexpr bool kIsParameterType = false;
template <class T>
struct TypeOf {
  static_assert(kIsParameterType<T>,
                "a parameter is a bool, std::int64_t, double, std::string, std::vector<std::int64_t> or "
                "std::vector<std::string>");
  static constexpr cci_type value = CCI_TYPE_STRING;
};
template <>
struct TypeOf<bool> {
  static constexpr cci_type value = CCI_TYPE_BOOL;
};
template <>
struct TypeOf<std::int64_t> {
  static constexpr cci_type value = CCI_TYPE_I64;
};
template <>
struct TypeOf<double> {
  static constexpr cci_type value = CCI_TYPE_F64;
};
template <>
struct TypeOf<std::string> {
  static constexpr cci_type value = CCI_TYPE_STRING;
};
template <>
struct TypeOf<std::vector<std::int64_t>> {
  static constexpr cci_type value = CCI_TYPE_I64_LIST;
};
template <>
struct TypeOf<std::vector<std::string>> {
  static constexpr cci_type value = CCI_TYPE_STRING_LIST;
};

inline void Require(int result, const std::string& name) {
  if (result != CCI_OK)
    throw std::logic_error("parameter '" + name + "': host error " + std::to_string(result));
}
// Of any other type: TypeOf has said so already, in one sentence.
template <class T>
void Get(const cci_host*, cci_case*, const std::string&, T&) {}
inline void Get(const cci_host* h, cci_case* c, const std::string& n, bool& out) {
  int v = 0;
  Require(h->get_bool(c, n.c_str(), &v), n);
  out = v != 0;
}
inline void Get(const cci_host* h, cci_case* c, const std::string& n, std::int64_t& out) {
  Require(h->get_i64(c, n.c_str(), &out), n);
}
inline void Get(const cci_host* h, cci_case* c, const std::string& n, double& out) {
  Require(h->get_f64(c, n.c_str(), &out), n);
}
inline void Get(const cci_host* h, cci_case* c, const std::string& n, std::string& out) {
  const char* v = nullptr;
  Require(h->get_string(c, n.c_str(), &v), n);
  out = v;
}
inline void Get(const cci_host* h, cci_case* c, const std::string& n, std::vector<std::int64_t>& out) {
  const std::int64_t* v = nullptr;
  size_t count = 0;
  Require(h->get_i64_list(c, n.c_str(), &v, &count), n);
  out.assign(v, v + count);
}
inline void Get(const cci_host* h, cci_case* c, const std::string& n, std::vector<std::string>& out) {
  const char* const* v = nullptr;
  size_t count = 0;
  Require(h->get_string_list(c, n.c_str(), &v, &count), n);
  out.assign(v, v + count);
}

}  // namespace detail

// The declaration of one parameter. Methods return *this.
template <class T>
class ParamBuilder {
 public:
  explicit ParamBuilder(detail::ParamStorage* s) : s_(s) {}
  // One line: what the parameter means.
  ParamBuilder& Summary(std::string text) {
    s_->summary = std::move(text);
    return *this;
  }
  // Without one the matrix must give a value.
  ParamBuilder& Default(const T& value) {
    s_->default_json = detail::JsonText(value);
    return *this;
  }
  // All values of a string, or of each element of a list of strings.
  ParamBuilder& OneOf(std::initializer_list<const char*> values) {
    s_->allowed.assign(values.begin(), values.end());
    return *this;
  }
  // Bounds of an integer or of each element, both inclusive.
  ParamBuilder& Range(std::int64_t lo, std::int64_t hi) {
    s_->param.min_i64 = lo;
    s_->param.max_i64 = hi;
    return *this;
  }

 private:
  detail::ParamStorage* s_;
};

// A check's description, and the decoder of its parameters.
template <class P>
class Schema {
 public:
  // One line: what holds when the check passes.
  Schema& Summary(std::string text) {
    summary_ = std::move(text);
    return *this;
  }
  // Which part of the stack it tests; without one CCI_LAYER_OTHER.
  Schema& Layer(cci_layer layer) {
    check_.layer = layer;
    return *this;
  }
  // What a case sees of the GPUs; without one none.
  Schema& Devices(cci_devices devices) {
    check_.devices = devices;
    return *this;
  }
  // Of one case; without one the matrix's default.
  Schema& TimeoutSeconds(double s) {
    check_.timeout_s = s;
    return *this;
  }
  // The full name of a check that must pass first: "driver.canary".
  Schema& Requires(std::string check) {
    prerequisites_.push_back(std::move(check));
    return *this;
  }
  // A promise of the contract for which the check is red when it is not kept: "image.cudnn".
  Schema& Judges(std::string key) {
    judges_.push_back(std::move(key));
    return *this;
  }
  // Flags, each explained at its enumerator in plugin.h: CCI_CHECK_SHAREABLE and so on.
  Schema& Shareable() {
    check_.flags |= CCI_CHECK_SHAREABLE;
    return *this;
  }
  Schema& PerSubject() {
    check_.flags |= CCI_CHECK_PER_SUBJECT;
    return *this;
  }
  Schema& Pooled() {
    check_.flags |= CCI_CHECK_POOLED;
    return *this;
  }
  Schema& SecondOpinion() {
    check_.flags |= CCI_CHECK_SECOND_OPINION;
    return *this;
  }
  // In several processes of one device at a time: shared ones, or one for each case (CCI_CHECK_CONCURRENT).
  Schema& Concurrent() {
    check_.flags |= CCI_CHECK_CONCURRENT;
    return *this;
  }
  // Each takes a tenth of a second or more (CCI_CHECK_SLOW_CASES).
  Schema& SlowCases() {
    check_.flags |= CCI_CHECK_SLOW_CASES;
    return *this;
  }
  Schema& Disturbs() {
    check_.flags |= CCI_CHECK_DISTURBS;
    return *this;
  }

  // A parameter and the member that it is read into: a bool, std::int64_t, double, std::string or a list of
  // the last or of integers.
  template <class T>
  ParamBuilder<T> Param(std::string name, T P::*member) {
    auto* s = Add(&params_, name, detail::TypeOf<T>::value);
    decoders_.push_back(
        [name, member](const cci_host* h, cci_case* c, P& p) { detail::Get(h, c, name, p.*member); });
    return ParamBuilder<T>(s);
  }

  // A parameter whose values are names in the matrix's "shapes".
  class ShapeBuilder {
   public:
    ShapeBuilder(Schema* schema, detail::ParamStorage* s) : schema_(schema), s_(s) {}
    // One field of the shape, and the member that it is read into.
    template <class T>
    ParamBuilder<T> Field(std::string name, T P::*member) {
      auto* f = schema_->Add(&s_->fields, name, detail::TypeOf<T>::value);
      schema_->decoders_.push_back(
          [full = s_->name + "." + name, member](const cci_host* h, cci_case* c, P& p) {
            detail::Get(h, c, full, p.*member);
          });
      return ParamBuilder<T>(f);
    }

   private:
    Schema* schema_;
    detail::ParamStorage* s_;
  };
  ShapeBuilder Shape(std::string name, std::string P::*member) {
    auto* s = Add(&params_, name, CCI_TYPE_SHAPE);
    decoders_.push_back(
        [name, member](const cci_host* h, cci_case* c, P& p) { detail::Get(h, c, name, p.*member); });
    return ShapeBuilder(this, s);
  }

  // `validate` and `prepare` may be null.
  const cci_check* Seal(std::string name, void (*run)(const cci_host*, cci_case*),
                        void (*validate)(const cci_host*, cci_case*),
                        void (*prepare)(const cci_host*, cci_case*)) {
    name_ = std::move(name);
    for (auto& p : params_) param_table_.push_back(p->Seal());
    param_table_.push_back(nullptr);
    for (auto& r : prerequisites_) prerequisite_table_.push_back(r.c_str());
    prerequisite_table_.push_back(nullptr);
    for (auto& key : judges_) judges_table_.push_back(key.c_str());
    judges_table_.push_back(nullptr);
    check_.struct_size = sizeof(cci_check);
    check_.name = name_.c_str();
    check_.summary = summary_.c_str();
    check_.params = param_table_.data();
    check_.prerequisites = prerequisite_table_.data();
    check_.run = run;
    check_.validate = validate;
    check_.judges = judges_table_.data();
    check_.prepare = prepare;
    return &check_;
  }
  P Decode(const cci_host* h, cci_case* c) const {
    P p{};
    for (const auto& d : decoders_) d(h, c, p);
    return p;
  }

 private:
  detail::ParamStorage* Add(std::deque<std::unique_ptr<detail::ParamStorage>>* to, std::string name,
                            cci_type type) {
    to->push_back(std::make_unique<detail::ParamStorage>());
    auto* s = to->back().get();
    s->name = std::move(name);
    s->param.type = type;
    s->param.min_i64 = std::numeric_limits<std::int64_t>::min();
    s->param.max_i64 = std::numeric_limits<std::int64_t>::max();
    return s;
  }
  std::string name_, summary_;
  std::vector<std::string> prerequisites_, judges_;
  std::deque<std::unique_ptr<detail::ParamStorage>> params_;
  std::vector<const cci_param*> param_table_;
  std::vector<const char*> prerequisite_table_, judges_table_;
  std::vector<std::function<void(const cci_host*, cci_case*, P&)>> decoders_;
  cci_check check_ = [] {
    cci_check check{};
    check.layer = CCI_LAYER_OTHER;  // 0 is the driver's, which would blame the runner
    return check;
  }();
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_SCHEMA_HPP_
