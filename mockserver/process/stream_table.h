// SPDX-License-Identifier: Apache-2.0
// The connections that carry the event streams of this process's instances.
//
// A stream lasts as long as its connection: when either ends, so does the other. Thread-safe. The
// table takes a slot's lock while it holds its own, so no method may be called with a slot's lock
// held.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "mockserver/process/instance_table.h"
#include "platform/http/stream_channel.h"
#include "platform/runtime/mutex.h"

namespace shoal::mockserver {

class StreamTable {
 public:
  using Slot = std::shared_ptr<InstanceTable::Slot>;

  // Returns the ServerResponse::stream for the answer with which Instance::Handle opened `stream`.
  // If all copies are destroyed without having been called, the stream is closed. It must not be
  // called after this object is destroyed.
  std::function<void(http::StreamWriter)> Writer(const Slot& slot, std::uint64_t stream);

  // Writes the pending text of the slot's streams, and closes the connections of those that have
  // ended.
  void Flush(const Slot& slot) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  class Lease;
  struct Connection {
    std::shared_ptr<Lease> lease;
    http::StreamWriter writer;
  };

  void Open(std::shared_ptr<Lease> lease, http::StreamWriter writer) ABSL_LOCKS_EXCLUDED(mutex_);
  void Close(const Lease* lease) ABSL_LOCKS_EXCLUDED(mutex_);

  runtime::Mutex mutex_;
  std::map<const Lease*, Connection> connections_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::mockserver
