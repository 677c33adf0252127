// A walk over the text of a JSON document that knows where tokens begin. Private to model. Knows nothing of
// values: nlohmann's parser decides what is JSON, and this finds the places for its messages.
#ifndef CUDNN_CI_MODEL_JSON_JSON_CURSOR_H_
#define CUDNN_CI_MODEL_JSON_JSON_CURSOR_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "model/json/json_tree.h"

namespace cudnn_ci {

// Walks over the text once, counting lines and columns. The text must outlive it.
class JsonCursor {
 public:
  JsonCursor(std::string_view text, std::string file);

  // The position of the next key, value or bracket; then moves behind it.
  Position Next();
  // Moves over blanks and comments. Stops at a comment that does not end.
  void SkipBlanks();
  // Moves over the character if it is the next one.
  bool Skip(char c);
  Position PositionOf(size_t offset);
  const Position& position() const { return position_; }
  // The text from here to the end.
  std::string_view rest() const { return text_.substr(at_); }
  // What Next moved over last.
  std::string_view last_token() const { return last_token_; }
  // The next token: a string with its quotes, a word or number, or one character of punctuation.
  std::string_view PeekToken() const;

 private:
  void Step();
  bool SkipComment();

  std::string_view text_, last_token_;
  size_t at_ = 0;
  Position position_;
};

// Where a parser stands that met something it did not expect.
struct JsonPlace {
  // The innermost container that is open; null: none.
  const Json* container = nullptr;
  bool after_key = false;         // a key without its value
  bool root_ended = false;        // the document's value is complete
  const char* noun = "a matrix";  // what messages call the document
};

// What is wrong behind the last token that the parser took.
Problem DiagnoseSyntax(JsonCursor cursor, const JsonPlace& place);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_JSON_JSON_CURSOR_H_
