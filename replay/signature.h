// SPDX-License-Identifier: Apache-2.0
// A signature lists the columns that the items of a table have: the name, dtype and shape of each.
// A shard never parses payloads, so clients state signatures, and a table compares what it is told.
//
// As text one column is one line, "NAME DTYPE [D, D, ...]". The shape leaves out the dimension of
// time, and a dimension that differs from item to item is "?". A line that ends with "optional" is
// a column that only some items have. Lines may come in any order.
//
// Not thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::replay {

class Signature {
 public:
  // Returns INVALID_ARGUMENT, which quotes the line, if a line is no column or names one twice, and
  // if the text is empty, longer than 64 KiB or has more than 512 columns.
  static absl::StatusOr<Signature> Parse(std::string_view text);

  // Takes the signature of one more item, whose optional columns are added to this one's. Returns
  // FAILED_PRECONDITION, which names the first column that differs and what it is on both sides,
  // and takes nothing, if the two differ in a column or one lacks a column that is not optional.
  absl::Status Admit(const Signature& item);

  // Returns FAILED_PRECONDITION, which names the column and what it is on both sides, if a column
  // that `reader` expects is another one here, or is missing here and not optional there.
  absl::Status CheckReader(const Signature& reader) const;

  // Returns the columns in the order of their names, a line each.
  std::string Text() const;

 private:
  struct Column {
    // "DTYPE [D, D, ...]".
    std::string type;
    bool optional = false;
  };

  static absl::Status ParseLine(std::string_view line, Signature& out);

  std::map<std::string, Column, std::less<>> columns_;
};

}  // namespace shoal::replay
