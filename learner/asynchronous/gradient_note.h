// SPDX-License-Identifier: Apache-2.0
// What goes with a gradient from a rank to the holder of the parameters, and what comes back with
// parameters: the notes of an exchange (rl/collectives/gradient_message.h), as CBOR.
//
// Decode returns INVALID_ARGUMENT, which names the field, for bytes that are no such note.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learner/unrolls/episode_returns.h"
#include "learner/unrolls/round.h"
#include "learner/unrolls/unroll_use.h"
#include "platform/runtime/status.h"
#include "rl/algorithms/policy_trainer.h"

namespace shoal::learner {

struct GradientNote {
  // What the gradient's computation reports, without priorities, which the rank sends to replay.
  algorithms::UpdateReport report = {};
  std::int64_t unrolls = 0;
  // Of the unrolls, how often replay has given each out, this time included; the mean.
  double mean_use = 0;
  EpisodeSummary episodes = {};
  // The unrolls of this rank since its start.
  RoundCounts counts = {};
  // The environments' steps that replay took in, as far as this rank has heard since its start.
  double inserted_steps = 0;
  // The rank's wall time since its gradient before.
  double waiting_seconds = 0;
  double decoding_seconds = 0;
  double updating_seconds = 0;
  double exchanging_seconds = 0;
  // Which target network the rank has (PolicyTrainer::target_number).
  std::int64_t target_number = 0;
  std::string encoder_version = {};
  // On policy, the uses that the gradient is of.
  std::vector<UnrollUse> uses = {};
};

struct ParameterNote {
  // The step of the newest published version; its epoch is that of the parameters.
  std::uint64_t step = 0;
  // Which target network there is. Its parameters follow the others if the rank has another one.
  std::int64_t target_number = 0;
};

std::string Encode(const GradientNote& note);
std::string Encode(const ParameterNote& note);
absl::StatusOr<GradientNote> DecodeGradientNote(const std::string& bytes);
absl::StatusOr<ParameterNote> DecodeParameterNote(const std::string& bytes);

}  // namespace shoal::learner
