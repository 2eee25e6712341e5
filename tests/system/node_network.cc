// SPDX-License-Identifier: Apache-2.0
#include "node_network.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace shoal::tests {
namespace {

bool Runs(const std::string& command) { return std::system(command.c_str()) == 0; }

void RequireRuns(const std::string& command) {
  INFO(command);
  REQUIRE(Runs(command));
}

}  // namespace

std::vector<NodeNetwork> NodeNetwork::All() {
  std::vector<NodeNetwork> networks;
  const char* const files = std::getenv("NETWORKS");
  std::istringstream words(files == nullptr ? "" : files);
  for (std::string file; words >> file;) networks.push_back({file, networks.size()});
  return networks;
}

NodeNetwork::NodeNetwork(std::string file, std::size_t number)
    : file_(std::move(file)),
      address_("10.99.0." + std::to_string(10 + number)),
      cable_("node" + std::to_string(number)) {}

void NodeNetwork::Cut() const { RequireRuns("ip link set " + cable_ + " down"); }

void NodeNetwork::Mend() const { RequireRuns("ip link set " + cable_ + " up"); }

bool NodeNetwork::Slow() const {
  const std::string discipline = "tc qdisc add dev " + cable_ + " root ";
  return Runs(discipline + "netem rate 10mbit delay 10ms 2>/dev/null") ||
         Runs(discipline + "tbf rate 10mbit burst 32kbit latency 400ms 2>/dev/null");
}

void NodeNetwork::Hasten() const { RequireRuns("tc qdisc del dev " + cable_ + " root"); }

}  // namespace shoal::tests
