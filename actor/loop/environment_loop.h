// SPDX-License-Identifier: Apache-2.0
// One thread that plays many environments and carries their rows to inference.
//
// All of the loop's environments live on its thread. Rows that are ready leave in one message as
// soon as there are enough of them, nobody else could add one, or the oldest has waited long
// enough. Environments stay with the inference server that rendezvous hashing of their block
// chooses.
//
// A server that comes back with its memory (same epoch) gets the unanswered rows again; one that
// comes back without has the running episodes of its environments cut off.
//
// Start and Stop are called from one other thread. Stop drops what is under way and joins.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actor/environments/environment_source.h"
#include "actor/loop/actor_metrics.h"
#include "actor/loop/episode_plan.h"
#include "inference/client/act_client.h"
#include "platform/runtime/status.h"

namespace shoal::actor {

struct LoopOptions {
  std::uint64_t first_environment = 0;
  std::size_t environments = 64;
  std::uint64_t incarnation = 0;
  std::uint32_t policy_id = 0;
  // Rows ask for greedy answers that nobody stores.
  bool evaluate = false;
  // "host:port", at least one.
  std::vector<std::string> inference = {};
  std::string client_name = "actor";
  // Environments with the same id / block_size share a server.
  std::uint64_t block_size = 64;
  std::size_t rows_per_message_min = 16;
  std::size_t rows_per_message_max = 256;
  std::chrono::microseconds max_wait{500};
  // Tries to begin an episode that a service refuses, before its pair is given up.
  int reset_attempts = 5;
};

class EnvironmentLoop {
 public:
  // Called from the loop's thread when going on is pointless: FAILED_PRECONDITION from a server, or
  // ABORTED when every environment was fenced.
  using OnFailure = std::function<void(const absl::Status&)>;

  // All but `options` outlive the loop.
  EnvironmentLoop(LoopOptions options, const EnvironmentSource& source, EpisodePlan& plan,
                  ActorMetrics& metrics);
  ~EnvironmentLoop();
  EnvironmentLoop(const EnvironmentLoop&) = delete;
  EnvironmentLoop& operator=(const EnvironmentLoop&) = delete;

  void Start(OnFailure on_failure);
  void Stop();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// What the server is told of `spec`.
proto::EnvironmentSpec ToWire(const EnvironmentSpec& spec);

}  // namespace shoal::actor
