// SPDX-License-Identifier: Apache-2.0
// Helpers for tests that play episodes: they load data, wait for calls, find pairs by name and
// walk.
#pragma once

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "actor/environments/environment.h"
#include "actor/environments/redfish_source.h"

namespace shoal::actor {

// `options` must outlive the result.
inline SourceConfig ConfigOf(const EnvironmentOptions& options, std::uint64_t seed = 5) {
  static const runtime::ClusterOptions cluster;
  return {.environment = options, .cluster = cluster, .seed = seed, .captures = options.captures};
}

// Loads data with services in this process. Reading a capture takes longer than most cases, so keep
// the result.
inline RedfishData LoadInProcess(EnvironmentOptions options, std::uint64_t seed = 5) {
  options.access = "inprocess";
  auto loaded = LoadRedfishData(ConfigOf(options, seed));
  INFO(loaded.status());
  REQUIRE(loaded.ok());
  return *std::move(loaded);
}

// Returns the result of `call`, which must be OK. The environment's service runs on `context`, or
// in this process if that is null.
inline Transition Await(boost::asio::io_context* context,
                        const std::function<void(Environment::Done)>& call) {
  std::optional<absl::StatusOr<Transition>> answer;
  call([&](absl::StatusOr<Transition> transition) { answer = std::move(transition); });
  if (context != nullptr) context->restart();
  while (!answer && context != nullptr && context->run_one_for(std::chrono::seconds(5)) > 0) {
  }
  REQUIRE(answer.has_value());
  INFO(answer->status());
  REQUIRE(answer->ok());
  return **answer;
}

// Returns the index of the first pair of the goal, such as "1 power_on".
inline std::size_t PairOf(const RedfishData& data, const std::string& goal) {
  const auto& pairs = data.tasks->pairs;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].goal == goal) return i;
  }
  throw std::runtime_error("no pair for " + goal);
}

// Returns the keys, numbers, marks and rewards of a walk that visits all actions by arithmetic.
// `player` has Reset and Step.
template <typename Player>
std::vector<std::string> Walk(Player& player, std::uint64_t environment_id, int episodes) {
  std::vector<std::string> trace;
  const auto keep = [&trace](const Transition& transition) {
    std::string line = std::to_string(transition.reward);
    for (const float number : transition.observation.numeric) line += " " + std::to_string(number);
    for (const auto& content : transition.observation.contents) line += " " + content.key.ToHex();
    for (const model::CandidateMark& mark : transition.observation.marks) {
      line += " " + std::to_string(mark.candidate) + ":" + std::to_string(mark.bits);
    }
    trace.push_back(line);
  };
  std::uint64_t choice = 17;
  for (int episode = 0; episode < episodes; ++episode) {
    Transition transition = player.Reset(
        {.environment_id = environment_id, .episode = static_cast<std::uint64_t>(episode)});
    keep(transition);
    while (transition.end == End::kNone) {
      choice = choice * 6364136223846793005U + 1442695040888963407U;
      const auto& list = *transition.observation.catalog;
      auto action = static_cast<std::uint32_t>((choice >> 33) % list.size());
      const auto is_removed = [&list](std::uint32_t one) {
        return std::binary_search(list.removed().begin(), list.removed().end(), one);
      };
      while (is_removed(action)) action = (action + 1) % static_cast<std::uint32_t>(list.size());
      transition = player.Step(std::int64_t{action});
      keep(transition);
    }
  }
  return trace;
}

}  // namespace shoal::actor
