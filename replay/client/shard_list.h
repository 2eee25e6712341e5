// SPDX-License-Identifier: Apache-2.0
// The addresses of the replay shards. A file may name them, one on each line, and is read again
// while the program runs, so that shards can be added and removed. Blank lines and lines that begin
// with # are left out.
//
// Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"

namespace shoal::replay::client {

class ShardList {
 public:
  // With an empty `file` the list is `addresses` for ever; otherwise the file is read. Returns the
  // errors of reading it, and INVALID_ARGUMENT, which names the file, if it names no address, one
  // twice, or one that is neither "host:port" nor "unix:PATH".
  static absl::StatusOr<ShardList> Create(std::vector<std::string> addresses, std::string file);

  const std::vector<std::string>& addresses() const { return addresses_; }

  // Reads the file again if a second has passed since the last time. Returns true if the addresses
  // have changed. A file that Create would refuse leaves them as they were and is logged once.
  bool Refresh(runtime::TimePoint now);

 private:
  ShardList(std::vector<std::string> addresses, std::string file)
      : addresses_(std::move(addresses)), file_(std::move(file)) {}

  std::vector<std::string> addresses_;
  std::string file_;
  runtime::TimePoint next_read_{};
  // What was logged last.
  std::string error_;
};

}  // namespace shoal::replay::client
