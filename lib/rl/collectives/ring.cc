// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/ring.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "rl/collectives/rank_name.h"
#include "rl/collectives/rank_share.h"
#include "rl/collectives/socket.h"

namespace shoal::collectives {
namespace {

// What is received at once to be combined, small enough to stay in the processor's cache.
constexpr std::size_t kArrivedBytes = std::size_t{1} << 17;
// The most that is sent at once, so that sending and receiving take turns.
constexpr std::size_t kSentBytes = std::size_t{1} << 18;
// Less than this of a segment is sent only at its end, since each call of the kernel has its price.
constexpr std::size_t kWorthSending = std::size_t{1} << 16;

}  // namespace

Ring::Ring(std::int64_t rank, std::int64_t world_size, int next, int previous)
    : rank_(rank),
      world_size_(world_size),
      next_(next),
      previous_(previous),
      next_name_(RankName((rank + 1) % world_size)),
      previous_name_(RankName((rank + world_size - 1) % world_size)),
      arrived_(kArrivedBytes) {}

Ring::~Ring() {
  ::close(next_);
  ::close(previous_);
}

void Ring::Begin(std::span<std::byte> values, const Elementwise& operation,
                 const CallHeader& header, Way way) {
  values_ = values;
  operation_ = operation;
  header_ = header;
  header_sent_ = heard_ = partial_ = 0;
  const std::int64_t half = world_size_ - 1;
  const std::int64_t first = way == Way::kAllGather ? half : 0;
  const std::int64_t steps = way == Way::kAllReduce ? 2 * half : half;
  own_ = SegmentOf(first).size();
  send_ = CourseOf(first, steps);
  receive_ = CourseOf(first + 1, steps);
}

std::span<std::byte> Ring::SegmentOf(std::int64_t step) const {
  const std::int64_t segment = (rank_ - 1 - step + 2 * world_size_) % world_size_;
  const RankShare share = ShareOf(values_.size() / operation_.element_bytes, segment, world_size_);
  return values_.subspan(share.begin * operation_.element_bytes,
                         share.size * operation_.element_bytes);
}

Ring::Course Ring::CourseOf(std::int64_t first, std::int64_t steps) const {
  Course course{.step = first};
  for (std::int64_t i = 0; i < steps; ++i) course.total += SegmentOf(first + i).size();
  Move(course, 0);
  return course;
}

void Ring::Move(Course& course, std::size_t bytes) const {
  course.moved += bytes;
  course.offset += bytes;
  while (!course.done() && course.offset == SegmentOf(course.step).size()) {
    ++course.step;
    course.offset = 0;
  }
}

absl::StatusOr<bool> Ring::Advance() {
  bool moved = false;
  for (const auto part : {&Ring::ReceiveHeader, &Ring::Receive, &Ring::SendHeader, &Ring::Send}) {
    SHOAL_ASSIGN_OR_RETURN(const bool did, (this->*part)());
    moved = moved || did;
  }
  return moved;
}

absl::StatusOr<bool> Ring::SendHeader() {
  if (header_sent_ == sizeof header_) return false;
  const auto rest = std::as_bytes(std::span(&header_, 1)).subspan(header_sent_);
  SHOAL_ASSIGN_OR_RETURN(const std::size_t sent, TrySend(next_, rest, next_name_));
  header_sent_ += sent;
  return sent > 0;
}

absl::StatusOr<bool> Ring::ReceiveHeader() {
  if (heard_ == sizeof heard_header_) return false;
  const auto rest = std::as_writable_bytes(std::span(&heard_header_, 1)).subspan(heard_);
  SHOAL_ASSIGN_OR_RETURN(const std::size_t got, TryReceive(previous_, rest, previous_name_));
  heard_ += got;
  if (got < rest.size() || heard_header_ == header_) return got > 0;
  return OutOfStep(previous_name_, heard_header_, header_);
}

std::size_t Ring::Sendable() const {
  if (send_.done()) return 0;
  // The steps send a segment of the rank's own, and then what was received, in the same order.
  const std::size_t ready = std::min(own_ + receive_.moved, send_.total) - send_.moved;
  const std::size_t rest = SegmentOf(send_.step).size() - send_.offset;
  return ready < std::min(rest, kWorthSending) ? 0 : std::min({ready, rest, kSentBytes});
}

absl::StatusOr<bool> Ring::Send() {
  const std::size_t sendable = Sendable();
  if (sendable == 0 || header_sent_ < sizeof header_) return false;
  const auto part = SegmentOf(send_.step).subspan(send_.offset, sendable);
  SHOAL_ASSIGN_OR_RETURN(const std::size_t sent, TrySend(next_, part, next_name_));
  Move(send_, sent);
  return sent > 0;
}

absl::StatusOr<bool> Ring::Receive() {
  if (heard_ < sizeof heard_header_ || receive_.done()) return false;
  const auto rest = SegmentOf(receive_.step).subspan(receive_.offset);
  if (receive_.step < world_size_) return ReceiveAndCombine(rest);
  SHOAL_ASSIGN_OR_RETURN(const std::size_t got, TryReceive(previous_, rest, previous_name_));
  Move(receive_, got);
  return got > 0;
}

absl::StatusOr<bool> Ring::ReceiveAndCombine(std::span<std::byte> rest) {
  const auto room =
      std::span(arrived_).first(std::min(rest.size(), arrived_.size())).subspan(partial_);
  SHOAL_ASSIGN_OR_RETURN(const std::size_t got, TryReceive(previous_, room, previous_name_));
  const std::size_t arrived = partial_ + got;
  partial_ = arrived % operation_.element_bytes;
  const std::size_t whole = arrived - partial_;
  operation_.combine(operation_.state, rest.data(), arrived_.data(), whole);
  std::memmove(arrived_.data(), arrived_.data() + whole, partial_);
  Move(receive_, whole);
  return got > 0;
}

}  // namespace shoal::collectives
