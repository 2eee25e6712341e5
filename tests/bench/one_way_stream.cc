// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/one_way_stream.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "platform/runtime/clock.h"

namespace shoal::bench {
namespace {

// A socket's address: a path in the file system, or a port of 127.0.0.1.
struct SocketAddress {
  explicit SocketAddress(const std::string& named) {
    if (named.starts_with('/')) {
      size = sizeof(sockaddr_un);
      auto& out = reinterpret_cast<sockaddr_un&>(storage);
      out.sun_family = AF_UNIX;
      named.copy(out.sun_path, sizeof out.sun_path - 1);
    } else {
      size = sizeof(sockaddr_in);
      auto& out = reinterpret_cast<sockaddr_in&>(storage);
      out.sin_family = AF_INET;
      out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      out.sin_port = htons(static_cast<std::uint16_t>(std::stoi(named)));
    }
  }
  int family() const { return storage.ss_family; }
  sockaddr* pointer() { return reinterpret_cast<sockaddr*>(&storage); }

  sockaddr_storage storage = {};
  socklen_t size = 0;
};

}  // namespace

void ServeSink(const std::string& listen, const Tell& tell) {
  SocketAddress address(listen);
  const int listener = ::socket(address.family(), SOCK_STREAM, 0);
  if (::bind(listener, address.pointer(), address.size) != 0) std::abort();
  ::listen(listener, 1);
  ::getsockname(listener, address.pointer(), &address.size);
  const bool is_path = listen.starts_with('/');
  tell(is_path ? listen
               : std::to_string(ntohs(reinterpret_cast<sockaddr_in&>(address.storage).sin_port)));
  const int stream = ::accept(listener, nullptr, nullptr);
  std::vector<char> buffer(1 << 20);
  while (::read(stream, buffer.data(), buffer.size()) > 0) {
  }
}

OneWayStream::OneWayStream(const std::string& sink, std::size_t bytes) : message_(bytes, 'x') {
  SocketAddress address(sink);
  socket_ = ::socket(address.family(), SOCK_STREAM, 0);
  if (::connect(socket_, address.pointer(), address.size) != 0) std::abort();
}

OneWayStream::~OneWayStream() { ::close(socket_); }

double OneWayStream::Measure(double seconds) {
  const auto start = runtime::SystemClock().Now();
  double elapsed = 0;
  double sent = 0;
  while (elapsed < seconds) {
    for (int i = 0; i < 64; ++i) {
      for (std::size_t at = 0; at < message_.size();) {
        const ssize_t written = ::write(socket_, message_.data() + at, message_.size() - at);
        if (written <= 0) std::abort();
        at += static_cast<std::size_t>(written);
      }
      sent += static_cast<double>(message_.size());
    }
    elapsed = std::chrono::duration<double>(runtime::SystemClock().Now() - start).count();
  }
  return sent / elapsed;
}

}  // namespace shoal::bench
