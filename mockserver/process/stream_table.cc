// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/stream_table.h"

#include <optional>
#include <string>
#include <utility>

namespace shoal::mockserver {

// An open stream of an instance. The destructor closes it.
class StreamTable::Lease {
 public:
  Lease(Slot slot, std::uint64_t stream) : slot_(std::move(slot)), stream_(stream) {}
  ~Lease() {
    const runtime::MutexLock lock(slot_->mutex);
    slot_->instance.CloseStream(stream_);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  const Slot& slot() const { return slot_; }

  std::optional<std::string> Take() const {
    const runtime::MutexLock lock(slot_->mutex);
    return slot_->instance.TakeStreamText(stream_);
  }

 private:
  const Slot slot_;
  const std::uint64_t stream_;
};

std::function<void(http::StreamWriter)> StreamTable::Writer(const Slot& slot,
                                                            std::uint64_t stream) {
  return [this, lease = std::make_shared<Lease>(slot, stream)](http::StreamWriter writer) {
    Open(lease, std::move(writer));
  };
}

void StreamTable::Open(std::shared_ptr<Lease> lease, http::StreamWriter writer) {
  const Lease* const key = lease.get();
  const Slot slot = lease->slot();
  {
    const runtime::MutexLock lock(mutex_);
    connections_.insert_or_assign(key, Connection{std::move(lease), writer});
  }
  writer.OnClosed([this, key] { Close(key); });
  Flush(slot);
}

void StreamTable::Flush(const Slot& slot) {
  const runtime::MutexLock lock(mutex_);
  for (const auto& [key, connection] : connections_) {
    if (key->slot() != slot) continue;
    const std::optional<std::string> text = key->Take();
    if (!text.has_value()) {
      connection.writer.Close();
    } else if (!text->empty()) {
      connection.writer.Write(*text);
    }
  }
}

void StreamTable::Close(const Lease* lease) {
  std::optional<Connection> closed;
  const runtime::MutexLock lock(mutex_);
  const auto found = connections_.find(lease);
  if (found == connections_.end()) return;
  closed = std::move(found->second);
  connections_.erase(found);
}

}  // namespace shoal::mockserver
