// SPDX-License-Identifier: Apache-2.0
// Reassembles one version of the parameters from its parts, and checks it.
//
// It holds the file that it returned last, or that Hold gave it, so that the parts may carry the
// difference from that file. Where a stream breaks within a file, another stream may go on from
// there, if it says that it brings the same file. Not thread-safe. After an error the assembly is
// empty and accepts the next version's first part; after one in a difference it also holds no file.
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
  // announced total; that of a file which results from a difference is bounded by the file before.
  explicit Assembly(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // Returns the whole version once its last part was added, and nullopt before. Errors:
  //   FAILED_PRECONDITION the learner uses another protocol version, or this is a difference from a
  //                       file that is not held
  //   INVALID_ARGUMENT    parts are not consecutive, or exceed the total, or a difference is
  //                       damaged
  //   DATA_LOSS           the SHA-256 is missing or different, or a difference is cut off
  //   RESOURCE_EXHAUSTED  the version is larger than max_bytes
  absl::StatusOr<std::optional<Parameters>> Add(const proto::ParametersPart& part);

  // The parts of another stream follow. The first one is at offset 0, or it goes on from partial()
  // and repeats the protocol version and the SHA-256.
  void BeginStream();
  // Returns what another stream may go on from. Returns nullopt where no version was begun, where
  // its parts carry a difference, and where its first part did not state the SHA-256.
  std::optional<proto::PartialParameters> partial() const;

  // Holds a file that came in another way.
  void Hold(Parameters parameters);
  // Null where no file is held.
  const ParametersPointer& held() const { return held_; }

 private:
  absl::StatusOr<std::optional<Parameters>> AddChecked(const proto::ParametersPart& part);
  // Checks the first part of a stream, or of a version.
  absl::Status CheckFirst(const std::string& name, const proto::ParametersPart& part) const;
  absl::Status CheckDifference(const std::string& name,
                               const proto::ParametersDifference& difference) const;
  // Returns the file that the received bytes are, or describe.
  absl::StatusOr<std::string> File();

  const std::uint64_t max_bytes_;
  // The first part of the version that is being assembled.
  std::optional<proto::ParametersPart> first_;
  std::string bytes_;
  // Whether the next part is the first one of a stream.
  bool stream_begins_ = false;
  ParametersPointer held_;
};

// The maximum number of data bytes in one part.
inline constexpr std::size_t kPartBytes = std::size_t{1} << 20;

// What is sent of a version: its file, or the difference of that file from `base`'s.
struct Shipment {
  // REQUIRES: it has its SHA-256, and so has `base`.
  ParametersPointer published;
  // Null where the file is sent.
  ParametersPointer base = nullptr;
  std::shared_ptr<const std::string> difference = nullptr;

  const std::string& bytes() const { return difference ? *difference : *published->bytes; }
};

// Returns the part that begins at `offset`. `begins_stream` says that it is the first one of its
// stream, though the offset may not be 0.
proto::ParametersPart PartAt(const Shipment& shipment, std::uint64_t offset,
                             bool begins_stream = false);

}  // namespace shoal::parameters
