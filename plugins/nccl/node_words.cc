#include "nccl/node_words.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "base/random.h"
#include "base/text.h"

namespace cudnn_ci {
namespace {

constexpr char kProtocol[] = "cudnn-ci-nodes/1";
constexpr std::size_t kBlock = 64;  // bytes of SHA-256's

std::string FromHex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::strtol(digits.substr(i, 2).c_str(), nullptr, 16));
  return bytes;
}

std::string Padded(std::string key, char with) {
  if (key.size() > kBlock) key = FromHex(Sha256Hex(key));
  key.resize(kBlock, '\0');
  for (char& c : key) c = static_cast<char>(c ^ with);
  return key;
}

// In a time that does not tell where they differ.
bool SameMac(const std::string& a, const std::string& b) {
  unsigned differs = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    differs |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return differs == 0;
}

std::string Signed(const std::string& secret, const char* who, const std::string& nonces,
                   const std::string& text) {
  return MacOf(secret, Fields({who, nonces}) + "\t" + text);
}

std::string TextOf(const NodeHello& hello) {
  return Fields({std::to_string(hello.task), std::to_string(hello.tasks), std::to_string(hello.gpus),
                 hello.host, hello.devices, hello.about});
}

// A GPU that both use; empty: none.
std::string SharedDevice(const NodeHello& a, const NodeHello& b) {
  const std::vector<std::string> of_b = Split(b.devices, ',');
  for (const std::string& device : Split(a.devices, ','))
    if (device.size() > 4 && std::find(of_b.begin(), of_b.end(), device) != of_b.end()) return device;
  return "";
}

}  // namespace

std::string Fields(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::string field = fields[i];
    for (const char c : {'\t', '\n', '\0'}) std::replace(field.begin(), field.end(), c, ' ');
    line += (i > 0 ? "\t" : "") + field;
  }
  return line;
}

std::vector<std::string> FieldsOf(const std::string& line) { return Split(line, '\t'); }

std::string MacOf(const std::string& key, const std::string& text) {
  constexpr char kOuter = 0x5c, kInner = 0x36;
  return Sha256Hex(Padded(key, kOuter) + FromHex(Sha256Hex(Padded(key, kInner) + text)));
}

std::string NameOf(const NodeHello& hello) {
  return "task " + std::to_string(hello.task) + " on " + hello.host;
}

std::string Misfit(const std::vector<NodeHello>& there, const NodeHello& hello) {
  const NodeHello& own = there.front();
  if (hello.tasks != own.tasks || hello.task < 1 || hello.task >= own.tasks || hello.gpus < 1)
    return NameOf(hello) + " is one of " + std::to_string(hello.tasks) + " tasks and has " +
           std::to_string(hello.gpus) + " GPUs, but " + NameOf(own) + " is one of " +
           std::to_string(own.tasks);
  if (hello.about != own.about)
    return NameOf(hello) + " is at another case: " + hello.about + "; " + NameOf(own) + " is at " + own.about;
  int ranks = hello.gpus;
  for (const NodeHello& other : there) {
    if (other.task == hello.task) return NameOf(hello) + " joined twice, also as " + NameOf(other);
    if (const std::string device = SharedDevice(other, hello); !device.empty())
      return NameOf(other) + " and " + NameOf(hello) + " both use " + device;
    ranks += other.gpus;
  }
  return ranks <= kMostNodeRanks ? ""
                                 : "with " + NameOf(hello) + " there are " + std::to_string(ranks) +
                                       " ranks, more than " + std::to_string(kMostNodeRanks);
}

std::string FreshNonce() {
  std::string nonce;
  for (int i = 0; i < 2; ++i) {
    const Result<std::uint64_t> bits = RandomBits();
    if (!bits.ok()) throw std::runtime_error(bits.error());
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(*bits));
    nonce += text;
  }
  return nonce;
}

std::string Challenge(const std::string& nonce0) { return Fields({kProtocol, nonce0}); }

std::string NonceOf(const std::string& challenge) {
  const std::vector<std::string> fields = FieldsOf(challenge);
  return fields.size() == 2 && fields[0] == kProtocol ? fields[1] : "";
}

std::string Greeting(const std::string& secret, const std::string& nonce0, const std::string& nonce,
                     const NodeHello& hello) {
  const std::string text = TextOf(hello);
  return Fields({nonce, Signed(secret, "other", nonce0 + nonce, text)}) + "\t" + text;
}

bool ReadGreeting(const std::string& secret, const std::string& nonce0, const std::string& line,
                  std::string* nonce, NodeHello* hello) {
  const std::vector<std::string> fields = FieldsOf(line);
  if (fields.size() != 8) return false;
  *nonce = fields[0];
  const std::string text = Fields({fields.begin() + 2, fields.end()});
  if (!SameMac(fields[1], Signed(secret, "other", nonce0 + *nonce, text))) return false;
  hello->task = std::atoi(fields[2].c_str());
  hello->tasks = std::atoi(fields[3].c_str());
  hello->gpus = std::atoi(fields[4].c_str());
  hello->host = fields[5], hello->devices = fields[6], hello->about = fields[7];
  return true;
}

std::string Answer(const std::string& secret, const std::string& nonce0, const std::string& nonce,
                   const std::string& refusal) {
  const std::string text = Fields({refusal});
  return Fields({Signed(secret, "task 0", nonce0 + nonce, text), text});
}

bool ReadAnswer(const std::string& secret, const std::string& nonce0, const std::string& nonce,
                const std::string& line, std::string* refusal) {
  const std::vector<std::string> fields = FieldsOf(line);
  if (fields.size() != 2 || !SameMac(fields[0], Signed(secret, "task 0", nonce0 + nonce, fields[1])))
    return false;
  *refusal = fields[1];
  return true;
}

std::string TextOf(const RanksOutcome& outcome) {
  return Fields({kAloneOrder, std::to_string(static_cast<int>(outcome.end)), std::to_string(outcome.judged),
                 outcome.library, outcome.text});
}

bool ReadOutcome(const std::string& line, RanksOutcome* outcome) {
  const std::vector<std::string> fields = FieldsOf(line);
  if (fields.size() != 5 || fields[0] != kAloneOrder) return false;
  const int end = std::atoi(fields[1].c_str());
  if (end < 0 || end > static_cast<int>(RanksEnd::kRight)) return false;
  outcome->end = static_cast<RanksEnd>(end);
  outcome->judged = std::atoi(fields[2].c_str());
  outcome->library = fields[3], outcome->text = fields[4];
  return true;
}

}  // namespace cudnn_ci
