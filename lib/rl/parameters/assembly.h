// SPDX-License-Identifier: Apache-2.0
// Reassembles one version of the parameters from its parts, and checks it.
//
// Not thread-safe. After an error the assembly is empty and accepts the next version's first part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "platform/runtime/status.h"
#include "proto/parameters.pb.h"
#include "rl/parameters/parameters_file.h"

namespace shoal::parameters {

class Assembly {
 public:
  // A version above `max_bytes` is refused. Memory grows with the received bytes, not with the
  // announced total.
  explicit Assembly(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // Returns the whole version once its last part was added, and nullopt before. Errors:
  //   FAILED_PRECONDITION the learner uses another protocol version
  //   INVALID_ARGUMENT    parts are not consecutive, or exceed the total
  //   DATA_LOSS           the SHA-256 is missing or different
  //   RESOURCE_EXHAUSTED  the version is larger than max_bytes
  absl::StatusOr<std::optional<Parameters>> Add(const proto::ParametersPart& part);

 private:
  absl::StatusOr<std::optional<Parameters>> AddChecked(const proto::ParametersPart& part);

  const std::uint64_t max_bytes_;
  // The first part of the version that is being assembled.
  std::optional<proto::ParametersPart> first_;
  std::string bytes_;
};

// The maximum number of data bytes in one part.
inline constexpr std::size_t kPartBytes = std::size_t{1} << 20;

// Returns the part of `parameters` that begins at `offset`. The last part carries `digest`, the
// SHA-256.
proto::ParametersPart PartAt(const Parameters& parameters, const std::string& digest,
                             std::uint64_t offset);

}  // namespace shoal::parameters
