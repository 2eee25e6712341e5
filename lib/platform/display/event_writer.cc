// SPDX-License-Identifier: Apache-2.0
#include "platform/display/event_writer.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <cstring>

namespace shoal::display {
namespace {

constexpr std::uint32_t kCastagnoli = 0x82f63b78;
constexpr std::uint32_t kMaskDelta = 0xa282ead8;

std::array<std::uint32_t, 256> MakeTable() {
  std::array<std::uint32_t, 256> table;
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value & 1) != 0 ? (value >> 1) ^ kCastagnoli : value >> 1;
    }
    table[i] = value;
  }
  return table;
}

template <typename T>
void AppendFixed(std::string& out, T value) {
  static_assert(std::endian::native == std::endian::little);
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

void AppendVarint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void AppendTag(std::string& out, std::uint32_t field, WireType type) {
  AppendVarint(out, field << 3 | type);
}

void AppendBytes(std::string& out, std::uint32_t field, std::string_view bytes) {
  AppendTag(out, field, kBytes);
  AppendVarint(out, bytes.size());
  out.append(bytes);
}

std::string Event(double wall_seconds, std::int64_t step) {
  std::string event;
  AppendTag(event, 1, kFixed64);
  AppendFixed(event, wall_seconds);
  AppendTag(event, 2, kVarint);
  AppendVarint(event, static_cast<std::uint64_t>(step));
  return event;
}

std::uint32_t MaskedCrc(std::string_view bytes) {
  return std::rotr(Crc32c(bytes), 15) + kMaskDelta;
}

std::string HostName() {
  std::array<char, 256> name = {};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

std::uint32_t Crc32c(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = MakeTable();
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char byte : bytes) {
    crc = table[(crc ^ static_cast<std::uint8_t>(byte)) & 0xff] ^ (crc >> 8);
  }
  return ~crc;
}

EventWriter::EventWriter(std::string path)
    : path_(std::move(path)), file_(path_, std::ios::binary | std::ios::trunc) {}

absl::StatusOr<std::unique_ptr<EventWriter>> EventWriter::Create(const std::string& folder,
                                                                 double wall_seconds) {
  const std::string path = folder + "/events.out.tfevents." +
                           std::to_string(static_cast<std::int64_t>(wall_seconds)) + "." +
                           HostName() + "." + std::to_string(::getpid()) + ".0";
  std::unique_ptr<EventWriter> writer(new EventWriter(path));
  std::string event = Event(wall_seconds, 0);
  AppendBytes(event, 3, "brain.Event:2");
  SHOAL_RETURN_IF_ERROR(writer->WriteRecord(event));
  return writer;
}

absl::Status EventWriter::Write(double wall_seconds, std::int64_t step,
                                const std::map<std::string, double>& values) {
  std::string summary;
  for (const auto& [tag, value] : values) {
    std::string scalar;
    AppendBytes(scalar, 1, tag);
    AppendTag(scalar, 2, kFixed32);
    AppendFixed(scalar, static_cast<float>(value));
    AppendBytes(summary, 1, scalar);
  }
  std::string event = Event(wall_seconds, step);
  AppendBytes(event, 5, summary);
  return WriteRecord(event);
}

absl::Status EventWriter::WriteRecord(std::string_view event) {
  std::string record;
  AppendFixed(record, static_cast<std::uint64_t>(event.size()));
  AppendFixed(record, MaskedCrc(record));
  record.append(event);
  AppendFixed(record, MaskedCrc(event));
  file_.write(record.data(), static_cast<std::streamsize>(record.size()));
  file_.flush();
  if (!file_) return runtime::Internal("cannot write " + path_);
  return absl::OkStatus();
}

}  // namespace shoal::display
