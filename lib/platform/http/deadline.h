// SPDX-License-Identifier: Apache-2.0
// A socket, and until when it may stay open.
//
// Moving the deadline is a comparison: the timer behind it is set only when it would fire too late,
// and when it fires too early waits for the rest. Not thread-safe.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>

namespace shoal::http {

class Deadline {
 public:
  explicit Deadline(boost::asio::ip::tcp::socket socket);
  ~Deadline() { Close(); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  boost::asio::ip::tcp::socket& socket() { return guarded_->socket; }

  void Set(std::chrono::milliseconds from_now);
  void Clear();
  // It passed, and the socket was closed for it: what was under way has failed.
  bool has_passed() const { return guarded_->has_passed; }
  void Close();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  // What the timer reaches, while there is a Deadline.
  struct Guarded {
    explicit Guarded(boost::asio::ip::tcp::socket open)
        : socket(std::move(open)), timer(socket.get_executor()) {}
    boost::asio::ip::tcp::socket socket;
    boost::asio::steady_timer timer;
    TimePoint deadline = TimePoint::max();
    // When the timer fires; max: not at all.
    TimePoint armed = TimePoint::max();
    bool has_passed = false;
  };
  static void Arm(const std::shared_ptr<Guarded>& guarded);

  const std::shared_ptr<Guarded> guarded_;
};

}  // namespace shoal::http
