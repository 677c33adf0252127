#include "image/symbols/symbols_openers.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "image/symbols/symbols_statements.h"
#include "image/symbols/symbols_variants.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSources = 3000, kMostBytes = std::size_t{64} << 20, kMostTexts = 20000,
                      kLongestText = 200;

bool IsNamePart(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The pieces of a text between braces, where a name may be put together.
void AddText(std::string_view text, std::set<std::string>* literals) {
  while (!text.empty() && literals->size() < kMostTexts) {
    const std::size_t end = std::min(text.find('{'), text.size());
    if (end > 0 && end <= kLongestText) literals->emplace(text.substr(0, end));
    if (end == text.size()) return;
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find('}'), text.size() - 1) + 1);
  }
}

// Walks through a source line by line, past comments and texts of several lines.
class Outliner {
 public:
  // `take` gets each statement of the outermost level, what stands on its further lines joined to the first,
  // without comments; null: nobody does.
  using TakeStatement = std::function<void(std::string_view statement)>;
  explicit Outliner(TakeStatement take = {}) : take_(std::move(take)) {}

  SourceOutline Run(std::string_view source) {
    while (!source.empty()) {
      const std::size_t end = std::min(source.find('\n'), source.size());
      TakeLine(source.substr(0, end));
      source.remove_prefix(std::min(end + 1, source.size()));
    }
    return std::move(outline_);
  }

 private:
  // A line that begins a statement says in which part it stands.
  void TakeLine(std::string_view line) {
    if (quotes_.empty() && depth_ == 0 && !continued_) {
      Place(line);
      taking_ = take_ && !line.empty() && IsNamePart(line[0]);
      statement_.clear();
    }
    continued_ = !line.empty() && line.back() == '\\';
    const std::size_t code = Scan(line);
    if (!taking_) return;
    statement_ += (statement_.empty() ? "" : " ") + std::string(line.substr(0, continued_ ? code - 1 : code));
    if (quotes_.empty() && depth_ == 0 && !continued_) take_(statement_), taking_ = false;
  }

  void Place(std::string_view line) {
    const std::size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
    if (indent == line.size() || line[indent] == '#' || line[indent] == '\r') return;
    line.remove_prefix(indent);
    while (!blocks_.empty() && indent <= blocks_.back().indent) blocks_.pop_back();
    SourcePart* in = blocks_.empty() ? &outline_.surely : blocks_.back().part;
    const auto begins = [&](std::string_view word) {
      return line.starts_with(word) && (line.size() == word.size() || !IsNamePart(line[word.size()]));
    };
    if (begins("async")) line.remove_prefix(std::min(line.find_first_not_of(' ', 5), line.size()));
    part_ = in;
    SourcePart* inner = nullptr;
    if (begins("def") || begins("class")) {
      const bool outermost = in == &outline_.surely || in == &outline_.tried;
      const std::size_t name = std::min(line.find_first_not_of(' ', line.find(' ')), line.size());
      std::size_t end = name;
      while (end < line.size() && IsNamePart(line[end])) ++end;
      // What a class has runs when somebody uses it.
      inner = begins("def") && outermost ? &outline_.functions[std::string(line.substr(name, end - name))]
                                         : (outermost ? &outline_.others : in);
      part_ = inner;
    } else if (in == &outline_.surely && (begins("try") || begins("if") || begins("elif") || begins("else") ||
                                          begins("except") || begins("while"))) {
      inner = &outline_.tried;
      // A condition is evaluated in any case.
    } else if (begins("with") || begins("for") || begins("try") || begins("if") || begins("elif") ||
               begins("else") || begins("except") || begins("while") || begins("finally")) {
      inner = in;
    }
    if (inner) blocks_.push_back({indent, inner});
  }

  // Returns where a comment begins, or the line's end.
  std::size_t Scan(std::string_view line) {
    for (std::size_t at = 0; at < line.size();) {
      if (!quotes_.empty()) {
        const std::size_t end = line.find(quotes_, at);
        if (end == std::string_view::npos) return line.size();
        at = end + quotes_.size();
        quotes_.clear();
        continue;
      }
      const char c = line[at];
      if (c == '#') return at;
      if (c == '\'' || c == '"') {
        at = Text(line, at);
        continue;
      }
      if (c == '(' || c == '[' || c == '{') ++depth_;
      if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
      if (!IsNamePart(c)) {
        ++at;
        continue;
      }
      const std::size_t begin = at;
      while (at < line.size() && IsNamePart(line[at])) ++at;
      std::size_t next = at;
      while (next < line.size() && line[next] == ' ') ++next;
      const bool defined = line.substr(0, begin).ends_with("def ");
      if (next < line.size() && line[next] == '(' && !defined && part_->calls.size() < kMostTexts)
        part_->calls.emplace(line.substr(begin, at - begin));
    }
    return line.size();
  }

  // A text that begins at `at`; returns where it ends on this line.
  std::size_t Text(std::string_view line, std::size_t at) {
    const std::string_view three = line.substr(at, 3);
    if (three == "'''" || three == "\"\"\"") {
      quotes_ = three;
      return at + 3;
    }
    std::size_t end = at + 1;
    while (end < line.size() && line[end] != line[at]) end += line[end] == '\\' ? 2 : 1;
    end = std::min(end, line.size());
    AddText(line.substr(at + 1, end - at - 1), &part_->literals);
    return end + 1;
  }

  struct Block {
    std::size_t indent;
    SourcePart* part;
  };
  TakeStatement take_;
  SourceOutline outline_;
  SourcePart* part_ = &outline_.surely;
  std::vector<Block> blocks_;
  std::string quotes_;  // of a text of several lines
  int depth_ = 0;       // of brackets
  bool continued_ = false;
  bool taking_ = false;
  std::string statement_;  // that is taken, so far
};

bool Opens(const std::set<std::string>& calls, const std::set<std::string>& openers) {
  return std::any_of(openers.begin(), openers.end(),
                     [&](const std::string& opener) { return calls.count(opener) > 0; });
}

bool MayOpen(const std::string& source, const std::set<std::string>& openers) {
  return std::any_of(openers.begin(), openers.end(),
                     [&](const std::string& opener) { return source.find(opener) != std::string::npos; });
}

void Merge(const SourcePart& from, SourcePart* into) {
  into->calls.insert(from.calls.begin(), from.calls.end());
  into->literals.insert(from.literals.begin(), from.literals.end());
}

// Texts of what a part runs, the functions that it leads to among them; none where nothing is opened.
std::set<std::string> TextsOpenedBy(const SourcePart& part,
                                    const std::map<std::string, SourcePart>& functions,
                                    const std::set<std::string>& openers) {
  SourcePart reached = part;
  std::set<std::string> known;
  std::vector<std::string> waiting(part.calls.begin(), part.calls.end());
  while (!waiting.empty()) {
    const std::string next = waiting.back();
    waiting.pop_back();
    const auto function = functions.find(next);
    if (function == functions.end() || !known.insert(next).second) continue;
    Merge(function->second, &reached);
    waiting.insert(waiting.end(), function->second.calls.begin(), function->second.calls.end());
  }
  return Opens(reached.calls, openers) ? reached.literals : std::set<std::string>();
}

// The sources below the folder of a package, and the module of its name.
std::vector<std::string> SourcesOf(const std::string& package, const std::vector<std::string>& folders) {
  std::vector<std::string> sources;
  std::error_code error;
  for (const std::string& folder : folders) {
    if (const fs::path module = fs::path(folder) / (package + ".py"); fs::is_regular_file(module, error))
      sources.push_back(module.string());
    fs::recursive_directory_iterator it(fs::path(folder) / package,
                                        fs::directory_options::skip_permission_denied, error);
    for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error))
      if (sources.size() < kMostSources && it->path().extension() == ".py")
        sources.push_back(it->path().string());
  }
  return sources;
}

bool AnyNames(const std::set<std::string>& literals, const std::string& file_name,
              const MachineWords& machines) {
  return std::any_of(literals.begin(), literals.end(),
                     [&](const std::string& literal) { return NamesFile(literal, file_name, machines); });
}

// What stands before the first statement outside of functions and classes that may end the import: what
// follows an `if ...: raise` is not executed whatever happens.
std::string_view UpToAnEnd(std::string_view source) {
  bool in_function = false;
  for (size_t at = 0; at < source.size();) {
    const size_t end = std::min(source.find('\n', at), source.size());
    const std::string_view line = source.substr(at, end - at), text = Trim(line);
    const auto begins = [&](std::string_view word) { return text.starts_with(word); };
    if (!text.empty() && text.data() == line.data())
      in_function = begins("def ") || begins("class ") || begins("async ") || begins("@");
    if (!in_function &&
        (begins("raise") || text.find("exit(") != std::string_view::npos ||
         text.find(": raise") != std::string_view::npos || text.find("; raise") != std::string_view::npos))
      return source.substr(0, at);
    at = end + 1;
  }
  return source;
}

}  // namespace

SourceOutline OutlineOf(const std::string& source) { return Outliner().Run(source); }

std::set<std::string> PlainlyOpened(const std::string& source, const std::set<std::string>& openers) {
  std::set<std::string> opened;
  if (!MayOpen(source, openers)) return opened;
  std::vector<PlainCall> calls;
  Outliner([&](std::string_view statement) {
    for (PlainCall& call : PlainCallsIn(statement))
      if (openers.count(call.function) > 0 && call.text.size() <= kLongestText && calls.size() < kMostTexts)
        calls.push_back(std::move(call));
  }).Run(UpToAnEnd(source));
  if (calls.empty()) return opened;
  const SourceOutline outline = OutlineOf(source);
  for (const PlainCall& call : calls)
    if (outline.functions.count(call.head) == 0 && !IsBoundByTheSource(source, call.head))
      opened.insert(call.text);
  return opened;
}

const PackageOpeners::Package& PackageOpeners::Read(const std::string& package) {
  const auto [at, fresh] = packages_.try_emplace(package);
  Package& read = at->second;
  if (!fresh) return read;
  std::map<std::string, SourcePart> functions;
  std::vector<SourceOutline> imported;
  for (const std::string& path : imports_->Of(package).sources) {
    const Result<std::string> source = ReadFile(path, kMostPythonSource);
    if (!source || imported.size() >= kMostSources) continue;
    imported.push_back(OutlineOf(*source));
    for (const auto& [name, part] : imported.back().functions) Merge(part, &functions[name]);
  }
  for (const SourceOutline& outline : imported) {
    SourcePart surely = outline.surely, tried = outline.tried;
    for (const std::string& text : TextsOpenedBy(surely, functions, rules_->openers))
      read.surely.insert(text);
    // A name that stands in the open may be opened by what is tried.
    tried.literals.insert(surely.literals.begin(), surely.literals.end());
    for (const std::string& text : TextsOpenedBy(tried, functions, rules_->openers)) read.tried.insert(text);
  }
  std::size_t bytes = 0;
  bool opens = false;
  SourcePart all;
  for (const std::string& path : SourcesOf(package, folders_)) {
    const Result<std::string> source = ReadFile(path, kMostPythonSource);
    if (!source || (bytes += source->size()) > kMostBytes) continue;
    opens = opens || MayOpen(*source, rules_->openers);
    const SourceOutline outline = OutlineOf(*source);
    for (const SourcePart* part : {&outline.surely, &outline.tried, &outline.others}) Merge(*part, &all);
    for (const auto& [name, part] : outline.functions) Merge(part, &all);
  }
  if (opens) read.perhaps = std::move(all.literals);
  return read;
}

Opening PackageOpeners::Of(const std::string& package, const std::string& file_name) {
  const Package& read = Read(package);
  if (AnyNames(read.surely, file_name, rules_->machines)) return Opening::kSurely;
  if (AnyNames(read.tried, file_name, rules_->machines)) return Opening::kTried;
  return AnyNames(read.perhaps, file_name, rules_->machines) ? Opening::kPerhaps : Opening::kNone;
}

}  // namespace cudnn_ci
