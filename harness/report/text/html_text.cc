// Text as HTML. See html_text.h.
#include "report/text/html_text.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "report/text/pipeline_commands.h"

namespace cudnn_ci {
namespace {

std::string Escaped(std::string_view clean) {
  std::string out;
  for (const char c : clean) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

unsigned Digit(char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); }

// "sha256-..." of a style or script, as a policy names it.
std::string PolicyHash(std::string_view content) {
  constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string hex = Sha256Hex(content);
  std::array<unsigned, 33> bytes{};  // one more than there are, to make whole groups of three
  for (size_t i = 0; i < 32; ++i) bytes[i] = Digit(hex[2 * i]) << 4 | Digit(hex[2 * i + 1]);
  std::string text = "'sha256-";
  for (size_t i = 0; i < 33; i += 3) {
    const unsigned group = bytes[i] << 16 | bytes[i + 1] << 8 | bytes[i + 2];
    for (const unsigned shift : {18U, 12U, 6U, 0U}) text += kAlphabet[group >> shift & 63U];
  }
  text.back() = '=';
  return text + "'";
}

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
         c == '_';
}

// "https://..." or "http://...", of characters that an address has.
bool IsWebAddress(std::string_view text) {
  const auto begins = [&](std::string_view head) { return text.substr(0, head.size()) == head; };
  if (text.size() > 2000 || (!begins("https://") && !begins("http://"))) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < '\x7f' && c != '"' && c != '<' && c != '>' && c != '\\';
  });
}

}  // namespace

std::string HtmlLine(std::string_view text, size_t max_bytes) { return Escaped(SingleLine(text, max_bytes)); }

std::string HtmlText(std::string_view text, size_t max_bytes) {
  return Escaped(HeadAndTail(text, max_bytes / 4, max_bytes - max_bytes / 4));
}

std::string JsonInHtml(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  // Outside of strings JSON has none of them.
  for (const char c : WithoutPipelineCommands(json, kInJson)) {
    if (c == '<' || c == '>' || c == '&') {
      constexpr char kHex[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      out += std::string("\\u00") + kHex[byte >> 4] + kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out;
}

std::string LinkHtml(std::string_view address) {
  const std::string text = HtmlLine(address, 2000);
  return IsWebAddress(address) ? "<a href=\"" + text + "\" rel=\"noopener noreferrer\">" + text + "</a>"
                               : text;
}

std::string FragmentOf(std::string_view bytes) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsPlain(c)) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

std::string AnchorName(std::string_view text) {
  std::string name(text.substr(0, 200));
  for (char& c : name)
    if (!IsPlain(c)) c = '_';
  return name;
}

std::string HtmlHead(std::string_view mark, std::string_view title, std::string_view style,
                     std::string_view script) {
  std::string head = "<!DOCTYPE html>\n<!--" + std::string(mark) + "-->\n<html lang=\"en\">\n<head>\n";
  head +=
      "<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ";
  head += "base-uri 'none'; form-action 'none'; style-src " + PolicyHash(style);
  if (!script.empty()) head += "; script-src " + PolicyHash(script);
  head += "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  head += "<meta name=\"referrer\" content=\"no-referrer\">\n<title>" + HtmlLine(title) + "</title>\n<style>";
  head += style;
  return head + "</style>\n</head>\n<body>\n";
}

}  // namespace cudnn_ci
