// SPDX-License-Identifier: Apache-2.0
// The addresses of processes of one kind, such as replay shards. A file may name them, one on each
// line, and is read again while the program runs, so that processes can be added and removed. Blank
// lines and lines that begin with # are left out. An address that was ever named has a number,
// which stays its own: their order is that in which they were first named.
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"

namespace shoal::transport {

class AddressList {
 public:
  // How often a file is read again at most.
  static constexpr std::chrono::seconds kInterval{1};

  // The list is `addresses` for ever.
  explicit AddressList(std::vector<std::string> addresses = {}) {
    SetAddresses(std::move(addresses));
  }
  // With an empty `file` the list is `addresses` for ever; otherwise the file is read. Returns the
  // errors of reading it, and INVALID_ARGUMENT, which names the file, if it names no address, one
  // twice, or one that is neither "host:port" nor "unix:PATH". `what` says in messages and in the
  // log what the addresses are of, such as "replay shard".
  static absl::StatusOr<AddressList> Create(std::vector<std::string> addresses, std::string file,
                                            std::string what);

  const std::vector<std::string>& addresses() const { return addresses_; }
  // All addresses by their numbers, also those that are named no longer.
  const std::vector<std::string>& ever_named() const { return ever_named_; }
  // Whether the address of that number is in addresses().
  bool Names(std::size_t number) const { return Names(ever_named_[number]); }
  bool Names(const std::string& address) const;
  // Whether a file may change the list.
  bool may_change() const { return !file_.empty(); }

  // Reads the file again if kInterval has passed since the last time. Returns true if the addresses
  // have changed. A file that Create would refuse leaves them as they were and is logged once.
  bool Refresh(runtime::TimePoint now);

 private:
  void SetAddresses(std::vector<std::string> addresses);

  std::vector<std::string> addresses_;
  std::vector<std::string> ever_named_;
  std::string file_;
  std::string what_;
  runtime::TimePoint next_read_{};
  // What was logged last.
  std::string error_;
};

}  // namespace shoal::transport
