// SPDX-License-Identifier: Apache-2.0
// The configuration section [mockserver].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mockserver/process/control.h"
#include "mockserver/process/instance_ports.h"
#include "mockserver/process/instance_table.h"
#include "mockserver/proxy/proxy_options.h"
#include "mockserver/service/standard_documents.h"
#include "mockserver/service/world.h"
#include "platform/http/server.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/config.h"

namespace shoal::mockserver {

struct Options {
  std::string listen = "";
  std::string control_listen = "";
  std::string metrics_listen = "";
  std::vector<std::string> captures = {
      "data/captures/openbmc-stock.tar.xz", "data/captures/dmtf-rackmount1.tar.xz",
      "data/captures/hpe-dl380a-gen12.tar.xz", "data/captures/dell-r750.tar.xz"};
  std::string schema = "data/schema/redfish.schema.zst";
  StandardDocumentsOptions documents;
  std::string success = "representation";
  bool writes_oem = false;
  bool tells_features = false;
  std::string privileges = "data/registries/registries.tar.xz";
  std::string mode = "stateful";
  std::string clock = "real";
  std::int64_t power_transient_ms = 0;
  std::int64_t task_duration_ms = 2'000;
  std::int64_t manager_restart_ms = 10'000;
  std::string certificate_file = "";
  std::string key_file = "";
  std::string authentication = "none";
  std::string preconditions = "optional";
  std::string account_password_file = "";
  std::vector<std::string> rules = {};
  std::vector<std::string> external_handler_hosts = {};
  std::string event_delivery = "push";
  std::int64_t threads = 1;
  std::int64_t max_connections = 4096;
  std::int64_t max_body_bytes = std::int64_t{1} << 20;
  std::int64_t max_header_bytes = std::int64_t{32} << 10;
  std::int64_t request_deadline_ms = 10'000;
  std::int64_t idle_deadline_ms = 300'000;
  std::int64_t max_instances = 4096;
  std::int64_t max_instance_ports = 64;
  std::int64_t instance_idle_seconds = 600;
  std::int64_t drain_ms = 2'000;
  ProxyOptions proxy;

  void Visit(runtime::Visitor& visitor);

  // Return the options of the services' front and of the control API. Addresses that are not set
  // here come from [cluster]. Only the front speaks TLS.
  http::ServerOptions Front(const runtime::ClusterOptions& cluster) const;
  http::ServerOptions Control(const runtime::ClusterOptions& cluster) const;
  InstancePortsOptions Ports(const runtime::ClusterOptions& cluster) const;
  // Returns FAILED_PRECONDITION when the password file cannot be read or is empty, and NOT_FOUND or
  // INVALID_ARGUMENT naming the rules file that is wrong.
  absl::StatusOr<InstanceTableOptions> Table() const;
  ControlOptions Controls() const;
  // REQUIRES: proxy.IsOn(). Returns FAILED_PRECONDITION for the proxy's password file as Table
  // does, and otherwise the errors of ProxyOptions::Settings.
  absl::StatusOr<ProxySettings> Proxy() const;
};

// Reads the schema, the privilege registry and the captures, each capture on a thread of its own.
// Returns the first error, which names the file.
absl::StatusOr<std::vector<std::shared_ptr<const World>>> LoadWorlds(const Options& options);

}  // namespace shoal::mockserver
