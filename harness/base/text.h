// Text: what comes from outside is cleaned here, once, where it enters (DESIGN.md, section 8). Knows no
// format but UTF-8 and XML's character set.
#ifndef CUDNN_CI_BASE_TEXT_H_
#define CUDNN_CI_BASE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci {

// Bytes from outside, as legal XML 1.0 text in UTF-8: terminal sequences removed, CR LF and CR as LF,
// invalid UTF-8 as \xNN, characters XML forbids as \xNN or \uNNNN. Idempotent.
std::string CleanText(std::string_view bytes);
// The same of *text. Takes no memory where it is plain ASCII already.
void CleanInPlace(std::string* text);

// Clean text on one line: line feeds and tabs become spaces; at most max_bytes bytes, cut on a character
// border with "..." at the end. What reports do with their texts.
std::string SingleLine(std::string_view text, size_t max_bytes = 250);

// The first bytes of clean text, cut on a character border: of a digest, or a time.
std::string Beginning(std::string_view text, size_t max_bytes);

// SingleLine of CleanText: for bytes from outside that become part of no record.
std::string CleanLine(std::string_view bytes, size_t max_bytes = 250);

// The first `head` and the last `tail` bytes with a line between them that says how many were left
// out; unchanged when it fits. Cuts on character borders.
std::string HeadAndTail(std::string_view text, size_t head, size_t tail);

bool IsValidUtf8(std::string_view bytes);
// Whether all bytes are of 0x20 to 0x7E, and none is one of the two. Quick: most texts are.
bool IsPrintableAscii(std::string_view bytes, char but = 0x7F, char nor = 0x7F);

// Shell-style pattern: * any run, ? any one character, everything else literal.
bool GlobMatch(std::string_view pattern, std::string_view text);

// GoogleTest's filter: patterns separated by ':', those after the first '-' exclude.
bool FilterMatch(std::string_view filter, std::string_view text);

// The candidate nearest to `word` by edit distance when it is near enough to be a slip; else empty.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

std::vector<std::string> Split(std::string_view text, char separator);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view Trim(std::string_view text);

// %.3f with a point in every locale; NaN, infinities and negatives as 0.000. Seconds in reports.
std::string FixedSeconds(double seconds);

// FNV-1a, 64 bits: shards and seeds. https://www.rfc-editor.org/rfc/rfc9923
uint64_t Fnv1a(std::string_view text);

// SHA-256 in lower-case hex (FIPS 180-4).
std::string Sha256Hex(std::string_view bytes);

// As a word of a POSIX shell command line, quoted if need be.
std::string ShellQuote(std::string_view word);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_TEXT_H_
