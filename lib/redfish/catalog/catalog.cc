// SPDX-License-Identifier: Apache-2.0
#include "redfish/catalog/catalog.h"

#include <utility>

#include "redfish/catalog/candidate_generator.h"

namespace shoal::redfish {
namespace {

std::string Join(const Catalog::Counts& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    text += (text.empty() ? "" : ", ") + name + " " + std::to_string(count);
  }
  return text;
}

}  // namespace

Catalog::Catalog(std::string capture_name, std::unique_ptr<const ServiceOutline> outline,
                 std::vector<Candidate> candidates, Counts left_out)
    : capture_name_(std::move(capture_name)),
      outline_(std::move(outline)),
      candidates_(std::move(candidates)),
      left_out_(std::move(left_out)) {
  std::vector<content::ContentKey> keys;
  keys.reserve(candidates_.size());
  for (const Candidate& candidate : candidates_) {
    index_.emplace(candidate.key, static_cast<std::int64_t>(keys.size()));
    of_resource_[candidate.resource].push_back(static_cast<std::uint32_t>(keys.size()));
    keys.push_back(candidate.key);
    ++counts_[candidate.method];
    if (!candidate.slots.empty()) ++counts_["slots"];
  }
  key_ = content::KeyOf(keys);
}

absl::StatusOr<std::shared_ptr<const Catalog>> Catalog::Build(const Capture& capture,
                                                              const Schema& schema) {
  auto outline = std::make_unique<const ServiceOutline>(capture, schema);
  CandidateGenerator generator(*outline, schema);
  generator.AddWait();
  for (const auto& [uri, resource] : capture.resources()) generator.Add(uri, resource);
  return std::shared_ptr<const Catalog>(new Catalog(capture.name(), std::move(outline),
                                                    std::move(generator.candidates),
                                                    std::move(generator.left_out)));
}

std::int64_t Catalog::IndexOf(const content::ContentKey& key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? -1 : found->second;
}

std::span<const std::uint32_t> Catalog::OfResource(const std::string& uri) const {
  const auto found = of_resource_.find(uri);
  return found == of_resource_.end() ? std::span<const std::uint32_t>() : found->second;
}

std::string Catalog::Summary() const {
  return capture_name_ + ": " + std::to_string(size()) + " candidates (" + Join(counts_) +
         "); left out: " + Join(left_out_);
}

}  // namespace shoal::redfish
