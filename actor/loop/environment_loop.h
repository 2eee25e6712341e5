// SPDX-License-Identifier: Apache-2.0
// One thread that plays many environments and exchanges their rows for actions with inference.
//
// All environments of a loop live on its thread. Rows that are ready are sent in one message as
// soon as there are enough of them, no other environment could add one, or the oldest has waited
// long enough. An environment uses the inference server that rendezvous hashing of its block
// chooses. When servers are added or removed, the environments that move finish their episode where
// it began, and begin the next one at the other server.
//
// When a connection is lost and the same server comes back with its memory (same epoch), the loop
// sends the unanswered rows again. A server that comes back without its memory has the running
// episodes of its environments cut off, and so does one that is named no longer and cannot be
// reached.
//
// Start and Stop must be called from one other thread. Stop drops what is under way and joins.
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
#include "actor/loop/hindsight.h"
#include "inference/client/act_client.h"
#include "platform/runtime/status.h"
#include "platform/transport/address_list.h"

namespace shoal::actor {

struct LoopOptions {
  std::uint64_t first_environment = 0;
  std::size_t environments = 64;
  std::uint64_t incarnation = 0;
  std::uint32_t policy_id = 0;
  // Rows ask for greedy actions, and inference stores none of them.
  bool evaluate = false;
  // The servers, at least one.
  transport::AddressList inference;
  std::string client_name = "actor";
  // Environments with the same id / block_size share a server.
  std::uint64_t block_size = 64;
  std::size_t rows_per_message_min = 16;
  std::size_t rows_per_message_max = 256;
  std::chrono::microseconds max_wait{500};
  // How often the loop tries to begin an episode that a service refuses before it gives the pair
  // up.
  int reset_attempts = 5;
  HindsightOptions hindsight = {};
  // The seed of the choice of goals.
  std::uint64_t hindsight_seed = 0;
};

class EnvironmentLoop {
 public:
  // Called from the loop's thread when going on is pointless, with FAILED_PRECONDITION from a
  // server, or ABORTED when newer actors have taken over every environment.
  using OnFailure = std::function<void(const absl::Status&)>;

  // All arguments but `options` outlive the loop.
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

// `spec` as the message that announces it to the server.
proto::EnvironmentSpec ToWire(const EnvironmentSpec& spec);

}  // namespace shoal::actor
