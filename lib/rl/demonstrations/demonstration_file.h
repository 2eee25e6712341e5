// SPDX-License-Identifier: Apache-2.0
// Recorded demonstrations in memory: episodes, the texts that they refer to, and what could not be
// recorded.
//
//   SHOAL_RETURN_IF_ERROR(WriteDemonstrations("expert.demos", recorded));
//   SHOAL_ASSIGN_OR_RETURN(const DemonstrationFile file, ReadDemonstrations("expert.demos"));
//
// proto/demonstration.proto describes each part. Equal contents give equal bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "proto/demonstration.pb.h"

namespace shoal::demonstrations {

struct DemonstrationFile {
  // All chunks of the file merged into one, in their order.
  proto::DemonstrationChunk all;
  // For each demonstration, the file offset of the chunk that holds it.
  std::vector<std::uint64_t> offsets;
};

// Writes atomically: `path` is the old file or the new one. Returns INVALID_ARGUMENT for contents
// that ReadDemonstrations would refuse, RESOURCE_EXHAUSTED beyond the limits of chunk_file.h.
absl::Status WriteDemonstrations(const std::string& path,
                                 const proto::DemonstrationChunk& demonstrations);

// Returns NOT_FOUND, or an error that names the file, the offset, and what is wrong there:
// DATA_LOSS for damage, INVALID_ARGUMENT for contents that break the rules of
// proto/demonstration.proto.
absl::StatusOr<DemonstrationFile> ReadDemonstrations(const std::string& path);
// The same for bytes in memory; errors do not name a file.
absl::StatusOr<DemonstrationFile> ParseDemonstrations(std::string_view bytes);

// Returns a name such as "demonstration 12, 5 pxe_once on dell-r750".
std::string NameOf(const DemonstrationFile& file, int demonstration);

// A readable summary of a file of demonstrations.
//
// Returns a line for each goal and capture (episodes, mean length, mutations relative to the
// optimum), then what was left out and why, then totals.
std::string Summarise(const DemonstrationFile& file);

}  // namespace shoal::demonstrations
