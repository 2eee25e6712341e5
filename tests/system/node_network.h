// SPDX-License-Identifier: Apache-2.0
// A network of its own for each node of a cluster on this machine, as tests/kubernetes/network.py
// makes them: a namespace with one address and a cable to a bridge, at which the test is.
//
// Not thread-safe. Every call is REQUIREd to succeed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace shoal::tests {

class NodeNetwork {
 public:
  // The address of the test.
  static constexpr const char* kBridge = "10.99.0.1";

  // Those that network.py made before it started the test; none without it.
  static std::vector<NodeNetwork> All();

  const std::string& address() const { return address_; }
  // The words before those of a command that runs in it.
  std::vector<std::string> Prefix() const { return {"/usr/bin/nsenter", "--net=" + file_}; }

  // Cuts the cable: whatever is sent is lost, and neither end is told. Mend puts it together.
  void Cut() const;
  void Mend() const;
  // Limits what reaches the network to 10 Mbit/s, where the system can also 10 ms later. Returns
  // false where the system can do neither.
  bool Slow() const;
  void Hasten() const;

 private:
  NodeNetwork(std::string file, std::size_t number);

  const std::string file_;
  const std::string address_;
  // This end of the cable.
  const std::string cable_;
};

}  // namespace shoal::tests
