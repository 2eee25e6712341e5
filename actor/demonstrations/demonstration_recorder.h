// SPDX-License-Identifier: Apache-2.0
// Records what experts do as demonstrations (proto/demonstration.proto).
//
// The recorder plays every pair of the data for a number of episodes, and each episode becomes one
// unroll. An episode that cannot be played is left out and counted, with the reason of the first
// such episode of its pair. A pair is left out whole when only episodes whose start already
// satisfies the goal could be played: those would teach that there is nothing to do. The same data
// and options give the same messages.
#pragma once

#include <cstdint>
#include <string>

#include "actor/environments/environment_options.h"
#include "actor/environments/redfish_source.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/status.h"
#include "proto/demonstration.pb.h"

namespace shoal::actor {

// Plays `episodes` of each pair.
proto::DemonstrationChunk RecordDemonstrations(const RedfishData& data, std::uint64_t episodes);

// Does the whole job of an actor in mode "record": it loads captures and goals, records, and writes
// `path`. Services run in process whatever environment.access says, and goal texts have the noise
// of training. A small task is played by its scripted expert (simulation_recorder.h). Errors name
// the file, capture, goal or knob.
absl::Status RecordToFile(const EnvironmentOptions& environment, const runtime::RunOptions& run,
                          std::uint64_t episodes, const std::string& path);

}  // namespace shoal::actor
