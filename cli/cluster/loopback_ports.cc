// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/loopback_ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <random>

namespace shoal::cli {
namespace {

constexpr int kLowestPort = 10000;
constexpr int kAttemptsPerPort = 200;

int LowestOutgoingPort() {
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  int low = 0;
  return file >> low && low > kLowestPort + 1000 ? low : 32768;
}

// Returns the bound socket, or -1.
int Bind(int port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    return descriptor;
  }
  ::close(descriptor);
  return -1;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FreeLoopbackAddresses(int count) {
  std::random_device device;
  std::uniform_int_distribution<int> draw(kLowestPort, LowestOutgoingPort() - 1);
  std::vector<std::string> addresses;
  // The sockets stay bound until all ports are chosen, so that no port is chosen twice.
  std::vector<int> descriptors;
  for (int attempt = 0; attempt < count * kAttemptsPerPort; ++attempt) {
    if (addresses.size() == static_cast<std::size_t>(count)) break;
    const int port = draw(device);
    const int descriptor = Bind(port);
    if (descriptor < 0) continue;
    descriptors.push_back(descriptor);
    addresses.push_back("127.0.0.1:" + std::to_string(port));
  }
  std::for_each(descriptors.begin(), descriptors.end(), ::close);
  if (addresses.size() != static_cast<std::size_t>(count)) {
    return runtime::ResourceExhausted("no " + std::to_string(count) + " free ports on 127.0.0.1");
  }
  return addresses;
}

}  // namespace shoal::cli
