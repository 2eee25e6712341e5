// SPDX-License-Identifier: Apache-2.0
// Columns of recorded unrolls, for tests.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "proto/unroll.pb.h"

namespace shoal::actor {

// Returns the values of a column with one row for each step.
template <typename T>
std::vector<T> ColumnOf(const proto::Unroll& unroll, const std::string& name) {
  for (const proto::NamedTensor& column : unroll.step_columns()) {
    if (column.name() != name) continue;
    std::vector<T> values(column.tensor().data().size() / sizeof(T));
    std::memcpy(values.data(), column.tensor().data().data(), column.tensor().data().size());
    return values;
  }
  throw std::runtime_error("no column " + name);
}

}  // namespace shoal::actor
