// SPDX-License-Identifier: Apache-2.0
// A JSON value as a run of bytes that no other value has, much cheaper to make than its text.
//
// For hashes within one process: two values with the same bytes have the same canonical text
// (canonical_json.h) without the dropped members. The reverse does not hold: 1 and 1.0 differ here.
// Safe for any number of threads.
#pragma once

#include <bitset>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "platform/content/canonical_json.h"

namespace shoal::content {

class ValueBytes {
 public:
  // Members named in `dropped`, which outlives this, are left out at every depth.
  explicit ValueBytes(const VolatileNames& dropped = DefaultVolatileNames());

  // Behind what `out` holds. Recursive: see nesting.h.
  void Append(std::string& out, const nlohmann::json& value) const;

 private:
  bool IsDropped(const std::string& name) const;

  const VolatileNames& dropped_;
  // Lengths with first and last letters that dropped names have: others are told apart by them.
  std::bitset<1 << 14> shapes_;
};

}  // namespace shoal::content
