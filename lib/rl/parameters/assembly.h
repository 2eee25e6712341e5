// SPDX-License-Identifier: Apache-2.0
// Puts the parts of one version together again and checks them.
//
// Not thread-safe. After an error the assembly is empty and takes the next version's first part.
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
  // `max_bytes`: a larger version is refused. Memory grows with what came, not with what is said.
  explicit Assembly(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // The whole version with its last part.
  //   FAILED_PRECONDITION the learner speaks another version of the protocol.
  //   INVALID_ARGUMENT    parts that do not follow one another, or pass the total.
  //   DATA_LOSS           the SHA-256 is missing or another.
  //   RESOURCE_EXHAUSTED  larger than max_bytes.
  absl::StatusOr<std::optional<Parameters>> Add(const proto::ParametersPart& part);

 private:
  absl::StatusOr<std::optional<Parameters>> AddChecked(const proto::ParametersPart& part);

  const std::uint64_t max_bytes_;
  // The first part of the version that is being assembled.
  std::optional<proto::ParametersPart> first_;
  std::string bytes_;
};

// Data bytes of one part at most.
inline constexpr std::size_t kPartBytes = std::size_t{1} << 20;

// The part of `parameters` that begins at `offset`; the last one has the SHA-256 `digest`.
proto::ParametersPart PartAt(const Parameters& parameters, const std::string& digest,
                             std::uint64_t offset);

}  // namespace shoal::parameters
