// SPDX-License-Identifier: Apache-2.0
// The writing end of a streamed answer, server-sent events say: what ServerResponse::stream is
// given.
//
// Thread-safe, copyable; copies write to the same answer, which ends well when one calls Close, the
// last copy goes, or the server drains. It is cut short when the peer goes (closes its end, be it
// only for sending), takes longer over one piece than the request deadline, or reads so slowly that
// more than ServerOptions::max_stream_bytes would wait. Calls never block.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace shoal::http {

class StreamChannel;

class StreamWriter {
 public:
  explicit StreamWriter(std::shared_ptr<StreamChannel> channel);

  // False when the answer has ended, or ends by this call because too much waits.
  bool Write(std::string_view bytes) const;
  void Close() const;
  // `callback` runs once, without locks, when the answer has ended, however it did: on a thread of
  // the server, or at once when it has ended already. A second one takes the first one's place.
  // It may hold a copy of this.
  void OnClosed(std::function<void()> callback) const;

 private:
  // Closes the channel with the last copy.
  std::shared_ptr<StreamChannel> channel_;
};

}  // namespace shoal::http
