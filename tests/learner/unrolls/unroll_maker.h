// SPDX-License-Identifier: Apache-2.0
// Makes small unrolls as inference would send them, which tests may spoil.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "learner/unrolls/content_table.h"
#include "platform/content/content_key.h"
#include "proto/unroll.pb.h"
#include "rl/model/policy_spec.h"

namespace shoal::learner {

inline constexpr char kEncoder[] = "encoder-1";
inline constexpr std::int64_t kEmbedding = 4;

inline model::PolicySpec DiscreteSpec() {
  model::PolicySpec spec;
  spec.head = "discrete";
  spec.observation_size = 2;
  spec.action_count = 3;
  spec.content_fields = {};
  spec.past_requests = false;
  return spec;
}

inline model::PolicySpec CandidateSpec() {
  model::PolicySpec spec;
  spec.observation_size = 2;
  spec.content_fields = {"goal", "request"};
  spec.embedding_size = kEmbedding;
  return spec;
}

inline content::ContentKey KeyOf(const std::string& text) {
  return content::KeyOf(std::string_view(text));
}

template <typename T>
void SetColumn(proto::NamedTensor& column, const std::string& name, proto::DType dtype,
               std::vector<std::int64_t> shape, const std::vector<T>& values) {
  column.set_name(name);
  auto& tensor = *column.mutable_tensor();
  tensor.set_dtype(dtype);
  tensor.mutable_shape()->Assign(shape.begin(), shape.end());
  tensor.set_data(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// Makes T rows and the bootstrap row. Version 1.`step` acted.
inline proto::Unroll MakeDiscrete(std::uint64_t environment, std::int64_t length = 2,
                                  std::int64_t step = 5) {
  const auto rows = static_cast<std::size_t>(length);
  proto::Unroll unroll;
  unroll.mutable_id()->set_environment_id(environment);
  unroll.mutable_id()->set_incarnation(9);
  unroll.set_length(static_cast<std::uint32_t>(length));
  std::vector<float> observation;
  for (std::size_t i = 0; i < 2 * (rows + 1); ++i) {
    observation.push_back(static_cast<float>(10 * environment + i));
  }
  SetColumn(*unroll.add_step_columns(), "observation/state", proto::FLOAT32, {length + 1, 2},
            observation);
  SetColumn(*unroll.add_step_columns(), "action", proto::INT64, {length},
            std::vector<std::int64_t>(rows, 1));
  SetColumn(*unroll.add_step_columns(), "behaviour_log_probability", proto::FLOAT32, {length},
            std::vector<float>(rows, -1));
  SetColumn(*unroll.add_step_columns(), "value", proto::FLOAT32, {length + 1},
            std::vector<float>(rows + 1, 0.5F));
  SetColumn(*unroll.add_step_columns(), "reward", proto::FLOAT32, {length},
            std::vector<float>(rows, 1));
  SetColumn(*unroll.add_step_columns(), "flags", proto::UINT8, {length + 1},
            std::vector<std::uint8_t>(rows + 1, 0));
  SetColumn(*unroll.add_step_columns(), "policy_epoch", proto::INT64, {length},
            std::vector<std::int64_t>(rows, 1));
  SetColumn(*unroll.add_step_columns(), "policy_step", proto::INT64, {length},
            std::vector<std::int64_t>(rows, step));
  SetColumn(*unroll.add_step_columns(), "episode_id", proto::INT64, {length + 1},
            std::vector<std::int64_t>(rows + 1, 77));
  return unroll;
}

inline proto::NamedTensor& Column(proto::Unroll& unroll, const std::string& name) {
  for (auto* list : {unroll.mutable_step_columns(), unroll.mutable_unroll_columns()}) {
    for (proto::NamedTensor& column : *list) {
      if (column.name() == name) return column;
    }
  }
  auto& added = *unroll.add_step_columns();
  added.set_name(name);
  return added;
}

inline std::string Keys(std::span<const std::string> texts) {
  std::string bytes;
  for (const std::string& text : texts) bytes += KeyOf(text).AsBytes();
  return bytes;
}

inline void AddEmbeddings(ContentTable& table, const std::vector<std::string>& texts) {
  proto::Embeddings embeddings;
  embeddings.set_encoder_version(kEncoder);
  embeddings.set_keys(Keys(texts));
  auto& vectors = *embeddings.mutable_vectors();
  vectors.set_dtype(proto::FLOAT16);
  vectors.add_shape(static_cast<std::int64_t>(texts.size()));
  vectors.add_shape(kEmbedding);
  std::vector<std::uint16_t> halves;
  for (const std::string& text : texts) {
    for (std::int64_t i = 0; i < kEmbedding; ++i) {
      halves.push_back(static_cast<std::uint16_t>(0x3000 + text.front() + i));
    }
  }
  vectors.set_data(reinterpret_cast<const char*>(halves.data()), halves.size() * 2);
  table.AddEmbeddings(embeddings);
}

// Adds a catalog of three candidates "a", "b", "c" under the key of "catalog".
inline void AddCatalog(ContentTable& table) {
  AddEmbeddings(table, {"a", "b", "c"});
  proto::Catalog catalog;
  catalog.set_key(std::string(KeyOf("catalog").AsBytes()));
  const std::vector<std::string> candidates = {"a", "b", "c"};
  catalog.set_candidate_keys(Keys(candidates));
  table.AddCatalog(catalog);
}

// The rows have the content "goal" as their goal and no request.
inline proto::Unroll MakeCandidates(std::uint64_t environment, std::int64_t length = 2) {
  proto::Unroll unroll = MakeDiscrete(environment, length);
  const auto rows = static_cast<std::size_t>(length) + 1;
  std::string goals;
  for (std::size_t row = 0; row < rows; ++row) goals += KeyOf("goal").AsBytes();
  SetColumn(*unroll.add_step_columns(), "content/goal", proto::UINT8, {length + 1, 16},
            std::vector<char>(goals.begin(), goals.end()));
  SetColumn(*unroll.add_step_columns(), "content/request", proto::UINT8, {length + 1, 16},
            std::vector<char>(rows * 16));
  SetColumn(*unroll.add_step_columns(), "catalog", proto::INT32, {length + 1},
            std::vector<std::int32_t>(rows));
  SetColumn(*unroll.add_unroll_columns(), "past_requests", proto::FLOAT32, {kEmbedding},
            std::vector<float>(kEmbedding));
  unroll.add_catalog_keys(std::string(KeyOf("catalog").AsBytes()));
  unroll.set_encoder_version(kEncoder);
  return unroll;
}

}  // namespace shoal::learner
