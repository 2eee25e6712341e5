// SPDX-License-Identifier: Apache-2.0
#include "platform/transport/address_list.h"

#include <absl/strings/str_split.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/log.h"

namespace shoal::transport {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;

bool Contains(const std::vector<std::string>& addresses, const std::string& address) {
  return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

bool IsAddress(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const bool spaced = text.find_first_of(" \t") != std::string::npos;
  return !spaced && colon != std::string::npos && colon > 0 && colon + 1 < text.size();
}

absl::StatusOr<std::vector<std::string>> ReadAddresses(const std::string& file,
                                                       const std::string& what) {
  SHOAL_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(file, kMaxFileBytes));
  const std::vector<std::string> lines =
      absl::StrSplit(text, absl::ByAnyChar("\r\n"), absl::SkipEmpty());
  std::vector<std::string> addresses;
  for (const std::string& line : lines) {
    if (line.starts_with('#')) continue;
    if (!IsAddress(line)) {
      return runtime::InvalidArgument(file + ": '" + line + "' is not host:port or unix:PATH");
    }
    if (Contains(addresses, line)) {
      return runtime::InvalidArgument(file + " names " + line + " twice");
    }
    addresses.push_back(line);
  }
  if (addresses.empty()) return runtime::InvalidArgument(file + " names no " + what);
  return addresses;
}

}  // namespace

absl::StatusOr<AddressList> AddressList::Create(std::vector<std::string> addresses,
                                                std::string file, std::string what) {
  if (!file.empty()) {
    SHOAL_ASSIGN_OR_RETURN(addresses, ReadAddresses(file, what));
  }
  AddressList list(std::move(addresses));
  list.file_ = std::move(file);
  list.what_ = std::move(what);
  return list;
}

void AddressList::SetAddresses(std::vector<std::string> addresses) {
  addresses_ = std::move(addresses);
  for (const std::string& address : addresses_) {
    if (!Contains(ever_named_, address)) ever_named_.push_back(address);
  }
}

bool AddressList::Names(const std::string& address) const { return Contains(addresses_, address); }

bool AddressList::Refresh(runtime::TimePoint now) {
  if (file_.empty() || now < next_read_) return false;
  next_read_ = now + kInterval;
  absl::StatusOr<std::vector<std::string>> read = ReadAddresses(file_, what_);
  const std::string error = read.ok() ? std::string() : runtime::Message(read.status());
  if (error != std::exchange(error_, error) && !error.empty()) {
    spdlog::error("event=addresses_refused of={} reason={}", runtime::Quoted(what_),
                  runtime::Quoted(error));
  }
  if (!read.ok() || *read == addresses_) return false;
  SetAddresses(*std::move(read));
  return true;
}

}  // namespace shoal::transport
