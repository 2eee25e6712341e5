// SPDX-License-Identifier: Apache-2.0
// Writes scalars for TensorBoard into one event file, event by event.
//
// A record is: length (8 bytes, little endian), masked CRC32C of the length, an Event message,
// masked CRC32C of the message. Event is {1: wall_time double, 2: step int64, 3: file_version
// string | 5: Summary}; a Summary is repeated {1: Value{1: tag string, 2: simple_value float}}. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::display {

// Returns the CRC32C (Castagnoli) of `bytes`.
std::uint32_t Crc32c(std::string_view bytes);

class EventWriter {
 public:
  // Makes <folder>/events.out.tfevents.<seconds>.<host>.<pid>.0 and writes the version record into
  // it.
  static absl::StatusOr<std::unique_ptr<EventWriter>> Create(const std::string& folder,
                                                             double wall_seconds);

  // Writes one event that holds all `values` by tag; the operating system has the bytes before this
  // returns.
  absl::Status Write(double wall_seconds, std::int64_t step,
                     const std::map<std::string, double>& values);

 private:
  explicit EventWriter(std::string path);
  absl::Status WriteRecord(std::string_view event);

  const std::string path_;
  std::ofstream file_;
};

}  // namespace shoal::display
