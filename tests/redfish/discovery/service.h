// SPDX-License-Identifier: Apache-2.0
// Crawls of a shipped capture that the real front serves on loopback, with the standard's documents
// beside it as the program hosts them.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "mockserver/process/front.h"
#include "mockserver/process/instance_table.h"
#include "platform/http/server.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/capture_writer.h"
#include "redfish/discovery/discover.h"
#include "redfish/discovery/links.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/mockserver/service/documents.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::discovery {

class Service {
 public:
  // Its answer, if it has one, replaces that of the front.
  using Fault = std::function<std::optional<http::ServerResponse>(const http::ServerRequest&)>;

  explicit Service(const std::string& capture, mockserver::InstanceTableOptions options = {},
                   Fault fault = {}, http::ServerOptions server = {})
      : world_(mockserver::HostingWorldOf(capture)),
        table_(mockserver::InstanceTable::Create({world_}, std::move(options)).value()),
        front_(*table_, metrics_),
        fault_(std::move(fault)),
        server_(http::Server::Create(std::move(server), [this](const auto& request) {
                  return Handle(request);
                }).value()) {}

  const std::string& address() const { return server_->address(); }
  const http::Server& server() const { return *server_; }
  const redfish::Capture::Resources& resources() const { return world_->capture().resources(); }
  // Returns the methods of all requests so far.
  std::multiset<std::string> methods() {
    const std::lock_guard lock(mutex_);
    return methods_;
  }

  // Returns a crawl of the whole service into `folder`, without redaction.
  Discovery Whole(const std::string& folder) const {
    Discovery discovery{.source = "http://" + address(), .folder = folder};
    discovery.crawl.connection.address = address();
    discovery.crawl.back_off = std::chrono::milliseconds(1);
    discovery.crawl.longest_back_off = std::chrono::milliseconds(5);
    discovery.crawl.log_entries = true;
    discovery.crawl.sessions = true;
    discovery.crawl.redaction = std::nullopt;
    return discovery;
  }

 private:
  http::ServerResponse Handle(const http::ServerRequest& request) {
    {
      const std::lock_guard lock(mutex_);
      methods_.emplace(request.method());
    }
    if (fault_) {
      if (auto response = fault_(request)) return *std::move(response);
    }
    return front_.Handle(request);
  }

  const std::shared_ptr<const mockserver::World> world_;
  runtime::Metrics metrics_;
  const std::unique_ptr<mockserver::InstanceTable> table_;
  mockserver::Front front_;
  const Fault fault_;
  std::mutex mutex_;
  std::multiset<std::string> methods_;
  // The server comes last, since its threads use the members above.
  const std::unique_ptr<http::Server> server_;
};

// The resources of shipped captures that nothing links to, so that a crawl must be told of them.
inline const std::map<std::string, std::vector<std::string>>& Unlinked() {
  static const std::map<std::string, std::vector<std::string>> kUnlinked = {
      {"dell-r750", {"/redfish/v1/Managers/iDRAC.Embedded.1/Attributes"}},
      {"dmtf-rackmount1",
       {"/redfish/v1/AccountService/Accounts/2", "/redfish/v1/Chassis/1U/Sensors/CPU1Power",
        "/redfish/v1/Systems/437XR1138R2/SecureBoot/SecureBootDatabases/dbDefault/Signatures/1",
        "/redfish/v1/Systems/437XR1138R2/SecureBoot/SecureBootDatabases/dbxDefault/Signatures/1"}},
      // These are linked in lower case, and have no name of their own that would identify them.
      {"hpe-dl380a-gen12",
       {"/redfish/v1/RegistryStore/registries/en/biosattributeregistryu72.v1_1_34",
        "/redfish/v1/RegistryStore/registries/en/hpebiosmessageregistry.v1_0_0",
        "/redfish/v1/RegistryStore/registries/ja/biosattributeregistryu72.v1_1_34",
        "/redfish/v1/RegistryStore/registries/zh/biosattributeregistryu72.v1_1_34",
        "/redfish/v1/SchemaStore/en/attributeregistry.v1_2_1.json",
        "/redfish/v1/SchemaStore/en/bios.v1_2_3.json",
        "/redfish/v1/SchemaStore/en/hpebaseconfigs.v2_0_0.json",
        "/redfish/v1/SchemaStore/en/hpebiosext.v2_0_1.json",
        "/redfish/v1/SchemaStore/en/hpebiosmapping.v2_0_0.json",
        "/redfish/v1/SchemaStore/en/hpeiscsisoftwareinitiator.v2_0_0.json",
        "/redfish/v1/SchemaStore/en/hpenvmeofsoftwareinitiator.v1_0_0.json",
        "/redfish/v1/SchemaStore/en/hpeserverbootsettings.v2_0_0.json",
        "/redfish/v1/SchemaStore/en/hpeserverconfiglock.v1_0_0.json",
        "/redfish/v1/SchemaStore/en/hpetlsconfig.v1_0_0.json"}},
      {"openbmc-stock", {}},
      {"dmtf-acd",
       {"/redfish/v1/AccountService/Accounts/2",
        "/redfish/v1/Chassis/1U/NetworkAdapters/Slot1/Metrics",
        "/redfish/v1/Chassis/1U/NetworkAdapters/Slot1/NetworkDeviceFunctions/SC2KP2F0/Metrics",
        "/redfish/v1/Chassis/1U/NetworkAdapters/Slot1/Ports/SC2KP1/Metrics",
        "/redfish/v1/Chassis/1U/NetworkAdapters/Slot1/Ports/SC2KP2/Metrics",
        "/redfish/v1/Chassis/1U/NetworkAdapters/Slot2/Metrics",
        "/redfish/v1/Chassis/1U/NetworkAdapters/Slot2/Ports",
        "/redfish/v1/Chassis/1U/NetworkAdapters/Slot3/Metrics",
        "/redfish/v1/Chassis/1U/Sensors/CPU1Power"}},
      {"dmtf-catfish", {}},
      {"dmtf-liquid-cooled-server",
       {"/redfish/v1/AccountService/Accounts/2", "/redfish/v1/Chassis/1U/Sensors/CPU1Power",
        "/redfish/v1/Systems/437XR1138R2/SecureBoot/SecureBootDatabases/dbDefault/Signatures/1",
        "/redfish/v1/Systems/437XR1138R2/SecureBoot/SecureBootDatabases/dbxDefault/Signatures/1"}},
      {"dmtf-mpf", {}},
      {"dmtf-smartnic",
       {"/redfish/v1/AccountService/Accounts/2", "/redfish/v1/Chassis/1U/Sensors/CPU1Power",
        "/redfish/v1/Fabrics", "/redfish/v1/Fabrics/Ethernet",
        "/redfish/v1/Fabrics/Ethernet/AddressPools", "/redfish/v1/Fabrics/Ethernet/Endpoints",
        "/redfish/v1/Fabrics/Ethernet/Zones", "/redfish/v1/Fabrics/Ethernet/Zones/Zone1"}},
      {"dmtf-telemetry", {}}};
  return kUnlinked;
}

inline DiscoveryResult Crawled(const Discovery& discovery) {
  auto result = Discover(discovery, runtime::SystemClock(), {});
  INFO(result.status().ToString());
  REQUIRE(result.ok());
  return *std::move(result);
}

// REQUIREs that the capture in `folder` equals the service's, resource by resource.
inline void RequireSame(const std::string& folder, const redfish::Capture::Resources& expected) {
  const auto capture = redfish::Capture::Load(folder);
  INFO(capture.status().ToString());
  REQUIRE(capture.ok());
  const auto& resources = (*capture)->resources();
  for (const auto& [uri, body] : expected) {
    INFO(uri);
    const auto found = resources.find(uri);
    REQUIRE(found != resources.end());
    REQUIRE(found->second == body);
  }
  for (const auto& [uri, body] : resources) {
    INFO(uri);
    REQUIRE(expected.contains(uri));
  }
}

}  // namespace shoal::discovery
