// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/model_version.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <cstdio>

namespace shoal::embedding {

std::string ModelVersion(std::string_view kind, std::string_view stated,
                         std::span<const float> parameters) {
  const std::uint64_t seed = XXH3_64bits(stated.data(), stated.size());
  char digits[24];
  std::snprintf(digits, sizeof digits, "-%016llx",
                static_cast<unsigned long long>(
                    XXH3_64bits_withSeed(parameters.data(), parameters.size_bytes(), seed)));
  return std::string(kind) + digits;
}

std::string StatedPrecision(runtime::DType precision) {
  if (precision == runtime::DType::kFloat32) return "";
  return std::string(Name(precision)) + " ";
}

}  // namespace shoal::embedding
