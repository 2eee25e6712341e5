// SPDX-License-Identifier: Apache-2.0
// What a policy network is made of: section [policy], the same for inference and learner.
//
// Two processes agree when their Digest() is the same; parameters of another digest are refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/config.h"
#include "platform/runtime/status.h"

namespace shoal::model {

struct PolicySpec {
  // "candidates": a pointer into the row's table; "discrete": one logit an action.
  std::string head = "candidates";
  // Numbers in the numeric observation of a row.
  std::int64_t observation_size = 0;
  // Discrete head only.
  std::int64_t action_count = 0;
  // Contents of a row, in the order of the environment's spec.
  std::vector<std::string> content_fields = {"goal", "request", "body"};
  // Which content field the candidates are compared with; which one holds the last request.
  std::string goal_field = "goal";
  std::string request_field = "request";
  // D: numbers in an embedding. Embeddings are expected to have a norm of about 1.
  std::int64_t embedding_size = 512;
  // Embeddings are projected to this many numbers.
  std::int64_t projection_size = 128;
  std::vector<std::int64_t> hidden = {256, 256};
  std::vector<std::int64_t> value_hidden = {256};
  std::string activation = "tanh";
  // "gru": hidden -> GRU -> head; the critic sees its state too.
  std::string core = "none";
  std::int64_t core_size = 128;
  // The sum of the episode's earlier requests is a feature.
  bool past_requests = true;
  // logits = query_scale * <query, key> + similarity_weight * z, where z is the cosine of goal and
  // candidate, standardised over the legal candidates of the table.
  double query_scale = 4.0;
  double similarity_weight = 1.0;
  // The cosine is that of the first so many numbers of the embeddings; 0: of all. 512 where a
  // language model's vector follows the lexical one (encoder "both").
  std::int64_t similarity_size = 0;
  // Factor on the initial weights of the head's last layer.
  double query_init = 0.1;
  // Factor on the initial projections of contents that are neither goal nor request.
  double context_init = 0.1;
  // Learn the projection of the candidates. Frozen keys learn as fast, cost a quarter, and
  // inference keeps them over versions.
  bool train_keys = false;

  void Visit(runtime::Visitor& visitor);

  // INVALID_ARGUMENT naming the knob.
  absl::Status Validate() const;

  bool has_candidates() const { return head == "candidates"; }
  bool has_core() const { return core == "gru"; }
  // S: numbers in the recurrent state of a row; 0 without a core.
  std::int64_t core_state_size() const { return has_core() ? core_size : 0; }
  std::int64_t content_count() const { return static_cast<std::int64_t>(content_fields.size()); }
  // Position of goal_field in content_fields, -1 when absent; the same for request_field.
  std::int64_t goal_index() const;
  std::int64_t request_index() const;

  // SHA-256 over every field, in hexadecimal.
  std::string Digest() const;
};

}  // namespace shoal::model
