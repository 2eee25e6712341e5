// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/load.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "platform/runtime/median.h"

namespace shoal::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{1000};
constexpr std::size_t kReadBytes = std::size_t{1} << 18;
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kLength = "Content-Length: ";

struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

absl::Status Broken(const char* what) {
  return runtime::Unavailable(std::string("the server's connection broke: ") + what);
}

// One connection, and how much of its answer is still to come.
class Connection {
 public:
  Connection() = default;
  ~Connection() {
    if (socket_ >= 0) ::close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  absl::Status Open(const sockaddr_in& address, SSL_CTX* tls) {
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      return Broken("connect");
    }
    if (tls == nullptr) return absl::OkStatus();
    ssl_.reset(SSL_new(tls));
    SSL_set_fd(ssl_.get(), socket_);
    return SSL_connect(ssl_.get()) == 1 ? absl::OkStatus() : Broken("TLS handshake");
  }

  // Requests are small enough for the kernel's buffer of a connection that has nothing else to
  // send.
  absl::Status Send(std::string_view request) {
    left_ = 0;
    sent_ = SteadyClock::now();
    const int size = static_cast<int>(request.size());
    const auto sent = ssl_ ? SSL_write(ssl_.get(), request.data(), size)
                           : ::send(socket_, request.data(), request.size(), MSG_NOSIGNAL);
    return sent == size ? absl::OkStatus() : Broken("send");
  }

  // Reads what has arrived. Returns true if the answer is complete.
  absl::StatusOr<bool> Receive(std::vector<char>& buffer) {
    do {
      const auto size = ssl_ ? SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()))
                             : ::recv(socket_, buffer.data(), buffer.size(), 0);
      if (size <= 0) return Broken("recv");
      std::size_t bytes = static_cast<std::size_t>(size);
      if (left_ == 0) {
        SHOAL_ASSIGN_OR_RETURN(const std::size_t whole, Length({buffer.data(), bytes}));
        left_ = whole;
      }
      left_ -= std::min(left_, bytes);
    } while (ssl_ && left_ > 0 && SSL_has_pending(ssl_.get()) == 1);
    return left_ == 0;
  }

  int socket() const { return socket_; }
  SteadyClock::time_point sent() const { return sent_; }

 private:
  // Returns the length of an answer from its head, which is assumed to arrive in one piece.
  static absl::StatusOr<std::size_t> Length(std::string_view bytes) {
    const std::size_t head = bytes.find(kHeadEnd);
    const std::size_t length = bytes.substr(0, head).find(kLength);
    std::size_t body = 0;
    const bool is_good =
        bytes.starts_with("HTTP/1.1 2") && head != std::string_view::npos &&
        length != std::string_view::npos &&
        std::from_chars(bytes.data() + length + kLength.size(), bytes.data() + bytes.size(), body)
                .ec == std::errc();
    if (!is_good) {
      return runtime::FailedPrecondition("the server answers " + std::string(bytes.substr(0, 400)));
    }
    return head + kHeadEnd.size() + body;
  }

  int socket_ = -1;
  std::unique_ptr<SSL, FreeSsl> ssl_;
  std::size_t left_ = 0;
  SteadyClock::time_point sent_;
};

absl::StatusOr<sockaddr_in> Parse(const std::string& text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  const std::size_t colon = text.rfind(':');
  std::uint16_t port = 0;
  const bool is_address =
      colon != std::string::npos &&
      ::inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.sin_addr) == 1 &&
      std::from_chars(text.data() + colon + 1, text.data() + text.size(), port).ec == std::errc();
  if (!is_address) return runtime::InvalidArgument(text + " is no IPv4 host and port");
  address.sin_port = htons(port);
  return address;
}

double Microseconds(SteadyClock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

double Percentile(std::vector<float>& sorted, double part) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

absl::StatusOr<LoadResult> RunLoad(const LoadOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const sockaddr_in address, Parse(options.address));
  std::unique_ptr<SSL_CTX, FreeSsl> tls;
  if (options.tls) {
    tls.reset(SSL_CTX_new(TLS_client_method()));
    // Reads a whole record at once, not first its head and then its body.
    SSL_CTX_set_read_ahead(tls.get(), 1);
  }
  std::vector<std::unique_ptr<Connection>> connections;
  const int poll = ::epoll_create1(0);
  const std::shared_ptr<void> closes(nullptr, [poll](void*) { ::close(poll); });
  for (std::size_t i = 0; i < options.connections; ++i) {
    connections.push_back(std::make_unique<Connection>());
    SHOAL_RETURN_IF_ERROR(connections.back()->Open(address, tls.get()));
    epoll_event event{.events = EPOLLIN, .data = {.ptr = connections.back().get()}};
    ::epoll_ctl(poll, EPOLL_CTL_ADD, connections.back()->socket(), &event);
  }
  for (const auto& connection : connections) {
    SHOAL_RETURN_IF_ERROR(connection->Send(options.next()));
  }

  std::vector<char> buffer(kReadBytes);
  std::vector<float> latencies;
  std::array<epoll_event, 64> events{};
  auto begin = SteadyClock::now() + options.warm_up;
  const auto end = begin + options.duration;
  std::uint64_t total = 0;
  auto now = SteadyClock::now();
  bool counts = false;
  while (now < end) {
    const int ready = ::epoll_wait(poll, events.data(), static_cast<int>(events.size()),
                                   options.spins ? 0 : static_cast<int>(kPatience.count()));
    if (ready == 0) {
      const auto waited = SteadyClock::now() - now;
      if (!options.spins || waited > kPatience) return Broken("no answer within a second");
      continue;
    }
    for (int i = 0; i < ready; ++i) {
      auto& connection = *static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      SHOAL_ASSIGN_OR_RETURN(const bool is_whole, connection.Receive(buffer));
      if (!is_whole) continue;
      ++total;
      now = SteadyClock::now();
      if (counts) latencies.push_back(static_cast<float>(Microseconds(now - connection.sent())));
      SHOAL_RETURN_IF_ERROR(connection.Send(options.next()));
    }
    if (!counts && now >= begin) {
      counts = true;
      begin = now;
    }
  }
  const double seconds = std::chrono::duration<double>(now - begin).count();
  const double requests = static_cast<double>(latencies.size());
  std::sort(latencies.begin(), latencies.end());
  return LoadResult{.requests_total = total,
                    .requests_per_second = requests / seconds,
                    .p50_us = Percentile(latencies, 0.50),
                    .p99_us = Percentile(latencies, 0.99)};
}

std::string Get(std::string_view target) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n";
}

std::function<std::string_view()> Repeat(std::string request) {
  return [request = std::move(request)] { return std::string_view(request); };
}

Spread SpreadOf(std::vector<double> values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, runtime::Median(values), *most};
}

double ProcessorSeconds(int pid) {
  double nanoseconds = 0;
  std::error_code gone;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
    double spent = 0;
    std::ifstream(task.path() / "schedstat") >> spent;
    nanoseconds += spent;
  }
  return nanoseconds * 1e-9;
}

double ProcessorSecondsOfThisThread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void RunOn(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  ::sched_setaffinity(0, sizeof(set), &set);
}

}  // namespace shoal::bench
