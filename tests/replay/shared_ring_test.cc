// SPDX-License-Identifier: Apache-2.0
#include "replay/shared_ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <deque>
#include <limits>
#include <string>
#include <utility>

#include "platform/runtime/random.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::replay {
namespace {

constexpr std::size_t kCapacity = 10000;

struct Ends {
  Ends() {
    auto made = RingWriter::Create(kCapacity);
    REQUIRE(made.ok());
    writer = *std::move(made);
    auto opened = RingReader::Open(writer->address());
    REQUIRE(opened.ok());
    reader = *std::move(opened);
  }

  std::unique_ptr<RingWriter> writer;
  std::unique_ptr<RingReader> reader;
};

proto::RingSpan SpanOf(std::uint64_t position, std::uint64_t bytes) {
  proto::RingSpan span;
  span.set_position(position);
  span.set_bytes(bytes);
  return span;
}

// A descriptor that is closed at the end.
struct Descriptor {
  ~Descriptor() { ::close(number); }
  int number = -1;
};

TEST_CASE("what is written to a ring is read whole, however often it goes round") {
  Ends ends;
  REQUIRE(ends.reader->capacity() == kCapacity);
  runtime::Random random(1);
  std::deque<std::pair<proto::RingSpan, std::string>> written;
  std::uint64_t total = 0;
  int full = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random.Below(kCapacity / 2), static_cast<char>(round));
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (const auto span = ends.writer->Write(bytes)) {
      total += bytes.size();
      written.emplace_back(*span, std::move(bytes));
      continue;
    }
    ++full;
    REQUIRE_FALSE(written.empty());
    const auto read = ends.reader->Read(written.front().first);
    REQUIRE(read.ok());
    REQUIRE(*read == written.front().second);
    REQUIRE(ends.writer->Free(ends.reader->position()).ok());
    written.pop_front();
  }
  REQUIRE(full > 100);
  REQUIRE(total > 100 * kCapacity);
}

TEST_CASE("a ring takes what fits, and more only once its reader has freed some") {
  Ends ends;
  REQUIRE_FALSE(ends.writer->Write(std::string(kCapacity + 1, 'x')));
  const auto first = ends.writer->Write(std::string(6000, 'a'));
  REQUIRE(first);
  REQUIRE_FALSE(ends.writer->Write(std::string(4001, 'b')));
  REQUIRE(ends.writer->Write(std::string(4000, 'b')));
  REQUIRE_FALSE(ends.writer->Write("c"));
  REQUIRE(ends.reader->Read(*first).ok());
  REQUIRE(ends.writer->Free(ends.reader->position()).ok());
  REQUIRE(ends.writer->Write(std::string(6000, 'c')));
  REQUIRE_FALSE(ends.writer->Write("d"));
}

TEST_CASE("an empty ring takes whatever it can hold, wherever its last payload ended") {
  Ends ends;
  for (const std::size_t bytes : {6000, 7000, 10000, 1, 10000, 9999}) {
    INFO(bytes);
    const auto span = ends.writer->Write(std::string(bytes, 'x'));
    REQUIRE(span);
    const auto read = ends.reader->Read(*span);
    REQUIRE(read.ok());
    REQUIRE(*read == std::string(bytes, 'x'));
    REQUIRE(ends.writer->Free(ends.reader->position()).ok());
  }
}

TEST_CASE("a reader that frees what was not written, or frees anew, is refused") {
  Ends ends;
  REQUIRE(ends.writer->Write(std::string(100, 'a')));
  REQUIRE(absl::IsInvalidArgument(ends.writer->Free(101)));
  REQUIRE(ends.writer->Free(100).ok());
  REQUIRE(ends.writer->Free(100).ok());
  REQUIRE(absl::IsInvalidArgument(ends.writer->Free(99)));
  REQUIRE(absl::IsInvalidArgument(ends.writer->Free(std::numeric_limits<std::uint64_t>::max())));
}

TEST_CASE("nothing outside a ring can be read, whatever the peer says") {
  Ends ends;
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  for (const auto& span : {SpanOf(0, kCapacity + 1), SpanOf(kCapacity - 1, 2), SpanOf(1, kLast),
                           SpanOf(kLast, 2), SpanOf(kLast - 5, 10), SpanOf(kLast, kLast)}) {
    INFO(span.ShortDebugString());
    REQUIRE(absl::IsInvalidArgument(ends.reader->Read(span).status()));
    REQUIRE(ends.reader->position() == 0);
  }
  REQUIRE(ends.reader->Read(SpanOf(500, 100)).ok());
  // What was read may be overwritten, where the reader frees it.
  REQUIRE(absl::IsInvalidArgument(ends.reader->Read(SpanOf(599, 1)).status()));
  REQUIRE(ends.reader->View(SpanOf(599, 1)).ok());
  REQUIRE(ends.reader->Read(SpanOf(7 * kCapacity, kCapacity)).ok());
}

TEST_CASE("a reader opens only a ring whose secret it was told") {
  Ends ends;
  const auto opens = [](const proto::RingAddress& address) {
    const auto status = RingReader::Open(address).status();
    REQUIRE((status.ok() || absl::IsFailedPrecondition(status)));
    return status.ok();
  };
  REQUIRE(opens(ends.writer->address()));
  proto::RingAddress other = ends.writer->address();
  other.mutable_secret()->back() ^= 1;
  REQUIRE_FALSE(opens(other));
  other.clear_secret();
  REQUIRE_FALSE(opens(other));
  other = ends.writer->address();
  other.set_process(std::numeric_limits<int>::max());
  REQUIRE_FALSE(opens(other));
  other = ends.writer->address();
  other.set_file(-1);
  REQUIRE_FALSE(opens(other));
}

TEST_CASE("a reader opens no file that could shrink, and waits for none") {
  Ends ends;
  const doubles::TemporaryFolder folder;
  proto::RingAddress address = ends.writer->address();
  const std::string page(MappedRing::kHeadBytes * 2, 'x');
  address.set_secret(page.substr(0, 16));
  const auto opens = [&address](int descriptor) {
    address.set_file(descriptor);
    return RingReader::Open(address).ok();
  };
  const Descriptor file{::open(folder.Write("file", page).c_str(), O_RDONLY)};
  REQUIRE_FALSE(opens(file.number));
  const Descriptor memory{::memfd_create("test", MFD_ALLOW_SEALING)};
  REQUIRE(::write(memory.number, page.data(), page.size()) == static_cast<ssize_t>(page.size()));
  REQUIRE_FALSE(opens(memory.number));
  REQUIRE(::fcntl(memory.number, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0);
  REQUIRE(opens(memory.number));
  const Descriptor small{::memfd_create("test", MFD_ALLOW_SEALING)};
  REQUIRE(::ftruncate(small.number, MappedRing::kHeadBytes) == 0);
  REQUIRE(::fcntl(small.number, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0);
  REQUIRE_FALSE(opens(small.number));
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  const Descriptor from{pipe[0]};
  const Descriptor to{pipe[1]};
  REQUIRE_FALSE(opens(from.number));
  REQUIRE_FALSE(opens(to.number));
}

TEST_CASE("each end goes on with its ring when the other is gone") {
  Ends ends;
  const auto span = ends.writer->Write("payload");
  ends.writer.reset();
  const auto read = ends.reader->Read(*span);
  REQUIRE(read.ok());
  REQUIRE(*read == "payload");

  Ends others;
  others.reader.reset();
  REQUIRE(others.writer->Write("payload"));
}

}  // namespace
}  // namespace shoal::replay
