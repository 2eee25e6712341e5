// SPDX-License-Identifier: Apache-2.0
#include "inference/service/replay_sink.h"

#include <string>
#include <string_view>
#include <utility>

#include "inference/service/unroll_signature.h"
#include "platform/transport/wire_tensor.h"

namespace shoal::inference {
namespace {

void AddColumns(const std::vector<UnrollColumn>& columns,
                google::protobuf::RepeatedPtrField<proto::NamedTensor>& out) {
  for (const UnrollColumn& column : columns) {
    proto::NamedTensor& named = *out.Add();
    named.set_name(column.name);
    transport::ToWire(column.values, *named.mutable_tensor());
  }
}

void SetVersion(const parameters::Version& version, proto::PolicyVersion& out) {
  out.set_epoch(version.epoch);
  out.set_step(version.step);
}

}  // namespace

proto::Item ItemOf(const Unroll& unroll, const std::string& table,
                   const std::string& encoder_version) {
  proto::UnrollId id;
  id.set_environment_id(unroll.environment);
  id.set_incarnation(unroll.incarnation);
  id.set_first_sequence(unroll.first_sequence);
  proto::Unroll payload;
  *payload.mutable_id() = id;
  payload.set_length(unroll.length);
  AddColumns(unroll.step_columns, *payload.mutable_step_columns());
  AddColumns(unroll.unroll_columns, *payload.mutable_unroll_columns());
  payload.set_encoder_version(encoder_version);
  proto::Item item;
  *item.mutable_id() = std::move(id);
  item.set_table(table);
  SetVersion(unroll.oldest, *item.mutable_oldest_version());
  SetVersion(unroll.newest, *item.mutable_newest_version());
  item.set_steps(unroll.steps);
  item.set_priority(1);
  for (const content::ContentKey& key : unroll.catalog_keys) {
    payload.add_catalog_keys(std::string(key.AsBytes()));
    item.add_catalog_keys(std::string(key.AsBytes()));
  }
  for (const content::ContentKey& key : unroll.content_keys) {
    item.add_content_keys(std::string(key.AsBytes()));
  }
  item.set_payload(payload.SerializeAsString());
  return item;
}

absl::StatusOr<proto::Embeddings> StoreProvider::FindEmbeddings(std::span<const std::string> keys) {
  proto::Embeddings found;
  found.set_encoder_version(contents_.encoder_version());
  std::string vectors;
  vectors.reserve(keys.size() * contents_.embedding_size() * sizeof(std::uint16_t));
  for (const std::string& bytes : keys) {
    SHOAL_ASSIGN_OR_RETURN(const content::ContentKey key,
                           content::ContentKey::FromBytes(std::string_view(bytes)));
    const embedding::Embedding embedding = contents_.Find(key);
    if (!embedding) return runtime::NotFound("content " + key.ToHex() + " is not kept any more");
    found.mutable_keys()->append(bytes);
    vectors.append(reinterpret_cast<const char*>(embedding->data()),
                   embedding->size() * sizeof(std::uint16_t));
  }
  proto::Tensor& tensor = *found.mutable_vectors();
  tensor.set_dtype(proto::FLOAT16);
  tensor.add_shape(static_cast<std::int64_t>(keys.size()));
  tensor.add_shape(static_cast<std::int64_t>(contents_.embedding_size()));
  tensor.set_data(std::move(vectors));
  return found;
}

absl::StatusOr<std::variant<proto::Catalog, proto::Overlay>> StoreProvider::FindCatalog(
    const std::string& key) {
  SHOAL_ASSIGN_OR_RETURN(const content::ContentKey parsed,
                         content::ContentKey::FromBytes(std::string_view(key)));
  const std::optional<CandidateList> list = catalogs_.Find(parsed);
  if (!list) return runtime::NotFound("catalog " + parsed.ToHex() + " is not kept any more");
  if (!list->base) {
    proto::Catalog catalog;
    catalog.set_key(key);
    catalog.set_candidate_keys(std::string(content::AsBytes(list->candidates)));
    return catalog;
  }
  proto::Overlay overlay;
  overlay.set_key(key);
  overlay.set_base(std::string(list->base->AsBytes()));
  overlay.mutable_removed()->Assign(list->removed.begin(), list->removed.end());
  overlay.set_appended_keys(std::string(content::AsBytes(list->candidates)));
  return overlay;
}

absl::Status ReplaySink::TryInsert(const Unroll& unroll) {
  if (inserter_ == nullptr) return absl::OkStatus();
  proto::Item item = ItemOf(unroll, table_, encoder_version_);
  const std::string signature = SignatureOf(unroll);
  auto stated = stated_.find(signature);
  if (stated == stated_.end()) {
    SHOAL_ASSIGN_OR_RETURN(std::string key, inserter_->StateSignature(signature));
    stated = stated_.emplace(signature, std::move(key)).first;
  }
  item.set_signature(stated->second);
  return inserter_->TryInsert(std::move(item));
}

}  // namespace shoal::inference
