// SPDX-License-Identifier: Apache-2.0
#include "inference/client/row_encoder.h"

#include <map>
#include <utility>

namespace shoal::inference::client {
namespace {

void FillPolicies(std::span<const Row* const> rows, proto::Rows& out) {
  bool any = false;
  for (const Row* row : rows) any = any || row->policy.has_value();
  if (!any) return;
  std::map<std::string, std::uint32_t> indices;
  for (const Row* row : rows) {
    proto::PolicySelector selector;
    if (row->policy.has_value()) {
      selector = *row->policy;
    } else {
      selector.set_current(true);
    }
    const auto [it, added] =
        indices.emplace(selector.SerializeAsString(), static_cast<std::uint32_t>(indices.size()));
    if (added) *out.add_policies() = std::move(selector);
    out.add_policy_indices(it->second);
  }
}

void FillCatalogs(std::span<const Row* const> rows, proto::Rows& out) {
  std::map<const CandidateList*, std::uint32_t> indices;
  for (const Row* row : rows) {
    if (row->catalog == nullptr) return;
    const auto [it, added] =
        indices.emplace(row->catalog.get(), static_cast<std::uint32_t>(indices.size()));
    if (added) out.add_catalog_keys(std::string(row->catalog->key().AsBytes()));
    out.add_catalogs(it->second);
  }
}

}  // namespace

std::vector<proto::ActRequest> RowEncoder::Encode(std::span<const Row* const> rows) {
  if (contents_.size() > max_known_) contents_.clear();
  if (catalogs_.size() > max_known_) catalogs_.clear();
  std::vector<proto::ActRequest> messages(1);
  std::size_t bytes = 0;
  for (const Row* row : rows) {
    if (row->catalog != nullptr) AddCatalog(*row->catalog, messages, bytes);
    for (const ContentReference& content : row->contents) AddContent(content, messages, bytes);
  }
  FillRows(rows, *messages.back().mutable_rows());
  return messages;
}

void RowEncoder::AddContent(const ContentReference& content,
                            std::vector<proto::ActRequest>& messages, std::size_t& bytes) {
  if (content.text == nullptr) return;
  std::string key = std::string(content.key.AsBytes());
  if (contents_.contains(key)) return;
  if (bytes > 0 && bytes + content.text->size() > kMaxContentBytes) {
    messages.emplace_back();
    bytes = 0;
  }
  bytes += content.text->size() + key.size();
  proto::Content* out = messages.back().add_contents();
  out->set_key(key);
  out->set_text(*content.text);
  contents_.insert(std::move(key));
}

void RowEncoder::AddCatalog(const CandidateList& catalog, std::vector<proto::ActRequest>& messages,
                            std::size_t& bytes) {
  std::string key = std::string(catalog.key().AsBytes());
  if (catalogs_.contains(key)) return;
  if (catalog.base() != nullptr) AddCatalog(*catalog.base(), messages, bytes);
  for (const ContentReference& candidate : catalog.candidates()) {
    AddContent(candidate, messages, bytes);
  }
  bytes += catalog.key_bytes().size();
  if (catalog.base() == nullptr) {
    *messages.back().add_catalogs() = catalog.AsCatalog();
  } else {
    *messages.back().add_overlays() = catalog.AsOverlay();
  }
  catalogs_.insert(std::move(key));
}

void RowEncoder::FillRows(std::span<const Row* const> rows, proto::Rows& out) const {
  const auto count = static_cast<std::int64_t>(rows.size());
  std::vector<std::string> keys(static_cast<std::size_t>(spec_.content_fields_size()));
  std::string numbers;
  for (const Row* row : rows) {
    out.add_environment_ids(row->environment_id);
    out.add_incarnations(row->incarnation);
    out.add_sequences(row->sequence);
    out.add_episode_ids(row->episode_id);
    out.add_modes(row->evaluate ? proto::ROW_MODE_EVALUATE : proto::ROW_MODE_TRAIN);
    out.add_rewards(row->reward);
    out.add_flags(row->flags);
    numbers.append(reinterpret_cast<const char*>(row->observation.data()),
                   row->observation.size() * sizeof(float));
    for (std::size_t field = 0; field < keys.size(); ++field) {
      keys[field] += row->contents[field].key.AsBytes();
    }
  }
  for (std::string& field : keys) out.add_content_keys(std::move(field));
  if (spec_.observations_size() > 0) {
    proto::NamedTensor* observation = out.add_observations();
    observation->set_name(spec_.observations(0).name());
    proto::Tensor* tensor = observation->mutable_tensor();
    tensor->set_dtype(proto::FLOAT32);
    tensor->add_shape(count);
    for (const std::int64_t dimension : spec_.observations(0).shape()) tensor->add_shape(dimension);
    tensor->set_data(std::move(numbers));
  }
  FillCatalogs(rows, out);
  FillPolicies(rows, out);
}

}  // namespace shoal::inference::client
