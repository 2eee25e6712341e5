// SPDX-License-Identifier: Apache-2.0
// An actor's client of one inference server: rows go out in messages, answers come back one by one.
//
//   ActClient client({.address = "127.0.0.1:5000", .spec = spec}, handler);
//   client.Send(rows, connection);   // after handler.OnConnected(epoch, connection)
//
// The client holds one Act stream on a channel of its own and opens it again when it ends, after a
// pause with jittered back-off. After an attempt that did not reach the server, the next one waits
// for the channel, so that a server is found as soon as the channel is connected. It remembers
// which contents and catalogs the stream has carried, so that a text crosses the network once in a
// stream, or again when the server asks for it. The client handles NEED_CONTENT, NEED_CATALOG,
// OVERLOADED and EXPIRED itself by sending the same row again. The handler hears of a row once,
// with an outcome that is final for this stream.
//
// Every row that Send took is answered exactly once, with kLost when the stream ended first.
//
// Rows of one environment reach the server in the order of Send: a row that must be sent again
// holds up the later ones, and they leave together. Connections are numbered, and a row is written
// only to the connection that its sender named. A sender that does not know yet that a connection
// has ended, and that a row was lost with it, therefore cannot send a later row ahead of the lost
// one.
//
// Thread-safe. The handler runs on the client's one thread, never concurrently. The destructor
// cancels the stream and joins the thread; rows still pending then are dropped without an answer.
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
#include "proto/act.pb.h"

namespace shoal::inference::client {

struct ActClientOptions {
  // "host:port".
  std::string address = "";
  // The name in the server's logs: role, index, process id.
  std::string name = "actor";
  proto::EnvironmentSpec spec = {};
  // Whether rows may be relabelled.
  bool relabels = false;
  // The limit on rows without an answer.
  std::size_t max_outstanding = 8192;
  // The pause before a stream is opened again, doubled each time until a server says welcome, and
  // multiplied by a random number from [0.5, 1).
  std::chrono::milliseconds min_backoff{100};
  std::chrono::milliseconds max_backoff{2000};
  // A server that is connected and says no welcome within this time is tried again.
  std::chrono::milliseconds start_timeout{5000};
  // The delay before a row is sent again to a server that was too busy for it.
  std::chrono::milliseconds overload_delay{5};
};

class ActHandler {
 public:
  virtual ~ActHandler() = default;
  // The server said welcome. An epoch that differs from the last one means that the server forgot
  // every environment. `connection` counts from 1.
  virtual void OnConnected(std::uint64_t server_epoch, std::uint64_t connection) = 0;
  virtual void OnAnswers(std::vector<Answer> answers) = 0;
  // Called after the kLost answers. FAILED_PRECONDITION means that the server has another protocol
  // or spec: trying again will not help, though the client goes on trying.
  virtual void OnDisconnected(const absl::Status& status) = 0;
};

// Counts of wire statuses since construction, by proto::RowStatus.
using RowStatusCounts = std::array<std::uint64_t, 9>;

class ActClient {
 public:
  // `handler` and `clock` must outlive the client. Connects at once.
  ActClient(ActClientOptions options, ActHandler& handler,
            runtime::Clock& clock = runtime::SystemClock());
  ~ActClient();
  ActClient(const ActClient&) = delete;
  ActClient& operator=(const ActClient&) = delete;

  // Sends `rows` in their order, in one message unless their contents are large. After an error
  // `rows` stay with the caller unchanged:
  //   RESOURCE_EXHAUSTED  more than max_outstanding rows: try again after answers.
  //   UNAVAILABLE         `connection` has ended: use the number of the next OnConnected.
  absl::Status Send(std::vector<Row>& rows, std::uint64_t connection);

  // The number of rows that Send would take now.
  std::size_t room() const;
  RowStatusCounts status_counts() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// Checks a server's replies before any other code uses their arrays.
struct RowReply {
  std::uint64_t environment_id = 0;
  std::uint64_t sequence = 0;
  proto::RowStatus status = proto::ROW_OK;
  // Set for ROW_OK.
  std::int64_t action = -1;
  // [n] where actions are points of a box, otherwise empty.
  std::vector<float> box_action = {};
  std::uint64_t policy_epoch = 0;
  std::uint64_t policy_step = 0;
  // Set for ROW_INVALID.
  std::string error = "";
  // Set for ROW_RESUMED.
  std::shared_ptr<const ResumedEpisode> resumed = nullptr;
};

// Returns INVALID_ARGUMENT, which names the array, if a length, dtype or value is wrong.
absl::StatusOr<std::vector<RowReply>> ReadReplies(const proto::RowReplies& replies);

}  // namespace shoal::inference::client
