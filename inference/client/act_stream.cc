// SPDX-License-Identifier: Apache-2.0
#include "inference/client/act_stream.h"

#include <utility>

namespace shoal::inference::client {

bool ActInbox::PutReply(proto::ActReply&& reply) {
  const runtime::MutexLock lock(mutex_);
  if (events_.replies.size() >= kMaxReplies) return false;
  events_.replies.push_back(std::move(reply));
  changed_.NotifyOne();
  return true;
}

void ActInbox::PutEnd(const absl::Status& status) {
  const runtime::MutexLock lock(mutex_);
  events_.end = status;
  changed_.NotifyOne();
}

void ActInbox::Stop() {
  const runtime::MutexLock lock(mutex_);
  events_.stopping = true;
  changed_.NotifyOne();
}

ActInbox::Events ActInbox::Await(runtime::Clock& clock, runtime::TimePoint deadline) {
  const runtime::MutexLock lock(mutex_);
  while (events_.replies.empty() && !events_.end && !events_.stopping) {
    if (!clock.WaitUntil(changed_, mutex_, deadline)) break;
  }
  Events taken;
  taken.stopping = events_.stopping;
  taken.replies.swap(events_.replies);
  taken.end.swap(events_.end);
  return taken;
}

}  // namespace shoal::inference::client
