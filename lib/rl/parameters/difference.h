// SPDX-License-Identifier: Apache-2.0
// The difference of one safetensors file from another, for who has the other one already. Applying
// it returns exactly the file that it was made of, whatever its tensors hold.
//
// A difference is one zstd frame. What it unpacks to begins with the header of the file. In place
// of a tensor's n values of w bytes follow w planes of n bytes: the lowest bytes of all values,
// then the next ones. A value here is the unsigned number that has the same bits, minus that of the
// base, modulo 2^(8w) and with the sign in the lowest bit (zigzag). Between two updates most values
// of a policy move by little, so the higher planes are nearly empty. A tensor that the base does
// not have with the same dtype and shape is taken from zeros.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::parameters {

// Returns INVALID_ARGUMENT or DATA_LOSS if either is no safetensors file, and INVALID_ARGUMENT if
// `file` is larger than MostFileBytes(base.size()).
absl::StatusOr<std::string> MakeDifference(std::string_view base, std::string_view file);

// Returns the file, which is of `file_bytes`. Returns INVALID_ARGUMENT or DATA_LOSS if `difference`
// is damaged, is of another size, or if that size is above MostFileBytes(base.size()), which is
// found out before memory is taken for it. A difference from another base is noticed only where its
// structure shows it, so compare digests.
absl::StatusOr<std::string> ApplyDifference(std::string_view base, std::string_view difference,
                                            std::uint64_t file_bytes);

// Returns the size of the largest file that may be described as a difference from a base of so many
// bytes: twice as many, as where all tensors get values of twice the width, and 1 MiB.
constexpr std::uint64_t MostFileBytes(std::uint64_t base_bytes) {
  return 2 * base_bytes + (std::uint64_t{1} << 20);
}

}  // namespace shoal::parameters
