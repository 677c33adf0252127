// Single statements of Python sources, told from their text: what they call, and what a name stands for.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_STATEMENTS_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_STATEMENTS_H_

#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci {

// `NAME = HEAD.FUNCTION("TEXT", FURTHER)`, with or without a name and further arguments.
struct PlainCall {
  std::string head;      // the first name: "ctypes", or the function's own where nothing stands before it
  std::string function;  // the last name: "CDLL"
  std::string text;      // the first argument
};

// The statements of a line, between its semicolons, that are such a call and nothing else. Names may be
// annotated (`lib: ctypes.CDLL = ...`), and there may be several. None of a line that begins a block.
std::vector<PlainCall> PlainCallsIn(std::string_view line);

// Whether the source itself says what a name stands for: a class of it, a value, or something of another
// module of its package. What it defines as a function is not looked for.
bool IsBoundByTheSource(std::string_view source, const std::string& name);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_STATEMENTS_H_
