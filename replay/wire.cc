// SPDX-License-Identifier: Apache-2.0
#include "replay/wire.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "platform/content/content_key.h"
#include "platform/content/overlay_key.h"

namespace shoal::replay {
namespace {

absl::StatusOr<Key> KeyFrom(std::string_view bytes, std::string_view what) {
  auto key = Key::FromBytes(bytes);
  if (!key.ok()) return runtime::Annotate(key.status(), what);
  return *key;
}

// [N * 16] -> N keys.
absl::StatusOr<std::vector<Key>> SplitKeys(std::string_view bytes, std::string_view what) {
  auto keys = content::KeysFromBytes(bytes);
  if (!keys.ok()) return runtime::Annotate(keys.status(), what);
  return keys;
}

absl::Status CheckPriority(float priority) {
  if (std::isfinite(priority) && priority >= 0) return absl::OkStatus();
  return runtime::InvalidArgument("priority " + std::to_string(priority) +
                                  " is not a finite number of at least 0");
}

// Fills messages up to kMessageBytes each.
class ReplyBuilder {
 public:
  void Add(const Content& content) {
    std::visit([this, &content](const auto& body) { AddBody(content.key, body); }, content.body);
  }

  void Add(SampledItem& sample) {
    Outgoing<proto::SampleReply>& reply = Place(sample.item->payload.size());
    embeddings_ = nullptr;
    proto::SampledItem& out = *reply.message.add_items();
    out.set_probability(sample.probability);
    out.set_table_size(sample.table_size);
    out.set_times_sampled(sample.times_sampled);
    proto::Item& item = *out.mutable_item();
    Item& source = *sample.item;
    ToProto(source, item);
    item.set_priority(sample.priority);
    if (source.payload.size() >= kReferencedBytes) {
      reply.payloads.resize(static_cast<std::size_t>(reply.message.items_size()));
      reply.payloads.back() = {.bytes = source.payload, .owner = sample.item};
    } else if (sample.sole_owner()) {
      item.set_payload(std::move(source.payload));
    } else {
      item.set_payload(source.payload);
    }
  }

  std::vector<Outgoing<proto::SampleReply>> Take() { return std::move(replies_); }

 private:
  void AddBody(const Key& key, const Embedding& embedding) {
    proto::SampleReply& reply = Place(embedding.vector.size()).message;
    const auto dimension = static_cast<std::int64_t>(embedding.vector.size() / 2);
    if (embeddings_ == nullptr || embeddings_->encoder_version() != embedding.encoder_version ||
        embeddings_->vectors().shape(1) != dimension) {
      embeddings_ = reply.add_embeddings();
      embeddings_->set_encoder_version(embedding.encoder_version);
      embeddings_->mutable_vectors()->set_dtype(proto::FLOAT16);
      embeddings_->mutable_vectors()->add_shape(0);
      embeddings_->mutable_vectors()->add_shape(dimension);
    }
    embeddings_->mutable_keys()->append(key.AsBytes());
    proto::Tensor& vectors = *embeddings_->mutable_vectors();
    vectors.set_shape(0, vectors.shape(0) + 1);
    vectors.mutable_data()->append(embedding.vector);
  }

  void AddBody(const Key& key, const Catalog& catalog) {
    proto::Catalog& out = *Place(catalog.candidates.size() * Key::kBytes).message.add_catalogs();
    out.set_key(std::string(key.AsBytes()));
    out.set_candidate_keys(std::string(content::AsBytes(catalog.candidates)));
  }

  void AddBody(const Key& key, const Overlay& overlay) {
    proto::Overlay& out = *Place(overlay.appended.size() * Key::kBytes).message.add_overlays();
    out.set_key(std::string(key.AsBytes()));
    out.set_base(std::string(overlay.base.AsBytes()));
    out.mutable_removed()->Add(overlay.removed.begin(), overlay.removed.end());
    out.set_appended_keys(std::string(content::AsBytes(overlay.appended)));
  }

  void AddBody(const Key& key, const Chunk& chunk) {
    proto::Chunk& out = *Place(chunk.data.size()).message.add_chunks();
    out.set_key(std::string(key.AsBytes()));
    out.set_data(chunk.data);
  }

  Outgoing<proto::SampleReply>& Place(std::size_t bytes) {
    if (replies_.empty() || (filled_ > 0 && filled_ + bytes > kMessageBytes)) {
      replies_.emplace_back();
      embeddings_ = nullptr;
      filled_ = 0;
    }
    filled_ += bytes;
    return replies_.back();
  }

  std::vector<Outgoing<proto::SampleReply>> replies_;
  proto::Embeddings* embeddings_ = nullptr;
  std::size_t filled_ = 0;
};

}  // namespace

void ToProto(const Item& item, proto::Item& out) {
  out.mutable_id()->set_environment_id(item.id.environment_id);
  out.mutable_id()->set_incarnation(item.id.incarnation);
  out.mutable_id()->set_first_sequence(item.id.first_sequence);
  out.mutable_oldest_version()->set_epoch(item.oldest_version.epoch);
  out.mutable_oldest_version()->set_step(item.oldest_version.step);
  out.mutable_newest_version()->set_epoch(item.newest_version.epoch);
  out.mutable_newest_version()->set_step(item.newest_version.step);
  out.set_steps(item.steps);
  out.set_uncounted_steps(item.uncounted_steps);
  out.set_priority(item.priority);
  if (item.keys == nullptr) return;
  for (const Key& key : item.keys->contents) out.add_content_keys(std::string(key.AsBytes()));
  for (const Key& key : item.keys->catalogs) out.add_catalog_keys(std::string(key.AsBytes()));
  for (const Key& key : item.keys->chunks) out.add_chunk_keys(std::string(key.AsBytes()));
}

PolicyVersion FromProto(const proto::PolicyVersion& version) {
  return {.epoch = version.epoch(), .step = version.step()};
}

UnrollId FromProto(const proto::UnrollId& id) {
  return {.environment_id = id.environment_id(),
          .incarnation = id.incarnation(),
          .first_sequence = id.first_sequence()};
}

absl::StatusOr<std::vector<Key>> KeysFrom(
    const google::protobuf::RepeatedPtrField<std::string>& wire, std::string_view what) {
  std::vector<Key> keys;
  keys.reserve(static_cast<std::size_t>(wire.size()));
  for (const std::string& bytes : wire) {
    SHOAL_ASSIGN_OR_RETURN(keys.emplace_back(), KeyFrom(bytes, what));
  }
  return keys;
}

absl::StatusOr<std::vector<PriorityUpdate>> FromProto(
    const google::protobuf::RepeatedPtrField<proto::PriorityUpdate>& updates) {
  std::vector<PriorityUpdate> out;
  out.reserve(static_cast<std::size_t>(updates.size()));
  for (const proto::PriorityUpdate& update : updates) {
    SHOAL_RETURN_IF_ERROR(CheckPriority(update.priority()));
    out.push_back({.id = FromProto(update.id()), .priority = update.priority()});
  }
  return out;
}

absl::StatusOr<std::shared_ptr<Item>> FromProto(proto::Item& item, std::size_t max_item_bytes) {
  if (!item.has_id()) return runtime::InvalidArgument("the item has no id");
  if (item.payload().empty()) return runtime::InvalidArgument("the item has no payload");
  if (item.payload().size() > max_item_bytes) {
    return runtime::InvalidArgument("the item's payload has " +
                                    std::to_string(item.payload().size()) +
                                    " bytes, the limit is " + std::to_string(max_item_bytes));
  }
  if (FromProto(item.newest_version()) < FromProto(item.oldest_version())) {
    return runtime::InvalidArgument("the item's newest version is older than its oldest");
  }
  if (item.uncounted_steps() > item.steps()) {
    return runtime::InvalidArgument("the item has " + std::to_string(item.steps()) +
                                    " steps, and " + std::to_string(item.uncounted_steps()) +
                                    " that are no further steps of an environment");
  }
  SHOAL_RETURN_IF_ERROR(CheckPriority(item.priority()));
  auto out = std::make_shared<Item>();
  out->id = FromProto(item.id());
  out->oldest_version = FromProto(item.oldest_version());
  out->newest_version = FromProto(item.newest_version());
  out->steps = item.steps();
  out->uncounted_steps = item.uncounted_steps();
  out->priority = item.priority();
  ItemKeys keys;
  SHOAL_ASSIGN_OR_RETURN(keys.contents, KeysFrom(item.content_keys(), "content_keys"));
  SHOAL_ASSIGN_OR_RETURN(keys.catalogs, KeysFrom(item.catalog_keys(), "catalog_keys"));
  SHOAL_ASSIGN_OR_RETURN(keys.chunks, KeysFrom(item.chunk_keys(), "chunk_keys"));
  if (keys.size() > 0) out->keys = std::make_shared<const ItemKeys>(std::move(keys));
  out->payload = std::move(*item.mutable_payload());
  return out;
}

absl::Status Check(const proto::Embeddings& embeddings) {
  constexpr std::int64_t kMaxDimension = 65536;
  const proto::Tensor& vectors = embeddings.vectors();
  const std::size_t count = embeddings.keys().size() / Key::kBytes;
  if (embeddings.keys().size() % Key::kBytes != 0) {
    return runtime::InvalidArgument("embeddings.keys has " +
                                    std::to_string(embeddings.keys().size()) +
                                    " bytes, not a multiple of 16");
  }
  if (vectors.dtype() != proto::FLOAT16 || vectors.shape_size() != 2 ||
      vectors.shape(0) != static_cast<std::int64_t>(count) || vectors.shape(1) < 1 ||
      vectors.shape(1) > kMaxDimension ||
      vectors.data().size() != count * static_cast<std::size_t>(vectors.shape(1)) * 2) {
    return runtime::InvalidArgument("embeddings.vectors must be FLOAT16 [" + std::to_string(count) +
                                    ", dimension]");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Content>> FromProto(const proto::Embeddings& embeddings) {
  SHOAL_RETURN_IF_ERROR(Check(embeddings));
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Key> keys,
                         SplitKeys(embeddings.keys(), "embeddings.keys"));
  const proto::Tensor& vectors = embeddings.vectors();
  const auto row = static_cast<std::size_t>(vectors.shape(1)) * 2;
  std::vector<Content> contents;
  contents.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    contents.push_back({.key = keys[i],
                        .body = Embedding{.encoder_version = embeddings.encoder_version(),
                                          .vector = vectors.data().substr(i * row, row)}});
  }
  return contents;
}

absl::StatusOr<Content> FromProto(const proto::Catalog& catalog) {
  SHOAL_ASSIGN_OR_RETURN(const Key key, KeyFrom(catalog.key(), "catalog.key"));
  SHOAL_ASSIGN_OR_RETURN(std::vector<Key> candidates,
                         SplitKeys(catalog.candidate_keys(), "catalog.candidate_keys"));
  if (content::KeyOf(catalog.candidate_keys()) != key) {
    return runtime::InvalidArgument("catalog " + key.ToHex() + " does not match its candidates");
  }
  return Content{.key = key, .body = Catalog{.candidates = std::move(candidates)}};
}

absl::StatusOr<Content> FromProto(const proto::Overlay& overlay) {
  SHOAL_ASSIGN_OR_RETURN(const Key key, KeyFrom(overlay.key(), "overlay.key"));
  SHOAL_ASSIGN_OR_RETURN(const Key base, KeyFrom(overlay.base(), "overlay.base"));
  SHOAL_ASSIGN_OR_RETURN(std::vector<Key> appended,
                         SplitKeys(overlay.appended_keys(), "overlay.appended_keys"));
  std::vector<std::uint32_t> removed(overlay.removed().begin(), overlay.removed().end());
  if (content::OverlayKey(base, removed, appended) != key) {
    return runtime::InvalidArgument("overlay " + key.ToHex() + " does not match what it holds");
  }
  if (std::adjacent_find(removed.begin(), removed.end(), std::greater_equal<>()) != removed.end()) {
    return runtime::InvalidArgument("overlay " + key.ToHex() + ": removed is not ascending");
  }
  return Content{.key = key,
                 .body = Overlay{
                     .base = base, .removed = std::move(removed), .appended = std::move(appended)}};
}

absl::StatusOr<Content> FromProto(proto::Chunk&& chunk, std::size_t max_bytes) {
  SHOAL_ASSIGN_OR_RETURN(const Key key, KeyFrom(chunk.key(), "chunk.key"));
  if (chunk.data().size() > max_bytes) {
    return runtime::InvalidArgument("chunk " + key.ToHex() + " has " +
                                    std::to_string(chunk.data().size()) + " bytes, the limit is " +
                                    std::to_string(max_bytes));
  }
  if (content::KeyOf(chunk.data()) != key) {
    return runtime::InvalidArgument("chunk " + key.ToHex() + " does not match its data");
  }
  return Content{.key = key, .body = Chunk{.data = std::move(*chunk.mutable_data())}};
}

proto::SampleReply ToProto(const Content& content) {
  ReplyBuilder builder;
  builder.Add(content);
  return std::move(builder.Take().front().message);
}

absl::StatusOr<Content> ContentFrom(proto::SampleReply&& message) {
  if (message.chunks_size() == 1) {
    return FromProto(std::move(*message.mutable_chunks(0)),
                     std::numeric_limits<std::size_t>::max());
  }
  if (message.catalogs_size() == 1) return FromProto(message.catalogs(0));
  if (message.overlays_size() == 1) return FromProto(message.overlays(0));
  if (message.embeddings_size() != 1) {
    return runtime::InvalidArgument("a message does not hold one content");
  }
  SHOAL_ASSIGN_OR_RETURN(std::vector<Content> contents, FromProto(message.embeddings(0)));
  if (contents.size() == 1) return std::move(contents.front());
  return runtime::InvalidArgument("a message holds " + std::to_string(contents.size()) +
                                  " embeddings in place of one content");
}

proto::Mass ToProto(const Mass& mass) {
  proto::Mass out;
  out.set_size(mass.size);
  out.set_sum(mass.sum);
  out.set_least(mass.least);
  return out;
}

absl::StatusOr<Mass> FromProto(const proto::Mass& mass) {
  // The sum over any number of shards stays finite.
  constexpr double kMost = 1e200;
  const auto sound = [](double value) { return value >= 0 && value <= kMost; };
  if (!sound(mass.sum()) || !sound(mass.least())) {
    return runtime::InvalidArgument("a table's mass is not between 0 and 1e200");
  }
  return Mass{.size = mass.size(), .sum = mass.sum(), .least = mass.least()};
}

std::vector<Outgoing<proto::SampleReply>> ToReplies(SampleBatch& batch) {
  ReplyBuilder builder;
  for (const auto& content : batch.contents) builder.Add(*content);
  for (SampledItem& sample : batch.samples) builder.Add(sample);
  return builder.Take();
}

}  // namespace shoal::replay
