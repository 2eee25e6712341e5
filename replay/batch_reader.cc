// SPDX-License-Identifier: Apache-2.0
#include "replay/batch_reader.h"

#include <string>
#include <utility>

namespace shoal::replay {

BatchReader::BatchReader(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back("replay-read-" + std::to_string(i), [this] { Run(); });
  }
}

BatchReader::~BatchReader() {
  {
    const runtime::MutexLock lock(mutex_);
    ending_ = true;
    changed_.NotifyAll();
  }
  for (runtime::Thread& thread : threads_) thread.Join();
}

void BatchReader::Read(std::shared_ptr<SampleBatch> batch, std::function<void()> done) {
  auto reading = std::make_shared<Reading>();
  reading->left = Parts(*batch);
  reading->batch = std::move(batch);
  reading->done = std::move(done);
  const runtime::MutexLock lock(mutex_);
  queue_.push_back(std::move(reading));
  changed_.NotifyAll();
}

void BatchReader::Run() {
  while (true) {
    std::shared_ptr<Reading> reading;
    std::size_t first = 0;
    std::size_t count = 0;
    {
      const runtime::MutexLock lock(mutex_);
      while (!ending_ && queue_.empty()) changed_.Wait(mutex_);
      if (ending_) return;
      reading = queue_.front();
      first = reading->next;
      count = Neighbours(*reading->batch, first);
      reading->next += count;
      if (reading->next == Parts(*reading->batch)) queue_.pop_front();
    }
    ReadParts(*reading->batch, first, count);
    bool last = false;
    {
      const runtime::MutexLock lock(mutex_);
      last = (reading->left -= count) == 0;
    }
    if (last) reading->done();
  }
}

}  // namespace shoal::replay
