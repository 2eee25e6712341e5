// SPDX-License-Identifier: Apache-2.0
#include "inference/service/replay_sink.h"

#include <string>
#include <string_view>
#include <utility>

#include "inference/service/unroll_signature.h"
#include "platform/runtime/log.h"

namespace shoal::inference {
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
  SHOAL_ASSIGN_OR_RETURN(const std::string signature, StatedSignature(unroll));
  if (!chunker_) {
    proto::Item item = HeadOf(unroll, to_);
    item.set_signature(signature);
    return inserter_->TryInsert(std::move(item), WholeOf(unroll, to_));
  }
  const absl::Status before = InsertReady();
  if (absl::IsResourceExhausted(before)) return before;
  SHOAL_RETURN_IF_ERROR(chunker_->Add(unroll, signature));
  const absl::Status after = InsertReady();
  // What is left goes before the next unroll.
  return after.ok() || absl::IsResourceExhausted(after) ? before : after;
}

absl::StatusOr<std::string> ReplaySink::StatedSignature(const Unroll& unroll) {
  const std::string signature = SignatureOf(unroll);
  auto stated = stated_.find(signature);
  if (stated == stated_.end()) {
    SHOAL_ASSIGN_OR_RETURN(std::string key, inserter_->StateSignature(signature));
    stated = stated_.emplace(signature, std::move(key)).first;
  }
  return stated->second;
}

void ReplaySink::Flush() {
  if (inserter_ == nullptr || !chunker_) return;
  chunker_->Flush();
  const absl::Status status = InsertReady();
  if (status.ok()) return;
  spdlog::warn("event=unrolls_dropped count={} reason={}", chunker_->ready().size(),
               runtime::Quoted(runtime::Message(status)));
}

absl::Status ReplaySink::InsertReady() {
  absl::Status first_error;
  auto& ready = chunker_->ready();
  while (!ready.empty()) {
    const absl::Status status = inserter_->TryInsert(std::move(ready.front()));
    if (absl::IsResourceExhausted(status)) return status;
    first_error.Update(status);
    ready.pop_front();
  }
  return first_error;
}

}  // namespace shoal::inference
