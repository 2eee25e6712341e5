// SPDX-License-Identifier: Apache-2.0
// What tests that play episodes share: data that is loaded, calls that are waited for, pairs by
// name.
#pragma once

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

#include "actor/environment.h"
#include "actor/redfish_source.h"

namespace shoal::actor {

// `options` must outlive it.
inline SourceConfig ConfigOf(const EnvironmentOptions& options, std::uint64_t seed = 5) {
  static const runtime::ClusterOptions cluster;
  return {.environment = options, .cluster = cluster, .seed = seed, .captures = options.captures};
}

// With services in this process. Reading a capture takes longer than most cases: keep what it
// returns.
inline RedfishData LoadInProcess(EnvironmentOptions options, std::uint64_t seed = 5) {
  options.access = "inprocess";
  auto loaded = LoadRedfishData(ConfigOf(options, seed));
  INFO(loaded.status());
  REQUIRE(loaded.ok());
  return *std::move(loaded);
}

// What `call` ends with, which must be OK. The environment's service runs on `context`; null: in
// process.
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

// Index of the first pair of the goal, "1 power_on".
inline std::size_t PairOf(const RedfishData& data, const std::string& goal) {
  const auto& pairs = data.tasks->pairs;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].goal == goal) return i;
  }
  throw std::runtime_error("no pair for " + goal);
}

}  // namespace shoal::actor
