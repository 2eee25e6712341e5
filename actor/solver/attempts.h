// SPDX-License-Identifier: Apache-2.0
// Episodes that a policy plays one after the other, until the caller accepts one of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "actor/environments/environment_source.h"
#include "actor/loop/episode_plan.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"

namespace shoal::actor {

struct AttemptOptions {
  // "host:port" of the inference server that has the policy.
  std::string inference = {};
  // How the caller is called in the server's log.
  std::string client_name = {};
  // Whether actions are greedy; otherwise they are drawn as in training.
  bool greedy = true;
  // The most episodes, at least 1.
  std::uint64_t attempts = 1;
  // How long all of them may take.
  runtime::Duration patience = std::chrono::minutes(5);
};

// Judges an episode that has ended; OK ends the attempts. It runs on the loop's thread.
using JudgeAttempt = std::function<absl::Status(const EpisodeResult&)>;
// Called a few times a second while PlayAttempts waits. An error ends it.
using CheckAttempts = std::function<absl::Status()>;

// Plays episodes 0, 1, 2, ... of the first pair of `source` in one environment. It blocks. OK once
// `judge` returns OK, FAILED_PRECONDITION with the last judgement when no episode was good enough
// or one cannot be played, DEADLINE_EXCEEDED when the attempts took too long. Other errors are
// those of `check` and of the server.
absl::Status PlayAttempts(const AttemptOptions& options, const EnvironmentSource& source,
                          const JudgeAttempt& judge, const CheckAttempts& check);

}  // namespace shoal::actor
