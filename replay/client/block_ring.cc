// SPDX-License-Identifier: Apache-2.0
#include "replay/client/block_ring.h"

#include <algorithm>
#include <optional>

namespace shoal::replay::client {

absl::StatusOr<std::shared_ptr<BlockRing>> BlockRing::Create(std::size_t capacity) {
  SHOAL_ASSIGN_OR_RETURN(auto writer, RingWriter::Create(capacity));
  return std::shared_ptr<BlockRing>(new BlockRing(std::move(writer)));
}

std::shared_ptr<RingBlock> BlockRing::Allocate(std::size_t bytes) {
  const runtime::MutexLock lock(mutex_);
  if (closed_ || bytes == 0) return nullptr;
  std::optional<proto::RingSpan> span = writer_->Reserve(bytes);
  if (!span) return nullptr;
  used_.push_back({.position = span->position(), .end = span->position() + bytes});
  char* const data = writer_->At(*span);
  return std::make_shared<RingBlock>(shared_from_this(), *std::move(span), data);
}

void BlockRing::Close() {
  const runtime::MutexLock lock(mutex_);
  closed_ = true;
}

void BlockRing::Release(const proto::RingSpan& span) {
  const runtime::MutexLock lock(mutex_);
  const auto found =
      std::lower_bound(used_.begin(), used_.end(), span.position(),
                       [](const Used& used, std::uint64_t at) { return used.position < at; });
  found->released = true;
  std::uint64_t end = 0;
  while (!used_.empty() && used_.front().released) {
    end = used_.front().end;
    used_.pop_front();
  }
  if (end > 0) writer_->Free(used_.empty() ? end : used_.front().position).IgnoreError();
}

}  // namespace shoal::replay::client
