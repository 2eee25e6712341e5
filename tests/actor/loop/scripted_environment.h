// SPDX-License-Identifier: Apache-2.0
// Short episodes that a loop plays against a scripted server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actor/loop/environment_loop.h"
#include "tests/inference/client/scripted_server.h"

namespace shoal::actor::test {

// Plays episodes of four steps that end by number: terminated, truncated or lost.
class ScriptedEnvironment final : public Environment {
 public:
  void Reset(const EpisodeStart& start, Done done) override {
    episode_ = start.episode;
    steps_ = 0;
    done(Transition{.observation = {.numeric = {static_cast<float>(episode_), 0}}});
  }
  void Step(std::int64_t, Done done) override {
    ++steps_;
    if (steps_ == 4 && episode_ % 3 == 2) {
      done(runtime::Unavailable("scripted"));
      return;
    }
    Transition transition{
        .observation = {.numeric = {static_cast<float>(episode_), static_cast<float>(steps_)}},
        .reward = static_cast<float>(steps_)};
    if (steps_ == 4) transition.end = episode_ % 3 == 0 ? End::kTerminated : End::kTruncated;
    done(transition);
  }
  EpisodeFacts facts() const override { return {.goal = "g", .capture = "c", .steps = steps_}; }

 private:
  std::uint64_t episode_ = 0;
  int steps_ = 0;
};

inline UniformSource ScriptedSource() {
  return UniformSource(
      {.observation_name = "numeric", .observation_shape = {2}, .content_fields = {}, .actions = 2},
      {{.goal = "g", .capture = "c"}}, [] { return std::make_unique<ScriptedEnvironment>(); });
}

struct Fixture {
  runtime::Metrics metrics;
  ActorMetrics actor_metrics{metrics};
  UniformSource source = ScriptedSource();
};

inline LoopOptions Options(const std::string& address, std::size_t environments) {
  return {.environments = environments,
          .incarnation = 11,
          .inference = transport::AddressList({address})};
}

inline void Ignore(const absl::Status&) {}

inline std::vector<SeenRow> RowsOf(const std::vector<SeenRow>& rows, std::uint64_t environment) {
  std::vector<SeenRow> own;
  for (const SeenRow& row : rows) {
    if (row.environment_id == environment) own.push_back(row);
  }
  return own;
}

}  // namespace shoal::actor::test
