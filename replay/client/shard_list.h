// SPDX-License-Identifier: Apache-2.0
// The addresses of the replay shards. A file may name them, one on each line, and is read again
// while the program runs, so that shards can be added and removed. Blank lines and lines that begin
// with # are left out. A shard that was ever named has a number, which stays its own: their order
// is that in which they were first named.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
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
  // The addresses of all shards by their numbers, also of those that are named no longer.
  const std::vector<std::string>& ever_named() const { return ever_named_; }
  // Whether the shard of that number is in addresses().
  bool Names(std::size_t shard) const;

  // Reads the file again if a second has passed since the last time. Returns true if the addresses
  // have changed. A file that Create would refuse leaves them as they were and is logged once.
  bool Refresh(runtime::TimePoint now);

 private:
  ShardList(std::vector<std::string> addresses, std::string file) : file_(std::move(file)) {
    SetAddresses(std::move(addresses));
  }
  void SetAddresses(std::vector<std::string> addresses);

  std::vector<std::string> addresses_;
  std::vector<std::string> ever_named_;
  std::string file_;
  runtime::TimePoint next_read_{};
  // What was logged last.
  std::string error_;
};

}  // namespace shoal::replay::client
