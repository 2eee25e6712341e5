// SPDX-License-Identifier: Apache-2.0
// Records what experts do as demonstrations (proto/demonstration.proto).
//
// The recorder plays every pair of the data for a number of episodes, and each episode becomes one
// unroll. Goals that few captures have are shown in few sentences then, so a goal may have a least
// number of episodes, which its captures share. An episode that cannot be played is left out and
// counted, with the reason of the first such episode of its pair. A pair is left out whole when
// only episodes whose start already satisfies the goal could be played: those would teach that
// there is nothing to do. The same data and options give the same messages.
#pragma once

#include <cstdint>
#include <string>

#include "actor/environments/environment_options.h"
#include "actor/environments/redfish_source.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/status.h"
#include "proto/demonstration.pb.h"

namespace shoal::actor {

struct RecordedEpisodes {
  // The least of each pair of goal and capture.
  std::uint64_t of_pair = 40;
  // The least of each goal, on all of its captures together.
  std::uint64_t of_goal = 0;
};

proto::DemonstrationChunk RecordDemonstrations(const RedfishData& data,
                                               const RecordedEpisodes& episodes);

// Does the whole job of an actor in mode "record": it loads captures and goals, records, and writes
// `path`. Services run in process whatever environment.access says, and goal texts have the noise
// of training. A small task has no goals, and is played for `of_pair` episodes by its scripted
// expert (simulation_recorder.h). Errors name the file, capture, goal or knob.
absl::Status RecordToFile(const EnvironmentOptions& environment, const runtime::RunOptions& run,
                          const RecordedEpisodes& episodes, const std::string& path);

}  // namespace shoal::actor
