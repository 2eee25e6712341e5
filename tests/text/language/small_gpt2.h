// SPDX-License-Identifier: Apache-2.0
// A GPT-2 that is small enough to run in a moment, with parameters that are large enough to matter.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/runtime/random.h"
#include "text/language/gpt2_folder.h"

namespace shoal::language {

inline Gpt2Parameters SmallGpt2(std::uint64_t seed = 1) {
  const Gpt2Config config{.vocabulary_size = 50,
                          .positions = 32,
                          .width = 16,
                          .layers = 3,
                          .heads = 2,
                          .begin_token = -1,
                          .end_token = 0};
  Gpt2Parameters parameters = InitialGpt2(config, seed).value();
  runtime::Random random(seed, 1);
  for (float& x : parameters.flat) x += static_cast<float>(0.2 * random.Normal());
  return parameters;
}

inline std::vector<std::int32_t> SomeIds(std::size_t count, std::uint64_t seed = 1) {
  runtime::Random random(seed, 2);
  std::vector<std::int32_t> ids(count);
  for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random.Below(50));
  return ids;
}

}  // namespace shoal::language
