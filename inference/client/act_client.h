// SPDX-License-Identifier: Apache-2.0
// An actor's line to one inference server: rows go out in messages, answers come back one by one.
//
//   ActClient client({.address = "127.0.0.1:5000", .spec = spec}, handler);
//   client.Send(rows, connection);   // after handler.OnConnected(epoch, connection)
//
// Holds one Act stream on a channel of its own and opens it again with jittered back-off when it
// ends. Remembers which contents and catalogs the stream has carried, so that a text crosses the
// network once a stream, or again when the server asks for it. What the server says about that
// (NEED_CONTENT, NEED_CATALOG) and OVERLOADED and EXPIRED are settled here: the same row is sent
// again, and the handler hears of a row once, with an outcome that is final for this stream.
//
// Every row that Send took is answered exactly once, with kLost when the stream ended first.
//
// Rows of one environment reach the server in the order of Send: one that is to be sent again holds
// up those after it, and they leave together. Connections are numbered, and a row is written to no
// other one than its sender knew of: who was not told yet that a connection has ended, and that a
// lost row waits, cannot send a later row past it.
//
// Thread-safe. The handler runs on the client's one thread, never concurrently. The destructor
// cancels the stream and joins; rows still pending then are dropped without an answer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "inference/client/row.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"

namespace shoal::inference::client {

struct ActClientOptions {
  // "host:port".
  std::string address = "";
  // For the server's logs: role, index, process id.
  std::string name = "actor";
  proto::EnvironmentSpec spec = {};
  // Rows without an answer at most.
  std::size_t max_outstanding = 8192;
  // Between attempts to connect, doubled each time, times a draw from [0.5, 1).
  std::chrono::milliseconds min_backoff{100};
  std::chrono::milliseconds max_backoff{2000};
  // A server that has not said welcome by then is tried again.
  std::chrono::milliseconds start_timeout{5000};
  // Before a row that the server was too busy for is sent again.
  std::chrono::milliseconds overload_delay{5};
};

class ActHandler {
 public:
  virtual ~ActHandler() = default;
  // The server said welcome. Another epoch than the last one: it forgot every environment.
  // `connection` counts from 1.
  virtual void OnConnected(std::uint64_t server_epoch, std::uint64_t connection) = 0;
  virtual void OnAnswers(std::vector<Answer> answers) = 0;
  // After the kLost answers. FAILED_PRECONDITION: the server runs with another protocol or spec,
  // and trying again will not help, though the client does.
  virtual void OnDisconnected(const absl::Status& status) = 0;
};

// Counts of wire statuses since construction, by proto::RowStatus.
using RowStatusCounts = std::array<std::uint64_t, 8>;

class ActClient {
 public:
  // `handler` and `clock` outlive the client. Connects at once.
  ActClient(ActClientOptions options, ActHandler& handler,
            runtime::Clock& clock = runtime::SystemClock());
  ~ActClient();
  ActClient(const ActClient&) = delete;
  ActClient& operator=(const ActClient&) = delete;

  // Sends `rows` in their order, in one message unless their contents are large. On an error
  // `rows` stay with the caller, untouched:
  //   RESOURCE_EXHAUSTED  past max_outstanding: try again after answers.
  //   UNAVAILABLE         `connection` has ended: try again with the number of the next
  //   OnConnected.
  absl::Status Send(std::vector<Row>& rows, std::uint64_t connection);

  // Rows that Send would take now.
  std::size_t room() const;
  RowStatusCounts status_counts() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// The server for a block of environments: the same for every actor that knows the same addresses,
// and the least moves when one comes or goes (rendezvous hashing). REQUIRES: `addresses` is not
// empty.
std::size_t ChooseServer(const std::vector<std::string>& addresses, std::uint64_t block);

}  // namespace shoal::inference::client
