// SPDX-License-Identifier: Apache-2.0
#include "platform/display/event_writer.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::display {
namespace {

std::uint32_t Mask(std::uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8; }

template <typename T>
T Take(std::string& bytes) {
  T value;
  REQUIRE(bytes.size() >= sizeof value);
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.erase(0, sizeof value);
  return value;
}

std::string TakeRecord(std::string& bytes) {
  const std::string length_bytes = bytes.substr(0, 8);
  const auto length = Take<std::uint64_t>(bytes);
  REQUIRE(Take<std::uint32_t>(bytes) == Mask(Crc32c(length_bytes)));
  const std::string event = bytes.substr(0, length);
  bytes.erase(0, length);
  REQUIRE(Take<std::uint32_t>(bytes) == Mask(Crc32c(event)));
  return event;
}

}  // namespace

TEST_CASE("the checksum is Castagnoli's") {
  REQUIRE(Crc32c("123456789") == 0xe3069283);
  REQUIRE(Crc32c(std::string(32, '\0')) == 0x8a9136aa);
}

TEST_CASE("an event file begins with its version, then holds scalars by tag") {
  const doubles::TemporaryFolder folder;
  auto writer = EventWriter::Create(folder.path(), 1700000000.5);
  REQUIRE(writer.ok());
  REQUIRE((*writer)->Write(1700000001, 300, {{"loss", 0.5}}).ok());

  std::string path;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) path = entry.path();
  REQUIRE(path.find("/events.out.tfevents.1700000000.") != std::string::npos);
  std::string bytes = runtime::ReadFile(path).value();
  const std::string version = TakeRecord(bytes);
  REQUIRE(
      version.ends_with("\x1a\x0d"
                        "brain.Event:2"));
  const std::string scalar = TakeRecord(bytes);
  REQUIRE(bytes.empty());
  // Field 1 is a double, field 2 the varint 300, field 5 is {1: {1: "loss", 2: float 0.5}}.
  const std::string expected("\x10\xac\x02\x2a\x0d\x0a\x0b\x0a\x04loss\x15\x00\x00\x00\x3f", 18);
  REQUIRE(scalar.substr(0, 1) == "\x09");
  REQUIRE(scalar.substr(9) == expected);
}

}  // namespace shoal::display
