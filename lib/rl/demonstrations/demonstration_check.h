// SPDX-License-Identifier: Apache-2.0
// Checks the contents of a demonstration file whose bytes are intact.
//
// Chunks are checked in their order. A chunk may only refer to things in itself or in an earlier
// chunk. Not thread-safe.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/status.h"
#include "proto/demonstration.pb.h"

namespace shoal::demonstrations {

class DemonstrationCheck {
 public:
  // Returns INVALID_ARGUMENT naming the part that is wrong.
  absl::Status Add(const proto::DemonstrationChunk& chunk);
  // Call it after the last chunk.
  absl::Status Finish() const;

 private:
  absl::Status AddHeader(const proto::DemonstrationHeader& header);
  absl::Status AddContent(const proto::Content& content);
  absl::Status AddCatalog(const proto::Catalog& catalog);
  absl::Status AddOverlay(const proto::Overlay& overlay);
  absl::Status AddDemonstration(const proto::Demonstration& demonstration);
  // Returns the keys of a list. Each candidate must have its text.
  absl::StatusOr<std::vector<content::ContentKey>> ReadCandidates(std::string_view bytes) const;
  absl::Status CheckColumn(const proto::NamedTensor& column, std::uint32_t length) const;

  bool has_header_ = false;
  int demonstrations_ = 0;
  absl::flat_hash_set<content::ContentKey, content::ContentKeyHash> contents_;
  // The number of actions of each catalog and overlay.
  absl::flat_hash_map<content::ContentKey, std::uint64_t, content::ContentKeyHash> lists_;
  absl::flat_hash_set<std::string> ids_;
};

}  // namespace shoal::demonstrations
