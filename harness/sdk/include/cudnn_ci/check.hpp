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
// A check whose parameters can be impossible together says so when the plan is made, before any device is
// used, by one more function:
//
//     static void Validate(const Params& p, cudnn_ci::Problems& problems) {
//       if (p.n > p.limit) problems.Add("n", std::to_string(p.n) + " is above the limit");
//     }
//
// A shareable, concurrent check with slow cases whose library compiles before it computes can have that done
// while the checks that it requires still run, by one more function. It keeps what it made where Run of the
// same case finds it; what it throws is dropped:
//
//     static void Prepare(cudnn_ci::Context& ctx, const Params& p);
//
// Threads: Describe runs once, on the loader's thread. Within Run the macros work on any thread;
// CCI_ASSERT_* and Skip throw and so must be used on the thread that entered Run.
#ifndef CUDNN_CI_CHECK_HPP_
#define CUDNN_CI_CHECK_HPP_

#include <cudnn_ci/plugin.h>
#include <cudnn_ci/context.hpp>
#include <cudnn_ci/schema.hpp>

#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudnn_ci {

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

template <class Check, class = void>
struct HasValidate : std::false_type {};
template <class Check>
struct HasValidate<Check, std::void_t<decltype(&Check::Validate)>> : std::true_type {};

template <class Check, class = void>
struct HasPrepare : std::false_type {};
template <class Check>
struct HasPrepare<Check, std::void_t<decltype(&Check::Prepare)>> : std::true_type {};

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
  static void Validate(const cci_host* host, cci_case* c) {
    Guarded(host, c, [&](Context&) {
      Problems problems(host, c);
      Check::Validate(TheSchema().Decode(host, c), problems);
    });
  }
  static void Prepare(const cci_host* host, cci_case* c) {
    Guarded(host, c, [&](Context& ctx) { Check::Prepare(ctx, TheSchema().Decode(host, c)); });
  }
  template <const char* const& kName>
  static const cci_check* Describe() {
    Check::Describe(TheSchema());
    void (*validate)(const cci_host*, cci_case*) = nullptr;
    void (*prepare)(const cci_host*, cci_case*) = nullptr;
    if constexpr (HasValidate<Check>::value) validate = &Validate;
    if constexpr (HasPrepare<Check>::value) prepare = &Prepare;
    return TheSchema().Seal(kName, &Run, validate, prepare);
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

// A text that may be null.
struct CText {
  CText(const char* s) : null(s == nullptr), text(s ? s : "") {}  // NOLINT: implicit on purpose
  CText(const std::string& s) : null(false), text(s) {}           // NOLINT: implicit on purpose
  bool operator==(const CText& other) const { return null == other.null && text == other.text; }
  std::string Shown() const { return null ? "(null)" : text; }
  bool null;
  std::string text;
};

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

// |a - b| <= tolerance, as doubles; NaN is near nothing.
#define CCI_NEAR_(a, b, tolerance, fatal)                                                            \
  [&](double cci_a_, double cci_b_, double cci_tolerance_) {                                         \
    const bool cci_held_ = std::fabs(cci_a_ - cci_b_) <= cci_tolerance_;                             \
    return ::cudnn_ci::detail::Expectation(                                                          \
        cci_held_, __FILE__, __LINE__,                                                               \
        ::cudnn_ci::detail::Compared(#a, "is within " #tolerance " of", #b, cci_a_, cci_b_), fatal); \
  }(static_cast<double>(a), static_cast<double>(b), static_cast<double>(tolerance))
// The texts are equal; std::string or const char*; null equals only null.
#define CCI_STREQ_(a, b, fatal)                                                             \
  [](const ::cudnn_ci::detail::CText& cci_a_, const ::cudnn_ci::detail::CText& cci_b_) {    \
    return ::cudnn_ci::detail::Expectation(                                                 \
        cci_a_ == cci_b_, __FILE__, __LINE__,                                               \
        ::cudnn_ci::detail::Compared(#a, "==", #b, cci_a_.Shown(), cci_b_.Shown()), fatal); \
  }(a, b)

// Expectations. Each is counted; one that does not hold fails the case, with the expression, both values and
// what is streamed into it: CCI_EXPECT_EQ(a, b) << "of " << file. EXPECT goes on, ASSERT and CCI_FAIL end the
// check. NEAR holds where |a - b| <= tolerance, as doubles; NaN is near nothing. STREQ compares std::string
// or const char*; null equals only null.
#define CCI_EXPECT_TRUE(cond) CCI_CHECK_((cond), #cond, false)
#define CCI_EXPECT_FALSE(cond) CCI_CHECK_(!(cond), "!(" #cond ")", false)
#define CCI_EXPECT_EQ(a, b) CCI_COMPARE_(a, ==, b, false)
#define CCI_EXPECT_NE(a, b) CCI_COMPARE_(a, !=, b, false)
#define CCI_EXPECT_LT(a, b) CCI_COMPARE_(a, <, b, false)
#define CCI_EXPECT_LE(a, b) CCI_COMPARE_(a, <=, b, false)
#define CCI_EXPECT_GT(a, b) CCI_COMPARE_(a, >, b, false)
#define CCI_EXPECT_GE(a, b) CCI_COMPARE_(a, >=, b, false)
#define CCI_EXPECT_NEAR(a, b, tolerance) CCI_NEAR_(a, b, tolerance, false)
#define CCI_EXPECT_STREQ(a, b) CCI_STREQ_(a, b, false)
#define CCI_ASSERT_TRUE(cond) CCI_CHECK_((cond), #cond, true)
#define CCI_ASSERT_FALSE(cond) CCI_CHECK_(!(cond), "!(" #cond ")", true)
#define CCI_ASSERT_EQ(a, b) CCI_COMPARE_(a, ==, b, true)
#define CCI_ASSERT_NE(a, b) CCI_COMPARE_(a, !=, b, true)
#define CCI_ASSERT_LT(a, b) CCI_COMPARE_(a, <, b, true)
#define CCI_ASSERT_LE(a, b) CCI_COMPARE_(a, <=, b, true)
#define CCI_ASSERT_GT(a, b) CCI_COMPARE_(a, >, b, true)
#define CCI_ASSERT_GE(a, b) CCI_COMPARE_(a, >=, b, true)
#define CCI_ASSERT_NEAR(a, b, tolerance) CCI_NEAR_(a, b, tolerance, true)
#define CCI_ASSERT_STREQ(a, b) CCI_STREQ_(a, b, true)
#define CCI_FAIL() CCI_CHECK_(false, "failed", true)

// Declares a finding this plugin may report. At namespace scope.
//   CCI_FINDING("wrong-value", CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE, "summary", "remedy", nullptr)
#define CCI_CONCAT2_(a, b) a##b
#define CCI_CONCAT_(a, b) CCI_CONCAT2_(a, b)
#define CCI_FINDING(slug, severity, blame, summary, remedy, link) \
  CCI_FINDING_WITH_COMMAND(slug, severity, blame, summary, remedy, link, CCI_WHERE_IMAGE, nullptr)
// The same with one line that fixes it, and where it is typed (enum cci_where).
#define CCI_FINDING_WITH_COMMAND(slug, severity, blame, summary, remedy, link, where, command) \
  CCI_FINDING_WITH_FLAGS(slug, severity, blame, summary, remedy, link, where, command, 0)
// The same with flags (enum cci_finding_flags).
#define CCI_FINDING_WITH_FLAGS(slug, severity, blame, summary, remedy, link, where, command, flags) \
  static const bool CCI_CONCAT_(cci_finding_, __LINE__) = [] {                                      \
    static const cci_finding f = {                                                                  \
        sizeof(cci_finding), severity, blame, slug, summary, remedy, link, command, where, flags};  \
    ::cudnn_ci::detail::Registry::Get().findings.push_back(&f);                                     \
    return true;                                                                                    \
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
