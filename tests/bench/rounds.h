// SPDX-License-Identifier: Apache-2.0
// Runs the rounds of a measurement, one after the other or on a peer's request, and prints their
// rates.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::bench {

struct Round {
  double seconds = 0;
  // A number that is equal for all programs that compute the same.
  double result = 0;
};

// Runs `round` `count` times or, on request, prints "ready" and runs it for each line of standard
// input. Prints a line "<seconds> <result>" for each round. Returns the seconds, or the first
// error.
absl::StatusOr<std::vector<double>> RunRounds(int count, bool on_request,
                                              const std::function<absl::StatusOr<Round>()>& round);

// Prints `line` with "tokens_per_second" of the median round of `tokens` each, and those of the
// "best" and "worst" round. Prints no rates if there was no round.
void PrintRates(nlohmann::json line, std::int64_t tokens, std::vector<double> seconds);

}  // namespace shoal::bench
