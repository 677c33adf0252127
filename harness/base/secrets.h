// The secrets that reports mask: values of variables whose names say that they are secret, and texts that
// have the shape of a token. The one place that knows them; whoever hands a text to a report or a terminal
// asks here.
#ifndef CUDNN_CI_BASE_SECRETS_H_
#define CUDNN_CI_BASE_SECRETS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/word_finder.h"

namespace cudnn_ci {

// Whether a variable of that name holds a secret: TOKEN, SECRET, PASSWORD, PASSWD, CREDENTIAL or KEY is in
// it, in capitals or not.
bool IsSecretName(std::string_view name);

// A secret is the value of such a variable, and each line of it, from eight bytes on: a shorter one is a word
// that stands in texts for other reasons. What is encoded otherwise (base64, quoted) is not recognized.
class Secrets {
 public:
  // Of "NAME=value" strings, which end with a null.
  explicit Secrets(const char* const* environment);
  Secrets(const Secrets&) = delete;
  Secrets& operator=(const Secrets&) = delete;
  // Of this process's environment, as it is at the first call.
  static const Secrets& OfThisProcess();

  // With "[masked NAME]" instead of a variable's value, "[masked token]" of what has the shape of one, and
  // "[masked]" of what is left of a value where a text was cut. Idempotent.
  std::string Mask(std::string_view text) const;
  // With as many "*" in their place, for files in which places matter.
  std::string MaskKeepingLength(std::string_view text) const;
  // The word for a shell (ShellQuote) that says the same where the variables are set: "$NAME" instead of
  // values.
  std::string ShellWord(std::string_view word) const;

 private:
  struct Place {
    size_t begin = 0, end = 0;
    const std::string* name = nullptr;  // of the variable; null: the shape of a token, or the rest of a value
    bool whole = true;
  };
  // In order, without overlaps. Goes through the text a few times, whatever the values and the text are.
  std::vector<Place> Find(std::string_view text) const;
  // Adds the values of variables, in order and without overlaps.
  void FindValues(std::string_view text, std::vector<Place>* places) const;
  // Adds what is left of values at the places where a text was cut.
  void FindRests(std::string_view text, std::vector<Place>* places) const;
  // Whether the place lies in what Mask has written.
  bool IsInMark(std::string_view text, const Place& place) const;
  void Add(const std::string& name, std::string_view value);

  std::map<std::string, std::string, std::less<>> names_;                   // of the variables, by values
  std::vector<const std::pair<const std::string, std::string>*> of_value_;  // entries of names_, by number
  WordFinder values_, reversed_;              // the values, by number; reversed_ has them from their ends
  std::set<std::string, std::less<>> marks_;  // names as Mask writes them
  size_t longest_ = 0;                        // bytes of a value
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_SECRETS_H_
