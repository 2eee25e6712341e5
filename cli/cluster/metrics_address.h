// SPDX-License-Identifier: Apache-2.0
// Where a process, or a part of one, serves metrics.
#pragma once

#include <string>

namespace shoal::cli {

struct MetricsAddress {
  // Such as "actor-0".
  std::string name;
  // "host:port".
  std::string address;
};

}  // namespace shoal::cli
