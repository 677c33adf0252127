// Writing a check in C++17, in the spirit of GoogleTest. Header-only over plugin.h.
//
//   #include <cudnn_ci/check.hpp>
//
//   struct Answer {
//     struct Params { std::int64_t n = 0; };
//     static void Describe(cudnn_ci::Schema<Params>& s) {
//       s.Summary("the answer is even").Layer(CCI_LAYER_OTHER);
//       s.Param("n", &Params::n).Default(42);
//     }
//     static void Run(cudnn_ci::Context& ctx, const Params& p) {
//       CCI_EXPECT_EQ(p.n % 2, 0) << "n = " << p.n;
//     }
//   };
//   CCI_REGISTER(Answer, "answer")
//   CCI_PLUGIN("demo", "1.0.0", "a first plugin")
//
// CCI_EXPECT_* records and continues; CCI_ASSERT_*, CCI_FAIL and ctx.Skip end the check. Exceptions
// that escape Run fail the case. One Param call is schema and decoder at once, so that the two
// cannot drift apart.
//
// Threads: Describe runs once, on the loader's thread. Within Run the macros work on any thread;
// CCI_ASSERT_* and Skip throw and so must be used on the thread that entered Run.
#ifndef CUDNN_CI_CHECK_HPP_
#define CUDNN_CI_CHECK_HPP_

#include <cudnn_ci/plugin.h>

#include <cmath>
#include <deque>
#include <exception>
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

class Context;

namespace detail {

struct StopCheck {};  // thrown by CCI_ASSERT_* and Skip; never leaves the library

inline Context*& CurrentContext() {
  static Context* current = nullptr;  // one case runs at a time in a process
  return current;
}

}  // namespace detail

struct ChildResult {
  int exit_status = -1;
  int signal = 0;
  bool timed_out = false;
  std::string output;
};

// The running case, as the check sees it. Valid until Run returns.
class Context {
 public:
  Context(const cci_host* host, cci_case* c) : host_(host), case_(c) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  static Context& Current() { return *detail::CurrentContext(); }

  // The contract's range for "image.cudnn", "runner.driver", ...; empty when it promises nothing.
  std::string Contract(const char* key) const { return OrEmpty(host_->contract(case_, key)); }
  // What the facts step found; empty when it found nothing.
  std::string Fact(const char* key) const { return OrEmpty(host_->fact(case_, key)); }
  bool Satisfies(const std::string& version, const std::string& range) const {
    const int r = host_->satisfies(case_, version.c_str(), range.c_str());
    if (r < 0) throw std::invalid_argument("malformed version '" + version + "' or range '" + range + "'");
    return r == 1;
  }
  std::string SubjectName() const { return OrEmpty(host_->subject_name(case_)); }
  std::string SubjectSpec() const { return OrEmpty(host_->subject_spec(case_)); }
  std::string DeviceUuid() const { return OrEmpty(host_->device_uuid(case_)); }
  std::string ScratchDir() const { return OrEmpty(host_->scratch_dir(case_)); }
  std::uint64_t Seed() const { return host_->seed(case_); }
  std::int64_t DeadlineMs() const { return host_->deadline_ms(case_); }

  void Step(const std::string& name) { host_->step(case_, name.c_str()); }
  bool ShouldSkipStep(const std::string& name) const {
    return host_->should_skip_step(case_, name.c_str()) != 0;
  }
  void Expect(bool held, const char* file, int line, const std::string& what) {
    host_->expect(case_, held ? 1 : 0, file, line, what.c_str());
  }
  void Finding(const char* slug, const std::string& detail) { host_->finding(case_, slug, detail.c_str()); }
  [[noreturn]] void Skip(cci_skip_kind kind, const std::string& need, const std::string& seen) {
    host_->skip(case_, kind, need.c_str(), seen.c_str());
    throw detail::StopCheck{};
  }
  // Ends the check; what was reported so far decides.
  [[noreturn]] void Stop() { throw detail::StopCheck{}; }
  void Measure(const char* name, double value, const char* unit, cci_goal goal = CCI_GOAL_NONE) {
    host_->measure(case_, name, value, unit, goal);
  }
  void Attach(const char* name, const char* mime, const std::string& data) {
    host_->attach(case_, name, mime, data.data(), data.size());
  }
  void Log(const std::string& text, cci_log_level level = CCI_LOG_INFO) {
    host_->log(case_, level, text.c_str());
  }
  void Poison(const std::string& reason) { host_->poison(case_, reason.c_str()); }
  // Runs a command to its end; throws std::runtime_error when it cannot be started.
  ChildResult RunChild(const std::vector<std::string>& argv, const std::vector<std::string>& env = {},
                       double timeout_s = 0) {
    std::vector<const char*> a, e;
    for (const auto& s : argv) a.push_back(s.c_str());
    for (const auto& s : env) e.push_back(s.c_str());
    a.push_back(nullptr);
    e.push_back(nullptr);
    cci_child child{sizeof(cci_child), a.data(), e.data(), timeout_s};
    cci_child_result r{};
    r.struct_size = sizeof r;
    if (host_->run_child(case_, &child, &r) != CCI_OK)
      throw std::runtime_error("cannot start " + (argv.empty() ? std::string("(no command)") : argv[0]));
    return {r.exit_status, r.signal, r.timed_out != 0, std::string(r.output, r.output_size)};
  }

  const cci_host* host() const { return host_; }
  cci_case* handle() const { return case_; }

 private:
  static std::string OrEmpty(const char* s) { return s ? s : ""; }
  const cci_host* host_;
  cci_case* case_;
};

// What `facts` reports into.
class FactSink {
 public:
  FactSink(const cci_host* host, cci_case* c) : host_(host), case_(c) {}
  void Report(const std::string& key, const std::string& value) {
    host_->fact_report(case_, key.c_str(), value.c_str());
  }
  std::string SubjectSpec() const {
    const char* s = host_->subject_spec(case_);
    return s ? s : "";
  }

 private:
  const cci_host* host_;
  cci_case* case_;
};

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
struct TypeOf;
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
  ParamBuilder& Summary(std::string text) {
    s_->summary = std::move(text);
    return *this;
  }
  ParamBuilder& Default(const T& value) {
    s_->default_json = detail::JsonText(value);
    return *this;
  }
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
  Schema& Summary(std::string text) {
    summary_ = std::move(text);
    return *this;
  }
  Schema& Layer(cci_layer layer) {
    check_.layer = layer;
    return *this;
  }
  Schema& Devices(cci_devices devices) {
    check_.devices = devices;
    return *this;
  }
  Schema& TimeoutSeconds(double s) {
    check_.timeout_s = s;
    return *this;
  }
  Schema& Requires(std::string check) {
    prerequisites_.push_back(std::move(check));
    return *this;
  }
  Schema& Shareable() {
    check_.flags |= CCI_CHECK_SHAREABLE;
    return *this;
  }
  Schema& Exclusive() {
    check_.flags |= CCI_CHECK_EXCLUSIVE;
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
  Schema& Disturbs() {
    check_.flags |= CCI_CHECK_DISTURBS;
    return *this;
  }

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

  const cci_check* Seal(std::string name, void (*run)(const cci_host*, cci_case*)) {
    name_ = std::move(name);
    for (auto& p : params_) param_table_.push_back(p->Seal());
    param_table_.push_back(nullptr);
    for (auto& r : prerequisites_) prerequisite_table_.push_back(r.c_str());
    prerequisite_table_.push_back(nullptr);
    check_.struct_size = sizeof(cci_check);
    check_.name = name_.c_str();
    check_.summary = summary_.c_str();
    check_.params = param_table_.data();
    check_.prerequisites = prerequisite_table_.data();
    check_.run = run;
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
  std::vector<std::string> prerequisites_;
  std::deque<std::unique_ptr<detail::ParamStorage>> params_;
  std::vector<const cci_param*> param_table_;
  std::vector<const char*> prerequisite_table_;
  std::vector<std::function<void(const cci_host*, cci_case*, P&)>> decoders_;
  cci_check check_ = [] {
    cci_check check{};
    check.layer = CCI_LAYER_OTHER;  // 0 is the driver's, which would blame the runner
    return check;
  }();
};

namespace detail {

struct Registry {
  std::vector<const cci_check* (*)()> checks;
  std::vector<const cci_finding*> findings;
  void (*facts)(FactSink&) = nullptr;
  bool facts_per_subject = false;
  static Registry& Get() {
    static Registry r;
    return r;
  }
};

// Everything a check may throw ends here: nothing crosses the C boundary.
template <class F>
void Guarded(const cci_host* host, cci_case* c, F&& body) {
  Context ctx(host, c);
  CurrentContext() = &ctx;
  try {
    body(ctx);
  } catch (const StopCheck&) {
  } catch (const std::exception& e) {
    host->uncaught(c, e.what());
  } catch (...) {
    host->uncaught(c, "an exception that is not a std::exception");
  }
  CurrentContext() = nullptr;
}

template <class Check>
struct CheckGlue {
  using Params = typename Check::Params;
  static Schema<Params>& TheSchema() {
    static Schema<Params> schema;
    return schema;
  }
  static void Run(const cci_host* host, cci_case* c) {
    Guarded(host, c, [&](Context& ctx) { Check::Run(ctx, TheSchema().Decode(host, c)); });
  }
  template <const char* const& kName>
  static const cci_check* Describe() {
    Check::Describe(TheSchema());
    return TheSchema().Seal(kName, &Run);
  }
};

inline void RunFacts(const cci_host* host, cci_case* c) {
  FactSink sink(host, c);
  Guarded(host, c, [&](Context&) { Registry::Get().facts(sink); });
}

// Collects the streamed message of an expectation and reports it at the end of the statement.
class Expectation {
 public:
  Expectation(bool held, const char* file, int line, std::string what, bool fatal) noexcept(false)
      : held_(held), fatal_(fatal), file_(file), line_(line), what_(std::move(what)) {}
  Expectation(const Expectation&) = delete;
  Expectation& operator=(const Expectation&) = delete;
  ~Expectation() noexcept(false) {
    const std::string extra = message_ ? message_->str() : std::string();
    Context::Current().Expect(held_, file_, line_, extra.empty() ? what_ : what_ + "\n  " + extra);
    if (fatal_ && !held_ && std::uncaught_exceptions() == 0) throw StopCheck{};
  }
  template <class T>
  Expectation& operator<<(const T& value) {
    if (!held_) {
      if (!message_) message_ = std::make_unique<std::ostringstream>();
      *message_ << value;
    }
    return *this;
  }

 private:
  bool held_, fatal_;
  const char* file_;
  int line_;
  std::string what_;
  std::unique_ptr<std::ostringstream> message_;
};

template <class T, class = void>
struct Printable : std::false_type {};
template <class T>
struct Printable<T, std::void_t<decltype(std::declval<std::ostream&>() << std::declval<const T&>())>>
    : std::true_type {};

template <class T>
std::string Print(const T& v) {
  if constexpr (std::is_same_v<T, bool>) {
    return v ? "true" : "false";
  } else if constexpr (Printable<T>::value) {
    std::ostringstream os;
    os.precision(std::numeric_limits<double>::max_digits10);
    os << v;
    return os.str();
  } else {
    return "(not printable)";
  }
}

template <class A, class B>
std::string Compared(const char* a_text, const char* op, const char* b_text, const A& a, const B& b) {
  return std::string(a_text) + " " + op + " " + b_text + "\n  left:  " + Print(a) + "\n  right: " + Print(b);
}

}  // namespace detail
}  // namespace cudnn_ci

#define CCI_CHECK_(cond, text, fatal) \
  ::cudnn_ci::detail::Expectation(static_cast<bool>(cond), __FILE__, __LINE__, text, fatal)
#define CCI_COMPARE_(a, op, b, fatal)                                                                       \
  [&](const auto& cci_a_, const auto& cci_b_) {                                                             \
    const bool cci_held_ = cci_a_ op cci_b_;                                                                \
    return ::cudnn_ci::detail::Expectation(cci_held_, __FILE__, __LINE__,                                   \
                                           cci_held_                                                        \
                                               ? std::string(#a " " #op " " #b)                             \
                                               : ::cudnn_ci::detail::Compared(#a, #op, #b, cci_a_, cci_b_), \
                                           fatal);                                                          \
  }(a, b)

#define CCI_EXPECT_TRUE(cond) CCI_CHECK_((cond), #cond, false)
#define CCI_EXPECT_FALSE(cond) CCI_CHECK_(!(cond), "!(" #cond ")", false)
#define CCI_EXPECT_EQ(a, b) CCI_COMPARE_(a, ==, b, false)
#define CCI_EXPECT_NE(a, b) CCI_COMPARE_(a, !=, b, false)
#define CCI_EXPECT_LT(a, b) CCI_COMPARE_(a, <, b, false)
#define CCI_EXPECT_LE(a, b) CCI_COMPARE_(a, <=, b, false)
#define CCI_EXPECT_GT(a, b) CCI_COMPARE_(a, >, b, false)
#define CCI_EXPECT_GE(a, b) CCI_COMPARE_(a, >=, b, false)
#define CCI_ASSERT_TRUE(cond) CCI_CHECK_((cond), #cond, true)
#define CCI_ASSERT_FALSE(cond) CCI_CHECK_(!(cond), "!(" #cond ")", true)
#define CCI_ASSERT_EQ(a, b) CCI_COMPARE_(a, ==, b, true)
#define CCI_ASSERT_NE(a, b) CCI_COMPARE_(a, !=, b, true)
#define CCI_ASSERT_LT(a, b) CCI_COMPARE_(a, <, b, true)
#define CCI_ASSERT_LE(a, b) CCI_COMPARE_(a, <=, b, true)
#define CCI_ASSERT_GT(a, b) CCI_COMPARE_(a, >, b, true)
#define CCI_ASSERT_GE(a, b) CCI_COMPARE_(a, >=, b, true)
#define CCI_FAIL() CCI_CHECK_(false, "failed", true)

// Declares a finding this plugin may report. At namespace scope.
//   CCI_FINDING("wrong-value", CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE, "summary", "remedy", nullptr)
#define CCI_CONCAT2_(a, b) a##b
#define CCI_CONCAT_(a, b) CCI_CONCAT2_(a, b)
#define CCI_FINDING(slug, severity, blame, summary, remedy, link)                                     \
  static const bool CCI_CONCAT_(cci_finding_, __LINE__) = [] {                                        \
    static const cci_finding f = {sizeof(cci_finding), severity, blame, slug, summary, remedy, link}; \
    ::cudnn_ci::detail::Registry::Get().findings.push_back(&f);                                       \
    return true;                                                                                      \
  }();

// Registers a check struct under PLUGIN.name. At namespace scope, in any file of the plugin.
#define CCI_REGISTER(CheckType, name)                                                                    \
  static const char* const CCI_CONCAT_(cci_name_, __LINE__) = name;                                      \
  static const bool CCI_CONCAT_(cci_check_, __LINE__) = [] {                                             \
    ::cudnn_ci::detail::Registry::Get().checks.push_back(                                                \
        &::cudnn_ci::detail::CheckGlue<CheckType>::template Describe<CCI_CONCAT_(cci_name_, __LINE__)>); \
    return true;                                                                                         \
  }();

// Registers `void Function(cudnn_ci::FactSink&)`.
#define CCI_FACTS(Function, per_subject)                                 \
  static const bool cci_facts_registered = [] {                          \
    ::cudnn_ci::detail::Registry::Get().facts = &Function;               \
    ::cudnn_ci::detail::Registry::Get().facts_per_subject = per_subject; \
    return true;                                                         \
  }();

// Exports the plugin. Once per plugin.
#define CCI_PLUGIN(plugin_name, plugin_version, plugin_summary)                                             \
  extern "C" __attribute__((visibility("default"))) const cci_plugin* cudnn_ci_plugin_v1(void) {            \
    static std::vector<const cci_check*> checks;                                                            \
    static std::vector<const cci_finding*> findings;                                                        \
    static const cci_plugin plugin = [] {                                                                   \
      auto& r = ::cudnn_ci::detail::Registry::Get();                                                        \
      for (auto* describe : r.checks) checks.push_back(describe());                                         \
      checks.push_back(nullptr);                                                                            \
      findings = r.findings;                                                                                \
      findings.push_back(nullptr);                                                                          \
      return cci_plugin{sizeof(cci_plugin),                                                                 \
                        CCI_ABI_MAJOR,                                                                      \
                        CCI_ABI_MINOR,                                                                      \
                        static_cast<std::uint32_t>(r.facts_per_subject ? CCI_PLUGIN_FACTS_PER_SUBJECT : 0), \
                        plugin_name,                                                                        \
                        plugin_version,                                                                     \
                        plugin_summary,                                                                     \
                        checks.data(),                                                                      \
                        findings.data(),                                                                    \
                        r.facts ? &::cudnn_ci::detail::RunFacts : nullptr};                                 \
    }();                                                                                                    \
    return &plugin;                                                                                         \
  }

#endif  // CUDNN_CI_CHECK_HPP_
