// SPDX-License-Identifier: Apache-2.0
// The configuration section [mockserver.proxy]: the real host that the process stands in for, and
// the limits on its load.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mockserver/proxy/proxy.h"
#include "platform/runtime/config.h"

namespace shoal::mockserver {

struct ProxyOptions {
  std::string host = "";
  std::string record = "";
  std::string redact = "secrets";
  std::vector<std::string> allow = {};
  std::string user = "";
  std::string password_file = "";
  std::string authentication = "session";
  std::string ca_file = "";
  bool insecure = false;
  std::int64_t connections = 4;
  double requests_per_second = 0;
  std::int64_t connect_ms = 2'000;
  std::int64_t answer_ms = 30'000;
  std::int64_t max_answer_bytes = std::int64_t{64} << 20;
  std::int64_t max_record_bytes = std::int64_t{1} << 30;

  void Visit(runtime::Visitor& visitor);

  // When off, the process simulates services.
  bool IsOn() const { return !host.empty(); }

  // `password` is the content of password_file, or empty without one. Returns INVALID_ARGUMENT
  // naming what is wrong with the host or a mutation, or a user without a password; NOT_FOUND or
  // INVALID_ARGUMENT naming the file of authorities.
  absl::StatusOr<ProxySettings> Settings(std::string password) const;
};

}  // namespace shoal::mockserver
