// SPDX-License-Identifier: Apache-2.0
#include "inference/client/row.h"

#include <utility>

#include "platform/content/overlay_key.h"

namespace shoal::inference::client {

ContentReference ContentOf(std::string text) {
  const content::ContentKey key = content::KeyOf(text);
  return {.key = key, .text = std::make_shared<const std::string>(std::move(text))};
}

CandidateList::CandidateList(std::vector<ContentReference> candidates)
    : CandidateList(nullptr, {}, std::move(candidates)) {}

CandidateList::CandidateList(std::shared_ptr<const CandidateList> base,
                             std::vector<std::uint32_t> removed,
                             std::vector<ContentReference> appended)
    : base_(std::move(base)), removed_(std::move(removed)), candidates_(std::move(appended)) {
  std::vector<content::ContentKey> keys;
  keys.reserve(candidates_.size());
  for (const ContentReference& candidate : candidates_) {
    keys.push_back(candidate.key);
    key_bytes_ += candidate.key.AsBytes();
  }
  key_ =
      base_ == nullptr ? content::KeyOf(keys) : content::OverlayKey(base_->key(), removed_, keys);
}

const ContentReference& CandidateList::at(std::size_t action) const {
  if (base_ == nullptr) return candidates_[action];
  return action < base_->size() ? base_->at(action) : candidates_[action - base_->size()];
}

proto::Catalog CandidateList::AsCatalog() const {
  proto::Catalog catalog;
  catalog.set_key(std::string(key_.AsBytes()));
  catalog.set_candidate_keys(key_bytes_);
  return catalog;
}

proto::Overlay CandidateList::AsOverlay() const {
  proto::Overlay overlay;
  overlay.set_key(std::string(key_.AsBytes()));
  overlay.set_base(std::string(base_->key().AsBytes()));
  overlay.mutable_removed()->Assign(removed_.begin(), removed_.end());
  overlay.set_appended_keys(key_bytes_);
  return overlay;
}

}  // namespace shoal::inference::client
