// SPDX-License-Identifier: Apache-2.0
// The signature of an unroll: its columns, as replay compares them (replay/signature.h).
#pragma once

#include <string>

#include "inference/core/unroll.h"

namespace shoal::inference {

// Returns the text of the signature. Shapes leave out the dimension of rows; the columns that
// proto/unroll.proto calls conditional are optional.
std::string SignatureOf(const Unroll& unroll);

}  // namespace shoal::inference
