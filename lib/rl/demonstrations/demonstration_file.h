// SPDX-License-Identifier: Apache-2.0
// Recorded demonstrations, whole in memory: episodes, the texts that they name, and what could not
// be recorded.
//
//   SHOAL_RETURN_IF_ERROR(WriteDemonstrations("expert.demos", recorded));
//   SHOAL_ASSIGN_OR_RETURN(const DemonstrationFile file, ReadDemonstrations("expert.demos"));
//
// proto/demonstration.proto says what each part is. Equal contents give equal bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "proto/demonstration.pb.h"

namespace shoal::demonstrations {

struct DemonstrationFile {
  // All chunks of the file as one, in their order.
  proto::DemonstrationChunk all;
  // For each demonstration, where in the file the chunk begins that holds it.
  std::vector<std::uint64_t> offsets;
};

// Atomic: `path` is the old file or the new one. INVALID_ARGUMENT for what ReadDemonstrations would
// refuse; RESOURCE_EXHAUSTED past the limits of chunk_file.h.
absl::Status WriteDemonstrations(const std::string& path,
                                 const proto::DemonstrationChunk& demonstrations);

// NOT_FOUND; otherwise an error that names the file, the offset, and what is wrong there: damage is
// DATA_LOSS, contents that break the rules of proto/demonstration.proto INVALID_ARGUMENT.
absl::StatusOr<DemonstrationFile> ReadDemonstrations(const std::string& path);
// The same of bytes in memory; errors do not name a file.
absl::StatusOr<DemonstrationFile> ParseDemonstrations(std::string_view bytes);

// "demonstration 12, 5 pxe_once on dell-r750".
std::string NameOf(const DemonstrationFile& file, int demonstration);

}  // namespace shoal::demonstrations
