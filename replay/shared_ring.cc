// SPDX-License-Identifier: Apache-2.0
#include "replay/shared_ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace shoal::replay {
namespace {

constexpr std::size_t kSecretBytes = 16;
constexpr std::size_t kMaxRingBytes = std::size_t{1} << 30;
// The size can never change, nor can this.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::string Reason(const std::string& what) { return what + ": " + std::strerror(errno); }

absl::Status Unreachable(const std::string& why) {
  return runtime::FailedPrecondition("the peer's shared memory cannot be used: " + why);
}

// Owns `descriptor`, which the result keeps where others are to find it. Returns null, with errno,
// if it cannot be mapped.
std::unique_ptr<MappedRing> Map(int descriptor, std::size_t capacity, bool keeps) {
  const int protection = keeps ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const begin =
      ::mmap(nullptr, MappedRing::kHeadBytes + capacity, protection, MAP_SHARED, descriptor, 0);
  const int failure = errno;
  if (begin == MAP_FAILED || !keeps) ::close(descriptor);
  errno = failure;
  if (begin == MAP_FAILED) return nullptr;
  return std::make_unique<MappedRing>(keeps ? descriptor : -1, static_cast<char*>(begin), capacity);
}

}  // namespace

MappedRing::~MappedRing() {
  ::munmap(begin_, kHeadBytes + capacity_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

absl::StatusOr<std::unique_ptr<RingWriter>> RingWriter::Create(std::size_t capacity) {
  const int descriptor = ::memfd_create("shoal-replay-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return runtime::ResourceExhausted(Reason("memfd_create"));
  const auto size = static_cast<off_t>(MappedRing::kHeadBytes + capacity);
  if (::fchmod(descriptor, S_IRUSR | S_IWUSR) != 0 || ::ftruncate(descriptor, size) != 0 ||
      ::fcntl(descriptor, F_ADD_SEALS, kSeals) != 0) {
    const std::string reason = Reason("shared memory");
    ::close(descriptor);
    return runtime::ResourceExhausted(reason);
  }
  std::unique_ptr<MappedRing> memory = Map(descriptor, capacity, /*keeps=*/true);
  if (memory == nullptr) return runtime::ResourceExhausted(Reason("shared memory"));
  std::string secret(kSecretBytes, '\0');
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size())) {
    return runtime::ResourceExhausted(Reason("getrandom"));
  }
  secret.copy(memory->head(), secret.size());
  std::unique_ptr<RingWriter> writer(new RingWriter(std::move(memory)));
  writer->address_.set_process(::getpid());
  writer->address_.set_file(descriptor);
  writer->address_.set_secret(std::move(secret));
  return writer;
}

std::optional<proto::RingSpan> RingWriter::Reserve(std::size_t bytes) {
  const std::size_t capacity = memory_->capacity();
  if (bytes > capacity) return std::nullopt;
  std::uint64_t at = next_;
  // What would go over the end begins anew at the beginning.
  if (const std::size_t left = capacity - at % capacity; left < bytes) at += left;
  const std::uint64_t used_from = freed_ == next_ ? at : freed_;
  if (at + bytes - used_from > capacity) return std::nullopt;
  next_ = at + bytes;
  proto::RingSpan span;
  span.set_position(at);
  span.set_bytes(bytes);
  return span;
}

char* RingWriter::At(const proto::RingSpan& span) const {
  return memory_->ring() + span.position() % memory_->capacity();
}

std::optional<proto::RingSpan> RingWriter::Write(std::string_view bytes) {
  std::optional<proto::RingSpan> span = Reserve(bytes.size());
  if (span) bytes.copy(At(*span), bytes.size());
  return span;
}

absl::Status RingWriter::Free(std::uint64_t position) {
  if (position < freed_ || position > next_) {
    return runtime::InvalidArgument(
        "the peer frees shared memory up to " + std::to_string(position) + ", of which " +
        std::to_string(freed_) + " to " + std::to_string(next_) + " are in use");
  }
  freed_ = position;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RingReader>> RingReader::Open(const proto::RingAddress& address) {
  const std::string path =
      "/proc/" + std::to_string(address.process()) + "/fd/" + std::to_string(address.file());
  // Another kind of file must not make this wait.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return Unreachable(Reason(path));
  struct stat file = {};
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  const bool sound = seals >= 0 && (seals & kSeals) == kSeals && ::fstat(descriptor, &file) == 0 &&
                     file.st_size > static_cast<off_t>(MappedRing::kHeadBytes) &&
                     file.st_size <= static_cast<off_t>(MappedRing::kHeadBytes + kMaxRingBytes);
  if (!sound) {
    ::close(descriptor);
    return Unreachable(path + " is no ring");
  }
  const std::size_t capacity = static_cast<std::size_t>(file.st_size) - MappedRing::kHeadBytes;
  std::unique_ptr<MappedRing> memory = Map(descriptor, capacity, /*keeps=*/false);
  if (memory == nullptr) return Unreachable(Reason(path));
  if (address.secret() != std::string_view(memory->head(), kSecretBytes)) {
    return Unreachable(path + " is another ring");
  }
  return std::unique_ptr<RingReader>(new RingReader(std::move(memory)));
}

absl::StatusOr<std::string_view> RingReader::View(const proto::RingSpan& span) const {
  const std::size_t capacity = memory_->capacity();
  const std::size_t at = span.position() % capacity;
  if (span.bytes() > capacity - at || span.position() + span.bytes() < span.position()) {
    return runtime::InvalidArgument(std::to_string(span.bytes()) + " bytes from " +
                                    std::to_string(span.position()) +
                                    " on are not in the shared memory");
  }
  return std::string_view(memory_->ring() + at, span.bytes());
}

absl::StatusOr<std::string_view> RingReader::Read(const proto::RingSpan& span) {
  SHOAL_ASSIGN_OR_RETURN(const std::string_view bytes, View(span));
  if (span.position() < position_) {
    return runtime::InvalidArgument("the shared memory was read up to " +
                                    std::to_string(position_) + ", not " +
                                    std::to_string(span.position()));
  }
  position_ = span.position() + span.bytes();
  return bytes;
}

}  // namespace shoal::replay
