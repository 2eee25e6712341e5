// SPDX-License-Identifier: Apache-2.0
#include "inference/client/row.h"

#include <utility>

namespace shoal::inference::client {

CandidateList::CandidateList(std::vector<ContentReference> candidates)
    : candidates_(std::move(candidates)) {
  std::vector<content::ContentKey> keys;
  keys.reserve(candidates_.size());
  for (const ContentReference& candidate : candidates_) {
    keys.push_back(candidate.key);
    key_bytes_ += candidate.key.AsBytes();
  }
  key_ = content::KeyOf(keys);
}

}  // namespace shoal::inference::client
