// SPDX-License-Identifier: Apache-2.0
// The description of a policy network: section [policy], the same for inference and learner.
//
// Two processes agree when their Digest() is the same. Parameters with another digest are refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/config.h"
#include "platform/runtime/status.h"
#include "rl/estimators/exploration_family.h"

namespace shoal::model {

struct PolicySpec {
  // "candidates" is a pointer into the row's table; "discrete" is one logit for each action; "box"
  // is a Gaussian squashed into [-1, 1]^n by tanh (squashed_gaussian.h), which SAC trains;
  // "gaussian" is a Gaussian over the same box that is not squashed (gaussian.h), which the
  // algorithms that improve a policy by its log-probabilities train.
  std::string head = "candidates";
  // If true, the head's numbers are action values Q(s, a) instead of logits, and training rows act
  // epsilon-greedily on them.
  bool action_values = false;
  // With action values: Q(s, a) = V(s) + A(s, a) - (mean of A over the legal actions), where V is
  // the critic and A the head (Wang et al. 2016, equation 9). Otherwise the critic is not used.
  bool dueling = false;
  // With action values: the head states quantiles of the distribution of returns, Q(s, a) is its
  // mean, and a fraction of the distribution enters the network as this many cosines (Dabney et al.
  // 2018, "Implicit Quantile Networks"). 0: the head states Q(s, a). Not with dueling.
  std::int64_t quantile_cosines = 0;
  // With action values of a family that explores: "sum" or "transformed" has a second network of
  // the same widths, which shares no layer, state the values of intrinsic rewards. The numbers that
  // are acted on are Q_e + beta Q_i with "sum", or with "transformed", where both are transforms of
  // returns, h(h^-1(Q_e) + beta h^-1(Q_i)) (Badia et al. 2020, "Agent57", section 3.1).
  // Observations then begin with beta and the intrinsic reward of the step before
  // (estimators/exploration_family.h), which neither network sees. "none": one network of action
  // values. For the head "discrete", without convolution, core and quantile_cosines. The mean that
  // a dueling head takes away is then that of all actions, legal or not.
  std::string split_values = "none";
  // Whether two networks of Q(s, a) and a temperature are trained beside the policy, and no critic
  // of V(s). For the heads "discrete" and "box"; the critics have the widths value_hidden.
  bool twin_critics = false;
  // O: the length of a row's numeric observation.
  std::int64_t observation_size = 0;
  // "none", or the convolution through which torso and critic see the observation: "nature",
  // "small" or "impala" (convolution.h). The observation is then one frame of bytes, [height,
  // width, channels] of frame_shape, row-major, and the network sees each as a share of 255. The
  // convolution is shared: what it makes of the frame comes in the observation's place, the first
  // of the features that both torso and critic read. Its ReLUs do not depend on `activation`. Not
  // with twin_critics, whose two losses would both train it.
  std::string convolution = "none";
  std::vector<std::int64_t> frame_shape = {};
  // Whether the network sees each number of the observation less its running mean and divided by
  // its running deviation, within [-10, 10]. Both are frozen parameters, which the trainer renews
  // after each update (algorithms/normalisation.h).
  bool normalise_observations = false;
  // n: the number of actions of a discrete head, or the dimension of a box.
  std::int64_t action_count = 0;
  // The contents of a row, in the order of the environment's spec.
  std::vector<std::string> content_fields = {"goal", "request", "body"};
  // goal_field names the content that says what is wanted, request_field the last request, and
  // similarity_field the content that candidates are compared with; empty: goal_field.
  std::string goal_field = "goal";
  std::string request_field = "request";
  std::string similarity_field = "";
  // The content that is a response's body, which may have an encoder of its own (body_encoder).
  std::string body_field = "body";
  // D: the length of an embedding. Embeddings should have a norm of about 1.
  std::int64_t embedding_size = 512;
  // The network sees the first `body_size` numbers of the body's embedding, after which an encoder
  // of its own leaves zeros; 0 means all.
  std::int64_t body_size = 0;
  // P: embeddings are projected to this length.
  std::int64_t projection_size = 128;
  std::vector<std::int64_t> hidden = {256, 256};
  std::vector<std::int64_t> value_hidden = {256};
  std::string activation = "tanh";
  // "none", "gru" or "lstm": hidden -> core -> head, and the critic sees the core's output too.
  std::string core = "none";
  std::int64_t core_size = 128;
  // Whether the sum of the episode's earlier requests is a feature.
  bool past_requests = true;
  // logits = query_scale * <query, key> + similarity_weight * z, where z is the cosine of the
  // similarity field's content and the candidate, standardised over the legal candidates of the
  // table.
  double query_scale = 4.0;
  double similarity_weight = 1.0;
  // The cosine uses the first `similarity_size` numbers of the embeddings; 0 means all. It is 512
  // where a language model's vector follows the lexical one (encoder "both").
  std::int64_t similarity_size = 0;
  // K: the kinds of marks that the environment puts on candidates (candidate_mark.h); 0 for none.
  std::int64_t candidate_marks = 0;
  // A factor on the initial weights of the head's last layer.
  double query_init = 0.1;
  // A factor on the initial projections of contents that are neither goal nor request.
  double context_init = 0.1;
  // Whether to learn the projection of the candidates. Frozen keys learn as fast at a quarter of
  // the cost, and inference reuses them across versions.
  bool train_keys = false;

  void Visit(runtime::Visitor& visitor);

  // Returns INVALID_ARGUMENT naming the knob.
  absl::Status Validate() const;

  bool has_candidates() const { return head == "candidates"; }
  // Whether actions are points of a box.
  bool has_box() const { return head == "box" || head == "gaussian"; }
  bool has_gaussian() const { return head == "gaussian"; }
  bool has_core() const { return core != "none"; }
  bool has_lstm() const { return core == "lstm"; }
  bool has_quantiles() const { return quantile_cosines > 0; }
  bool has_split_values() const { return split_values != "none"; }
  // Whether acting needs the critic's value beside the numbers of the head.
  bool acts_by_critic() const { return !twin_critics && !has_split_values(); }
  bool has_convolution() const { return convolution != "none"; }
  // How many numbers of a row's observation are floats, and how many are bytes of a frame: one of
  // the two is O, the other 0.
  std::int64_t number_count() const { return has_convolution() ? 0 : observation_size; }
  std::int64_t frame_size() const { return has_convolution() ? observation_size : 0; }
  // How many of the floats the network sees; those that it does not see come first.
  std::int64_t seen_number_count() const {
    return number_count() - (has_split_values() ? estimators::kSplitNumbers : 0);
  }
  // S: the length of a row's recurrent state; 0 without a core. The first core_size numbers are the
  // core's output. An LSTM's cells come after them.
  std::int64_t core_state_size() const { return has_core() ? (has_lstm() ? 2 : 1) * core_size : 0; }
  std::int64_t content_count() const { return static_cast<std::int64_t>(content_fields.size()); }
  // The position of the field in content_fields, or -1 when absent.
  std::int64_t request_index() const;
  std::int64_t similarity_index() const;

  // Returns how many of the first numbers of the field's embedding the network sees.
  std::int64_t content_size(const std::string& field) const {
    return body_size > 0 && field == body_field ? body_size : embedding_size;
  }

  // Returns the section [policy] as TOML, and reads it. Parse returns INVALID_ARGUMENT, which names
  // `source`, for a text that is no valid section.
  std::string Print() const;
  static absl::StatusOr<PolicySpec> Parse(std::string_view text, const std::string& source);

  // Returns the SHA-256 over every field, in hexadecimal.
  std::string Digest() const;
};

}  // namespace shoal::model
