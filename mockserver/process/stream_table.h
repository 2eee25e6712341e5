// SPDX-License-Identifier: Apache-2.0
// The connections on which event streams of this process's instances are shown.
//
// A stream lasts as long as its connection: when either ends, the other does. Thread-safe; takes
// the lock of a slot while it holds its own, so no method may be called with a slot's lock held.
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

  // What writes the answer that Instance::Handle opened `stream` for: ServerResponse::stream. When
  // all copies go without having been called, the stream is closed. Calls come before this goes.
  std::function<void(http::StreamWriter)> Writer(const Slot& slot, std::uint64_t stream);

  // Writes what the streams of the slot have to say, and ends those that have ended.
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
