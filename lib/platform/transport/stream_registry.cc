// SPDX-License-Identifier: Apache-2.0
#include "platform/transport/stream_registry.h"

#include <vector>

namespace shoal::transport {

bool StreamRegistry::Add(std::shared_ptr<LiveStream> stream) {
  const runtime::MutexLock lock(mutex_);
  if (draining_) return false;
  const LiveStream* key = stream.get();
  live_.emplace(key, std::move(stream));
  return true;
}

void StreamRegistry::Remove(const LiveStream* stream) {
  const runtime::MutexLock lock(mutex_);
  live_.erase(stream);
  if (live_.empty()) empty_.NotifyAll();
}

void StreamRegistry::DrainAll() {
  std::vector<std::shared_ptr<LiveStream>> streams;
  {
    const runtime::MutexLock lock(mutex_);
    draining_ = true;
    for (const auto& [key, weak] : live_) {
      if (auto stream = weak.lock()) streams.push_back(std::move(stream));
    }
  }
  for (const auto& stream : streams) stream->Drain();
}

bool StreamRegistry::AwaitEmpty(runtime::Duration grace, runtime::Clock& clock) {
  const runtime::TimePoint deadline = clock.Now() + grace;
  const runtime::MutexLock lock(mutex_);
  while (!live_.empty()) {
    if (!clock.WaitUntil(empty_, mutex_, deadline) && clock.Now() >= deadline) break;
  }
  return live_.empty();
}

std::size_t StreamRegistry::size() const {
  const runtime::MutexLock lock(mutex_);
  return live_.size();
}

}  // namespace shoal::transport
