// SPDX-License-Identifier: Apache-2.0
// A socket with a deadline, at which it is closed.
//
// Moving the deadline is a comparison. The timer behind it is set only when it would fire too late;
// when it fires too early, it waits for the rest. Not thread-safe.
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
  // Returns whether the deadline passed and closed the socket, so that pending operations failed.
  bool has_passed() const { return guarded_->has_passed; }
  void Close();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  // The state that the timer refers to as long as the Deadline exists.
  struct Guarded {
    explicit Guarded(boost::asio::ip::tcp::socket open)
        : socket(std::move(open)), timer(socket.get_executor()) {}
    boost::asio::ip::tcp::socket socket;
    boost::asio::steady_timer timer;
    TimePoint deadline = TimePoint::max();
    // The time at which the timer fires; max means that it is not set.
    TimePoint armed = TimePoint::max();
    bool has_passed = false;
  };
  static void Arm(const std::shared_ptr<Guarded>& guarded);

  const std::shared_ptr<Guarded> guarded_;
};

}  // namespace shoal::http
