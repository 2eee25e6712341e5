// SPDX-License-Identifier: Apache-2.0
// Runs several ranks in one test: each is a thread with its member of one group over loopback
// sockets.
#pragma once

#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/launch.h"
#include "rl/collectives/socket.h"
#include "rl/collectives/socket_reducer.h"

namespace shoal::doubles {

// The work of one rank. It runs on a thread of its own, where Catch's macros must not be used; it
// reports errors by the status that it returns.
using RankWork =
    std::function<absl::Status(std::size_t rank, collectives::GradientReducer& reducer)>;

inline const collectives::GroupOptions kPatientGroup = {.join_timeout = std::chrono::seconds(60),
                                                        .call_timeout = std::chrono::seconds(60)};

// The same with a ring for arrays of at least so many bytes; 0 makes none.
inline collectives::GroupOptions PatientGroup(std::int64_t ring_min_bytes) {
  collectives::GroupOptions options = kPatientGroup;
  options.ring_min_bytes = ring_min_bytes;
  return options;
}

// A group whose calls end after `call_timeout`.
inline collectives::GroupOptions Within(std::chrono::milliseconds call_timeout,
                                        std::int64_t ring_min_bytes) {
  collectives::GroupOptions options = PatientGroup(ring_min_bytes);
  options.call_timeout = call_timeout;
  return options;
}

// Every array goes over rank 0, or around the ring: values of ring_min_bytes.
inline constexpr std::array<std::int64_t, 2> kBothWays = {0, 1};

inline bool Mentions(const absl::Status& status, const std::string& text) {
  return std::string(status.message()).find(text) != std::string::npos;
}

// The deadline of a test that speaks to a rank itself.
inline collectives::Deadline Soon() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(20);
}

// Send and receive a structure in place of a rank. They are for the thread of the test alone.
template <typename T>
void Say(int socket, const T& message) {
  REQUIRE(collectives::SendValue(socket, message, Soon(), "a rank").ok());
}
template <typename T>
T Hear(int socket) {
  T message;
  REQUIRE(collectives::ReceiveValue(socket, message, Soon(), "a rank").ok());
  return message;
}

// Returns the environment of rank 0 of a new group with a port of its own.
inline collectives::RankEnvironment NewGroup(std::size_t ranks) {
  collectives::RankEnvironment environment;
  environment.world_size = static_cast<std::int64_t>(ranks);
  const auto listener = collectives::Listen("127.0.0.1", environment.master_port);
  REQUIRE(listener.ok());
  environment.master_listener = *listener;
  return environment;
}

// Returns a port that was free just now.
inline std::uint16_t FreePort() {
  const collectives::RankEnvironment group = NewGroup(1);
  ::close(group.master_listener);
  return group.master_port;
}

// Returns the environment of another rank of that group.
inline collectives::RankEnvironment MemberOf(const collectives::RankEnvironment& group,
                                             std::size_t rank) {
  collectives::RankEnvironment environment = group;
  environment.rank = static_cast<std::int64_t>(rank);
  if (rank != 0) environment.master_listener = -1;
  return environment;
}

// Runs `work` as every rank of one group and returns the status of each by rank. A rank that cannot
// join the group ends with that error, and one that throws ends with INTERNAL.
inline std::vector<absl::Status> TryRanks(
    std::size_t ranks, const RankWork& work,
    const collectives::GroupOptions& options = kPatientGroup) {
  const collectives::RankEnvironment group = NewGroup(ranks);
  std::vector<absl::Status> ends(ranks, runtime::Internal("the rank has not run"));
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        auto reducer = collectives::SocketReducer::Create(MemberOf(group, rank), options);
        ends[rank] = reducer.ok() ? work(rank, **reducer) : reducer.status();
      } catch (const std::exception& error) {
        ends[rank] = runtime::Internal(error.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return ends;
}

// Runs `work` in the same way, and fails the test unless every rank ends without an error.
inline void RunRanks(std::size_t ranks, const RankWork& work) {
  const std::vector<absl::Status> ends = TryRanks(ranks, work);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    INFO("rank " << rank << ": " << ends[rank]);
    REQUIRE(ends[rank].ok());
  }
}

}  // namespace shoal::doubles
