// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/rounds.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "platform/runtime/median.h"

namespace shoal::bench {

absl::StatusOr<std::vector<double>> RunRounds(int count, bool on_request,
                                              const std::function<absl::StatusOr<Round>()>& round) {
  std::vector<double> seconds;
  const auto measure = [&]() -> absl::Status {
    SHOAL_ASSIGN_OR_RETURN(const Round measured, round());
    seconds.push_back(measured.seconds);
    std::printf("%.6f %.6f\n", measured.seconds, measured.result);
    std::fflush(stdout);
    return absl::OkStatus();
  };
  if (on_request) {
    std::printf("ready\n");
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) SHOAL_RETURN_IF_ERROR(measure());
  } else {
    for (int i = 0; i < count; ++i) SHOAL_RETURN_IF_ERROR(measure());
  }
  return seconds;
}

void PrintRates(nlohmann::json line, std::int64_t tokens, std::vector<double> seconds) {
  if (seconds.empty()) return;
  const auto [best, worst] = std::minmax_element(seconds.begin(), seconds.end());
  const auto rate = [&](double time) { return std::round(static_cast<double>(tokens) / time); };
  line["tokens_per_second"] = rate(runtime::Median(seconds));
  line["best"] = rate(*best);
  line["worst"] = rate(*worst);
  std::printf("%s\n", line.dump().c_str());
}

}  // namespace shoal::bench
