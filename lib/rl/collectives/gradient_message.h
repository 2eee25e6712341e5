// SPDX-License-Identifier: Apache-2.0
// The messages of ranks that share parameters without waiting for one another, and how they travel
// over a socket.
//
// A rank sends contributions and gets shared parameters in return (gradient_client.h,
// gradient_hub.h). Each message is a header of fixed size, an array of floats and a note, which
// belongs to those who use the exchange. Either side may send a failure in place of a message
// (rank_failure.h), which the receiving function returns as its error. Both sides have the same
// byte order. Returned errors, besides a peer's failure: those of socket.h, and INTERNAL, which
// names the peer, for anything that is no message of this exchange or larger than `limits`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/collectives/socket.h"

namespace shoal::collectives {

// Which parameters: how many updates made them. A new epoch begins where parameters go back to
// earlier ones, so no two have the same number.
struct ParameterNumber {
  std::uint64_t epoch = 0;
  std::uint64_t updates = 0;

  friend bool operator==(const ParameterNumber&, const ParameterNumber&) = default;
};

struct Contribution {
  // The parameters that the gradient was computed from.
  ParameterNumber from = {};
  // Empty where the rank only asks for parameters.
  std::vector<float> gradient = {};
  std::string note = {};
  // Whether this is the rank's last message.
  bool leaves = false;
};

// What became of a contribution.
enum class GradientFate : std::uint32_t {
  kNone,     // there was no gradient
  kApplied,  // it has changed the parameters
  kStale,    // dropped: the parameters it was computed from are too old
  kRefused,  // dropped: the holder of the parameters would not have it
};
// The names of logs and metrics: "none", "applied", "stale" and "refused".
const char* ToString(GradientFate fate);

struct SharedParameters {
  ParameterNumber number = {};
  GradientFate fate = GradientFate::kNone;
  // Whether the rank is to leave.
  bool stop = false;
  std::vector<float> values = {};
  std::string note = {};
};

struct MessageLimits {
  // The floats of a gradient, which has all or none of them.
  std::size_t gradient_size = 0;
  // The most floats that parameters have, and the most bytes of a note.
  std::size_t max_values = 0;
  std::size_t max_note_bytes = std::size_t{1} << 20;
};

absl::Status Send(int socket, const Contribution& contribution, Deadline deadline,
                  const std::string& peer);
absl::Status Send(int socket, const SharedParameters& shared, Deadline deadline,
                  const std::string& peer);
absl::StatusOr<Contribution> ReceiveContribution(int socket, const MessageLimits& limits,
                                                 Deadline deadline, const std::string& peer);
absl::StatusOr<SharedParameters> ReceiveShared(int socket, const MessageLimits& limits,
                                               Deadline deadline, const std::string& peer);

}  // namespace shoal::collectives
