// SPDX-License-Identifier: Apache-2.0
// Where GPT-2's parameters lie in one flat array, under Hugging Face's names.
//
// "transformer.wte.weight" [V, D], "transformer.wpe.weight" [N, D], and of block i under
// "transformer.h.<i>.": ln_1, attn.c_attn [D, 3 D], attn.c_proj [D, D], ln_2, mlp.c_fc [D, 4 D],
// mlp.c_proj [4 D, D], each with .weight and .bias; "transformer.ln_f". Matrices of blocks stand as
// Hugging Face's Conv1D stores them, [in, out]: y = x W + b.
//
// Starts are GPT-2's: normal of deviation 0.02, divided by sqrt(2 layers) where a block's half
// joins the residual; norms 1, biases 0.
#pragma once

#include <string>

#include "rl/model/parameter_layout.h"
#include "text/language/gpt2_config.h"

namespace shoal::language {

// "transformer.": before every name; files without it are read, too.
inline constexpr std::string_view kPrefix = "transformer.";

// "transformer.h.<block>.".
std::string BlockPrefix(std::int64_t block);

// REQUIRES: config.Validate() is OK.
model::ParameterLayout Gpt2Layout(const Gpt2Config& config);

}  // namespace shoal::language
