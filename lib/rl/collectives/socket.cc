// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

namespace shoal::collectives {
namespace {

constexpr int kUnixBufferBytes = 1 << 22;

std::string Reason(int error) { return std::generic_category().message(error); }

// The type URL of the payload that marks a connection that was reset.
constexpr const char* kResetMark = "shoal.collectives/reset";

absl::Status Late(const std::string& who) {
  return absl::DeadlineExceededError(who + " did not come in time");
}

absl::Status Lost(const std::string& peer, int error) {
  absl::Status status = runtime::Unavailable(peer + " was lost: " + Reason(error));
  if (error == ECONNRESET) status.SetPayload(kResetMark, absl::Cord());
  return status;
}

absl::Status WaitFor(int socket, short events, Deadline deadline, const std::string& who) {
  pollfd item{socket, events, 0};
  return AwaitEvents(std::span(&item, 1), deadline, who);
}

// Returns OK when `socket` accepts more data.
absl::Status WaitToSend(int socket, Deadline deadline, const std::string& peer) {
  pollfd item{socket, POLLOUT | POLLIN, 0};
  SHOAL_RETURN_IF_ERROR(AwaitEvents(std::span(&item, 1), deadline, peer));
  if ((item.revents & POLLOUT) != 0) return absl::OkStatus();
  return runtime::Unavailable(peer + " was lost: it has stopped listening");
}

bool MayRetry(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

// Errors of a connection that was about to be accepted (accept(2)).
bool IsOfConnection(int error) {
  constexpr std::array<int, 9> kErrors = {ECONNABORTED, ENETDOWN,   EPROTO,
                                          ENOPROTOOPT,  EHOSTDOWN,  ENONET,
                                          EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH};
  return std::find(kErrors.begin(), kErrors.end(), error) != kErrors.end();
}

bool IsWantOfMeans(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

void MakeReady(int socket) {
  const int one = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
}

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

absl::StatusOr<Addresses> Resolve(const std::string& address, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  const int error = ::getaddrinfo(address.c_str(), service.c_str(), &hints, &found);
  if (error != 0) {
    return runtime::FailedPrecondition("address " + address + ": " + ::gai_strerror(error));
  }
  return Addresses(found, ::freeaddrinfo);
}

// Returns -1 with errno when the connection fails or is late.
int TryConnect(const addrinfo& address, Deadline deadline) {
  const int socket = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  int error = 0;
  if (::connect(socket, address.ai_addr, address.ai_addrlen) != 0) {
    error = errno;
    if (error == EINPROGRESS) {
      socklen_t size = sizeof error;
      error = ETIMEDOUT;
      if (WaitFor(socket, POLLOUT, deadline, "").ok()) {
        ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
      }
    }
  }
  if (error == 0) return socket;
  ::close(socket);
  errno = error;
  return -1;
}

absl::StatusOr<std::string> AddressOf(int (*end)(int, sockaddr*, socklen_t*), int socket,
                                      const std::string& peer) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXHOST> text{};
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (end(socket, any, &size) != 0) return Lost(peer, errno);
  const int error = ::getnameinfo(any, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  if (error == 0) return std::string(text.data());
  return runtime::Unavailable("the address of " + peer + ": " + ::gai_strerror(error));
}

// Makes a socket that does not block, and returns it if `open` succeeds with its address.
template <typename Open>
absl::StatusOr<int> OpenUnix(const std::string& name, const Open& open) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The first byte stays zero: the name is no path.
  const std::size_t length = name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket >= 0) {
    // The kernel grants what its limit allows. With more on its way, neighbours wait less often.
    ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &kUnixBufferBytes, sizeof kUnixBufferBytes);
    if (open(socket, reinterpret_cast<const sockaddr*>(&address), size)) return socket;
  }
  const std::string reason = Reason(errno);
  if (socket >= 0) ::close(socket);
  return runtime::FailedPrecondition("the socket " + name + ": " + reason);
}

}  // namespace

bool WasReset(const absl::Status& status) { return status.GetPayload(kResetMark).has_value(); }

absl::Status CheckTime(Deadline deadline, const std::string& peers) {
  return std::chrono::steady_clock::now() > deadline ? Late(peers) : absl::OkStatus();
}

absl::Status AwaitEvents(std::span<pollfd> items, Deadline deadline, const std::string& peers) {
  for (;;) {
    const auto left = std::max<std::int64_t>(
        0, std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now())
               .count());
    const int timeout = static_cast<int>(std::min<std::int64_t>(left, 60'000));
    const int ready = ::poll(items.data(), items.size(), timeout);
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) return runtime::Unavailable(peers + ": " + Reason(errno));
    if (ready == 0 && left == 0) return Late(peers);
  }
}

absl::StatusOr<std::size_t> TrySend(int socket, std::span<const std::byte> bytes,
                                    const std::string& peer) {
  const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (MayRetry(errno)) return std::size_t{0};
  return Lost(peer, errno);
}

absl::StatusOr<std::size_t> TryReceive(int socket, std::span<std::byte> bytes,
                                       const std::string& peer) {
  const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), 0);
  if (got > 0) return static_cast<std::size_t>(got);
  if (got == 0) return runtime::Unavailable(peer + " was lost: it closed the connection");
  if (MayRetry(errno)) return std::size_t{0};
  return Lost(peer, errno);
}

absl::Status SendAll(int socket, std::span<const std::byte> bytes, Deadline deadline,
                     const std::string& peer) {
  while (!bytes.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const std::size_t sent, TrySend(socket, bytes, peer));
    bytes = bytes.subspan(sent);
    if (sent == 0) SHOAL_RETURN_IF_ERROR(WaitToSend(socket, deadline, peer));
    if (sent > 0 && !bytes.empty()) SHOAL_RETURN_IF_ERROR(CheckTime(deadline, peer));
  }
  return absl::OkStatus();
}

absl::Status ReceiveAll(int socket, std::span<std::byte> bytes, Deadline deadline,
                        const std::string& peer) {
  while (!bytes.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const std::size_t got, TryReceive(socket, bytes, peer));
    bytes = bytes.subspan(got);
    if (got == 0) SHOAL_RETURN_IF_ERROR(WaitFor(socket, POLLIN, deadline, peer));
    if (got > 0 && !bytes.empty()) SHOAL_RETURN_IF_ERROR(CheckTime(deadline, peer));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::size_t> AwaitReadable(std::span<const int> sockets, Deadline deadline,
                                          const std::string& peers) {
  std::vector<pollfd> items;
  for (const int socket : sockets) items.push_back({socket, POLLIN, 0});
  SHOAL_RETURN_IF_ERROR(AwaitEvents(items, deadline, peers));
  const auto ready = std::find_if(items.begin(), items.end(),
                                  [](const pollfd& item) { return item.revents != 0; });
  return static_cast<std::size_t>(ready - items.begin());
}

absl::StatusOr<int> Listen(const std::string& address, std::uint16_t& port) {
  SHOAL_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(address, port, AI_PASSIVE));
  const int listener =
      ::socket(addresses->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int one = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (listener < 0 || ::bind(listener, addresses->ai_addr, addresses->ai_addrlen) != 0 ||
      ::listen(listener, SOMAXCONN) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    const std::string reason = Reason(errno);
    if (listener >= 0) ::close(listener);
    return runtime::FailedPrecondition("cannot listen on " + address + ":" + std::to_string(port) +
                                       ": " + reason);
  }
  port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
  return listener;
}

absl::StatusOr<int> Accept(int listener, Deadline deadline) {
  for (;;) {
    SHOAL_RETURN_IF_ERROR(WaitFor(listener, POLLIN, deadline, "a rank"));
    const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket >= 0) {
      MakeReady(socket);
      return socket;
    }
    if (IsWantOfMeans(errno)) return runtime::ResourceExhausted("accept: " + Reason(errno));
    if (!MayRetry(errno) && !IsOfConnection(errno)) {
      return runtime::Unavailable("accept: " + Reason(errno));
    }
  }
}

absl::StatusOr<int> TryConnectTo(const std::string& address, std::uint16_t port, Deadline deadline,
                                 const std::string& peer) {
  SHOAL_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(address, port, 0));
  const int socket = TryConnect(*addresses, deadline);
  if (socket < 0) {
    return runtime::Unavailable(peer + " at " + address + ":" + std::to_string(port) + ": " +
                                Reason(errno));
  }
  MakeReady(socket);
  return socket;
}

absl::StatusOr<int> ConnectTo(const std::string& address, std::uint16_t port, Deadline deadline,
                              const std::string& peer) {
  for (;;) {
    absl::StatusOr<int> socket = TryConnectTo(address, port, deadline, peer);
    if (socket.ok()) return socket;
    const auto pause = std::chrono::milliseconds(50);
    if (std::chrono::steady_clock::now() + pause >= deadline) {
      return absl::IsUnavailable(socket.status())
                 ? Late(peer + " at " + address + ":" + std::to_string(port))
                 : socket.status();
    }
    std::this_thread::sleep_for(pause);
  }
}

absl::Status CheckNumeric(const std::string& address) {
  return Resolve(address, 0, AI_NUMERICHOST).status();
}

absl::StatusOr<int> ListenUnix(const std::string& name) {
  return OpenUnix(name, [](int socket, const sockaddr* address, socklen_t size) {
    return ::bind(socket, address, size) == 0 && ::listen(socket, SOMAXCONN) == 0;
  });
}

absl::StatusOr<int> ConnectUnix(const std::string& name) {
  return OpenUnix(name, [](int socket, const sockaddr* address, socklen_t size) {
    ucred peer{};
    socklen_t peer_size = sizeof peer;
    if (::connect(socket, address, size) != 0) return false;
    errno = EACCES;
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0 &&
           peer.uid == ::geteuid();
  });
}

absl::StatusOr<std::string> OwnAddress(int socket, const std::string& peer) {
  return AddressOf(::getsockname, socket, peer);
}

absl::StatusOr<std::string> PeerAddress(int socket, const std::string& peer) {
  return AddressOf(::getpeername, socket, peer);
}

absl::StatusOr<std::array<int, 2>> ConnectedPair() {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.data()) == 0) {
    return pair;
  }
  return runtime::ResourceExhausted("socketpair: " + Reason(errno));
}

}  // namespace shoal::collectives
