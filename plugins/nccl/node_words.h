// What tasks on several nodes say to each other, a line each, in fields between tabs. First they show each
// other that they know the launch's secret; orders of task 0 and their answers follow.
//
//   task 0   cudnn-ci-nodes/1 NONCE0
//   other    NONCE MAC HELLO...     the MAC: of both nonces and the hello
//   task 0   MAC REFUSAL            likewise; an empty refusal lets the other in
//
// Pure, but for FreshNonce.
#ifndef CUDNN_CI_PLUGINS_NCCL_NODE_WORDS_H_
#define CUDNN_CI_PLUGINS_NCCL_NODE_WORDS_H_

#include <map>
#include <string>
#include <vector>

#include "nccl/rank_job.h"
#include "nccl/rank_tally.h"

namespace cudnn_ci {

// A tab, the end of a line or a NUL in a field becomes a blank.
std::string Fields(const std::vector<std::string>& fields);
std::vector<std::string> FieldsOf(const std::string& line);

// HMAC-SHA256 in hexadecimal digits (RFC 2104).
std::string MacOf(const std::string& key, const std::string& text);

// Who comes to task 0, and to what.
struct NodeHello {
  int task = 0, tasks = 0, gpus = 0;
  std::string host;
  std::string devices;  // CUDA_VISIBLE_DEVICES
  std::string about;    // the case: which collectives, of which subject; the same for all
};

inline constexpr int kMostNodeRanks = 128;

// "task 1 on b".
std::string NameOf(const NodeHello& hello);
// Why one who comes does not fit those who are there, task 0 first; empty: it
// does.
std::string Misfit(const std::vector<NodeHello>& there, const NodeHello& hello);

// Throws std::runtime_error where the kernel has no random bits.
std::string FreshNonce();
std::string Challenge(const std::string& nonce0);
// Empty: the line is no challenge.
std::string NonceOf(const std::string& challenge);
std::string Greeting(const std::string& secret, const std::string& nonce0, const std::string& nonce,
                     const NodeHello& hello);
// False: who wrote it does not know the secret, or it is no greeting.
bool ReadGreeting(const std::string& secret, const std::string& nonce0, const std::string& line,
                  std::string* nonce, NodeHello* hello);
std::string Answer(const std::string& secret, const std::string& nonce0, const std::string& nonce,
                   const std::string& refusal);
bool ReadAnswer(const std::string& secret, const std::string& nonce0, const std::string& nonce,
                const std::string& line, std::string* refusal);

// The first fields of orders, and of what is said to them.
inline constexpr char kRunOrder[] = "run";      // first rank, all ranks, the way's name
inline constexpr char kIdOrder[] = "id";        // the words of RankWord::kId
inline constexpr char kStopOrder[] = "stop";    // end the ranks: "stopped"
inline constexpr char kAloneOrder[] = "alone";  // the way's name; "alone" and the outcome
inline constexpr char kVerdict[] = "verdict";   // the end
inline constexpr char kOfRank[] = "rank";       // its number, and what it said
inline constexpr char kStopped[] = "stopped";

std::string TextOf(const RanksOutcome& outcome);
// False: it is none.
bool ReadOutcome(const std::string& line, RanksOutcome* outcome);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_NODE_WORDS_H_
