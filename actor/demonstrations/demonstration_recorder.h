// SPDX-License-Identifier: Apache-2.0
// Records what experts do as demonstrations (proto/demonstration.proto).
//
// Every pair of the data is played for a number of episodes, each one unroll; an episode that
// cannot be played is left out and counted, with the reason of its pair's first. A pair is left out
// whole when a request of its plan is no candidate, or when nothing but starts that satisfy the
// goal already could be played: what is left would teach that there is nothing to do. The same data
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

struct RecordingOptions {
  // Of each pair.
  std::uint64_t episodes = 40;
  // Share of requests that are answered 503.
  double fault_rate = 0;
};

// INVALID_ARGUMENT for a fault rate that is none.
absl::StatusOr<proto::DemonstrationChunk> RecordDemonstrations(const RedfishData& data,
                                                               const RecordingOptions& options);

// The whole job of an actor in mode "record": loads captures and goals, in process whatever
// environment.access says, with whole sentences; records, writes `path`. Errors name the file,
// capture, goal or knob.
absl::Status RecordToFile(const EnvironmentOptions& environment, const runtime::RunOptions& run,
                          const RecordingOptions& options, const std::string& path);

}  // namespace shoal::actor
