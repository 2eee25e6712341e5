// SPDX-License-Identifier: Apache-2.0
// The places of GPT-2's parameters in one flat array, under Hugging Face's names.
//
// The names are "transformer.wte.weight" [V, D], "transformer.wpe.weight" [N, D], and for block i
// under "transformer.h.<i>.": ln_1, attn.c_attn [D, 3 D], attn.c_proj [D, D], ln_2, mlp.c_fc
// [D, 4 D], mlp.c_proj [4 D, D], each with .weight and .bias; then "transformer.ln_f". Matrices of
// blocks are stored as in Hugging Face's Conv1D, [in, out]: y = x W + b.
//
// Start values are GPT-2's: normal with standard deviation 0.02, divided by sqrt(2 layers) where a
// half of a block joins the residual; norms 1, biases 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rl/model/parameter_layout.h"
#include "text/language/gpt2_config.h"

namespace shoal::language {

// The prefix of every name; files without it can be read, too.
inline constexpr std::string_view kPrefix = "transformer.";

// Returns "transformer.h.<block>.".
std::string BlockPrefix(std::int64_t block);

// With `tensor_ranks` the layout is that of one of so many tensor-parallel ranks, which divide the
// matrices of blocks among them (tensor_shards.h). REQUIRES: config.Validate() is OK, and
// tensor_ranks divides the heads.
model::ParameterLayout Gpt2Layout(const Gpt2Config& config, std::int64_t tensor_ranks = 1);

// Returns how many parameters are used at once, in the order of the layout: those of both
// embeddings, of each block, and of the last norm. REQUIRES: as above.
std::vector<std::int64_t> Gpt2Units(const Gpt2Config& config, std::int64_t tensor_ranks = 1);

}  // namespace shoal::language
