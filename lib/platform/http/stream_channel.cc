// SPDX-License-Identifier: Apache-2.0
#include "platform/http/stream_channel.h"

#include <utility>

namespace shoal::http {

StreamChannel::StreamChannel(std::size_t max_bytes, std::function<void()> wake)
    : max_bytes_(max_bytes), wake_(std::move(wake)) {}

bool StreamChannel::Write(std::string_view bytes) {
  bool fits = false;
  {
    const runtime::MutexLock lock(mutex_);
    if (closed_) return false;
    fits = bytes.size() <= max_bytes_ && waiting_.size() + sending_ <= max_bytes_ - bytes.size();
    if (fits) {
      waiting_.append(bytes);
      if (std::exchange(woken_, true)) return true;
    } else {
      closed_ = overflowed_ = true;
    }
  }
  wake_();
  return fits;
}

void StreamChannel::Close() {
  {
    const runtime::MutexLock lock(mutex_);
    if (std::exchange(closed_, true) || std::exchange(woken_, true)) return;
  }
  wake_();
}

void StreamChannel::OnEnd(std::function<void()> callback) {
  {
    const runtime::MutexLock lock(mutex_);
    if (!ended_) {
      on_end_.swap(callback);
      return;
    }
  }
  callback();
}

StreamChannel::Taken StreamChannel::Take() {
  const runtime::MutexLock lock(mutex_);
  woken_ = false;
  Taken taken{std::exchange(waiting_, {}), closed_};
  sending_ = taken.bytes.size();
  return taken;
}

bool StreamChannel::overflowed() const {
  const runtime::MutexLock lock(mutex_);
  return overflowed_;
}

void StreamChannel::End() {
  std::function<void()> callback;
  {
    const runtime::MutexLock lock(mutex_);
    closed_ = true;
    if (std::exchange(ended_, true)) return;
    waiting_.clear();
    callback.swap(on_end_);
  }
  if (callback) callback();
}

StreamWriter::StreamWriter(std::shared_ptr<StreamChannel> channel)
    : channel_(channel.get(), [channel](StreamChannel*) { channel->Close(); }) {}

bool StreamWriter::Write(std::string_view bytes) const { return channel_->Write(bytes); }
void StreamWriter::Close() const { channel_->Close(); }
void StreamWriter::OnClosed(std::function<void()> callback) const {
  channel_->OnEnd(std::move(callback));
}

}  // namespace shoal::http
