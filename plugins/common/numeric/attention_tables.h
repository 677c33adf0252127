// Operands of an attention that say where its rows lie: lengths, page tables, ragged offsets. Must not know
// CUDA, cuDNN or the SDK.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_TABLES_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_TABLES_H_

#include <cstdint>
#include <vector>

#include "common/numeric/attention_numbers.h"
#include "common/numeric/attention_spec.h"

namespace cudnn_ci {

// The page of each part of a sequence, [entry][part], of `entries` times `parts` pages and some spare ones:
// in no order, other ones for another seed, the same for the same.
std::vector<std::int64_t> ShuffledPages(std::int64_t entries, std::int64_t parts, std::uint64_t seed);

// Where each sequence begins if they lie behind one another, and where the last one ends.
std::vector<std::int64_t> StartsOf(const std::vector<std::int32_t>& lengths);

// What an operand of a role from kLengthsQ on holds. Offsets are in elements.
std::vector<float> AttentionTable(const AttentionProblemSpec& spec, AttentionRole role);

// Puts all tables that are inputs of the problem beside the numbers.
void StoreTables(const AttentionProblemSpec& spec, AttentionNumbers* numbers);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_TABLES_H_
