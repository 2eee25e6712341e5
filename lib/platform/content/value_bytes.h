// SPDX-License-Identifier: Apache-2.0
// Serialises a JSON value into bytes that no other value has, much faster than into its text.
//
// The bytes are for hashes within one process. Two values with the same bytes have the same
// canonical text (canonical_json.h) without the dropped members. The reverse does not hold: 1 and
// 1.0 differ here. Safe for any number of threads.
#pragma once

#include <bitset>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "platform/content/canonical_json.h"

namespace shoal::content {

class ValueBytes {
 public:
  // Leaves out the members named in `dropped`, which must outlive this object, at every depth.
  explicit ValueBytes(const VolatileNames& dropped = DefaultVolatileNames());

  // Appends the bytes to `out`. The call is recursive: see nesting.h.
  void Append(std::string& out, const nlohmann::json& value) const;

 private:
  bool IsDropped(const std::string& name) const;

  const VolatileNames& dropped_;
  // The (length, first letter, last letter) shapes of the dropped names; it rules most other names
  // out quickly.
  std::bitset<1 << 14> shapes_;
};

}  // namespace shoal::content
