// SPDX-License-Identifier: Apache-2.0
// How much of the worst faults training episodes may meet, which grows as the agent succeeds.
//
// Training has `stages` + 1 stages. In stage s an episode draws its rate and latency from 0 to
// s / `stages` of those of [environment.faults], so the first stage has no faults and the last one
// all. A stage ends when `episodes` episodes that began in it have ended and of the last as many of
// these a share of `success` succeeded. It never comes back. Episodes that began in an earlier
// stage do not count.
//
// The stage is a function of what was noted, in its order. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>

#include "platform/runtime/config.h"

namespace shoal::actor {

// Section [actor.curriculum].
struct CurriculumOptions {
  // With 0 there is no curriculum: episodes meet the whole range from the first one on.
  std::int64_t stages = 0;
  double success = 0.8;
  std::int64_t episodes = 200;

  void Visit(runtime::Visitor& visitor);
};

class FaultCurriculum {
 public:
  explicit FaultCurriculum(const CurriculumOptions& options) : options_(options) {}

  // From 0 to options.stages.
  std::int64_t stage() const { return stage_; }
  // In [0, 1]; it never falls. Without stages it is 1.
  double share() const { return ShareOf(stage_); }
  // Notes an episode that began when the share was `share`. Returns whether a stage began.
  bool Note(double share, bool success);

 private:
  double ShareOf(std::int64_t stage) const;

  const CurriculumOptions options_;
  std::int64_t stage_ = 0;
  // The last episodes of the stage.
  std::deque<bool> successes_;
};

}  // namespace shoal::actor
