// SPDX-License-Identifier: Apache-2.0
// A small valid recording, which tests may spoil.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/content/canonical_json.h"
#include "platform/content/content_key.h"
#include "proto/demonstration.pb.h"

namespace shoal::demonstrations {

inline std::string KeyBytes(const std::string& text) {
  return std::string(content::KeyOf(std::string_view(text)).AsBytes());
}

template <typename T>
void AddColumn(proto::Unroll& unroll, const std::string& name, proto::DType dtype,
               const std::vector<std::int64_t>& shape, const std::vector<T>& values) {
  proto::NamedTensor& column = *unroll.add_step_columns();
  column.set_name(name);
  column.mutable_tensor()->set_dtype(dtype);
  column.mutable_tensor()->mutable_shape()->Assign(shape.begin(), shape.end());
  column.mutable_tensor()->set_data(reinterpret_cast<const char*>(values.data()),
                                    values.size() * sizeof(T));
}

// Returns two rows with the actions `first`, then `second`. The candidates are "a", "b" and "c".
inline proto::Demonstration OneOf(std::uint64_t episode, std::int64_t first, std::int64_t second) {
  proto::Demonstration demonstration;
  demonstration.set_goal("5 pxe_once");
  demonstration.set_capture("rackmount");
  demonstration.set_mutations(2);
  demonstration.set_optimum(1);
  proto::Unroll& unroll = *demonstration.mutable_unroll();
  unroll.mutable_id()->set_first_sequence(episode);
  unroll.set_length(2);
  unroll.add_catalog_keys(KeyBytes(KeyBytes("a") + KeyBytes("b") + KeyBytes("c")));
  const auto keys = [](const std::vector<std::string>& texts) {
    std::string bytes;
    for (const std::string& text : texts) bytes += KeyBytes(text);
    return std::vector<char>(bytes.begin(), bytes.end());
  };
  AddColumn(unroll, "observation/numeric", proto::FLOAT32, {3, 2}, std::vector<float>(6, 0.5F));
  AddColumn(unroll, "content/goal", proto::UINT8, {3, 16}, keys({"goal", "goal", ""}));
  AddColumn(unroll, "content/request", proto::UINT8, {3, 16}, keys({"", "b", ""}));
  AddColumn(unroll, "catalog", proto::INT32, {3}, std::vector<std::int32_t>(3));
  AddColumn(unroll, "action", proto::INT64, {2}, std::vector<std::int64_t>{first, second});
  AddColumn(unroll, "behaviour_log_probability", proto::FLOAT32, {2}, std::vector<float>(2));
  AddColumn(unroll, "value", proto::FLOAT32, {3}, std::vector<float>(3));
  AddColumn(unroll, "reward", proto::FLOAT32, {2}, std::vector<float>{0, 1});
  AddColumn(unroll, "flags", proto::UINT8, {3}, std::vector<std::uint8_t>{1, 2, 0});
  AddColumn(unroll, "policy_epoch", proto::INT64, {2}, std::vector<std::int64_t>(2));
  AddColumn(unroll, "policy_step", proto::INT64, {2}, std::vector<std::int64_t>(2));
  AddColumn(unroll, "episode_id", proto::INT64, {3}, std::vector<std::int64_t>(3));
  return demonstration;
}

inline proto::DemonstrationChunk SomeDemonstrations() {
  proto::DemonstrationChunk all;
  proto::DemonstrationHeader& header = *all.mutable_header();
  header.set_canonicaliser_version(std::string(content::kCanonicaliserVersion));
  header.mutable_spec()->mutable_action()->mutable_candidates();
  header.set_episode_limit(16);
  for (const char* text : {"a", "b", "c", "goal"}) {
    proto::Content& content = *all.add_contents();
    content.set_key(KeyBytes(text));
    content.set_text(text);
  }
  proto::Catalog& catalog = *all.add_catalogs();
  catalog.set_candidate_keys(KeyBytes("a") + KeyBytes("b") + KeyBytes("c"));
  catalog.set_key(KeyBytes(catalog.candidate_keys()));
  *all.add_demonstrations() = OneOf(0, 1, 2);
  *all.add_demonstrations() = OneOf(1, 0, 2);
  proto::LeftOut& left_out = *all.add_left_out();
  left_out.set_goal("7 session_hygiene");
  left_out.set_capture("rackmount");
  left_out.set_reason("no candidate is POST /redfish/v1/SessionService/Sessions");
  left_out.set_episodes(3);
  return all;
}

}  // namespace shoal::demonstrations
