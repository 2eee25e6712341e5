// SPDX-License-Identifier: Apache-2.0
// A ring is memory through which one process hands payloads to another on the same host: the writer
// puts a payload into it, a message says where it is, and the reader reads it. So a payload is
// copied once on its way, and not through a socket.
//
// Bytes have positions, which count up without end from 0; each place in the ring has one position
// after another. A payload lies in one piece. What the writer may overwrite are all positions below
// that which was freed. The ring of a sampling stream is freed by its reader, which says up to
// where it has read; that of an inserting stream by its writer (replay/client/block_ring.h).
//
// Lifetime: the memory is a file without a name (memfd_create). It is gone when writer and reader
// are, however they end. The reader finds it as /proc/PROCESS/fd/FILE, so both have to be of
// one user, on one host and in one namespace of process ids. It takes only a file whose size can
// never change, so that no access to it can fault, and one that begins with the secret that its
// writer told, so that a peer cannot name memory of others.
//
// Trust: nothing that a peer says leads to an access outside the ring. The writer can change bytes
// while they are read. A shard, which serves others too, copies them before it checks them. A
// sampler parses them in place, and trusts its shard not to change them meanwhile.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "platform/runtime/status.h"
#include "proto/replay.pb.h"

namespace shoal::replay {

// The size of the ring that each stream has for its payloads: those of some thirty full messages.
inline constexpr std::size_t kRingBytes = std::size_t{32} << 20;

// A file of memory that is mapped.
class MappedRing {
 public:
  // The ring begins behind a page of its own for the secret.
  static constexpr std::size_t kHeadBytes = 4096;

  // Owns the mapping from now on, and `descriptor`, by which others find the file; -1 for none.
  MappedRing(int descriptor, char* begin, std::size_t capacity)
      : descriptor_(descriptor), begin_(begin), capacity_(capacity) {}
  ~MappedRing();
  MappedRing(const MappedRing&) = delete;
  MappedRing& operator=(const MappedRing&) = delete;

  char* head() const { return begin_; }
  char* ring() const { return begin_ + kHeadBytes; }
  std::size_t capacity() const { return capacity_; }

 private:
  const int descriptor_;
  char* const begin_;
  const std::size_t capacity_;
};

class RingWriter {
 public:
  // Makes a ring of so many bytes. They take memory once they are written to.
  // RESOURCE_EXHAUSTED: the system has no memory or no descriptor left.
  static absl::StatusOr<std::unique_ptr<RingWriter>> Create(std::size_t capacity);

  // Where another process finds the ring.
  const proto::RingAddress& address() const { return address_; }
  // Returns room for so many bytes, or nothing while there is none.
  std::optional<proto::RingSpan> Reserve(std::size_t bytes);
  // The memory of what was reserved. It belongs to the caller until it is freed.
  char* At(const proto::RingSpan& span) const;
  // Copies `bytes` into the ring. Returns nothing while there is no room for them.
  std::optional<proto::RingSpan> Write(std::string_view bytes);
  // Takes note that what is below `position` is free. INVALID_ARGUMENT: nothing was reserved there,
  // or it was freed before.
  absl::Status Free(std::uint64_t position);

 private:
  explicit RingWriter(std::unique_ptr<MappedRing> memory) : memory_(std::move(memory)) {}

  const std::unique_ptr<MappedRing> memory_;
  proto::RingAddress address_;
  // The position of the next byte, and the one below which all is free.
  std::uint64_t next_ = 0;
  std::uint64_t freed_ = 0;
};

class RingReader {
 public:
  // Maps the ring of another process. FAILED_PRECONDITION, with the reason: it cannot be reached
  // from here, or it is no ring of that process.
  static absl::StatusOr<std::unique_ptr<RingReader>> Open(const proto::RingAddress& address);

  // Returns the bytes there. INVALID_ARGUMENT: that is not in the ring.
  absl::StatusOr<std::string_view> View(const proto::RingSpan& span) const;
  // The same for a ring that its reader frees: what was written last is read last. The bytes last
  // until the writer is told that they are free. INVALID_ARGUMENT: what is there was read before.
  absl::StatusOr<std::string_view> Read(const proto::RingSpan& span);
  // The position up to which Read has read, to be told to the writer once it is no longer needed.
  std::uint64_t position() const { return position_; }
  std::size_t capacity() const { return memory_->capacity(); }

 private:
  explicit RingReader(std::unique_ptr<MappedRing> memory) : memory_(std::move(memory)) {}

  const std::unique_ptr<MappedRing> memory_;
  std::uint64_t position_ = 0;
};

}  // namespace shoal::replay
