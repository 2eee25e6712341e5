// SPDX-License-Identifier: Apache-2.0
// What tests that play episodes share: calls that are waited for, pairs by name.
#pragma once

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "actor/environment.h"
#include "actor/redfish_source.h"

namespace shoal::actor {

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
