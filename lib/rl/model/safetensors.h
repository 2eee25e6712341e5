// SPDX-License-Identifier: Apache-2.0
// Weight files: safetensors, read strictly.
//
// A file is 8 bytes little endian header length, a JSON header {name: {dtype, shape, data_offsets},
// "__metadata__": {text: text}}, and the bytes. Accepted: header up to 16 MiB, names unique,
// offsets that tile the data without gap or overlap, byte counts that fit dtype and shape.
// Everything else is INVALID_ARGUMENT (DATA_LOSS when the file ends early) naming the tensor or the
// byte of the file. What is on disk and large: safetensors_file.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"

namespace shoal::model {

using Metadata = std::map<std::string, std::string>;

// Borrows from the bytes that it was parsed from.
class SafetensorsView {
 public:
  struct Entry {
    std::string name;
    runtime::DType dtype;
    runtime::Shape shape;
    // Not aligned.
    std::span<const std::byte> bytes;
  };

  static absl::StatusOr<SafetensorsView> Parse(std::string_view file);

  const std::vector<Entry>& entries() const { return entries_; }
  const Metadata& metadata() const { return metadata_; }
  // Null when absent.
  const Entry* Find(std::string_view name) const;
  // FLOAT32 values of `name`; INVALID_ARGUMENT when absent or of another dtype or shape.
  absl::StatusOr<std::vector<float>> Floats(std::string_view name,
                                            std::span<const std::int64_t> shape) const;
  // The values of `name`, stored as F32, F16, BF16 or F64, into `out`. INVALID_ARGUMENT when absent
  // or of another dtype or shape. REQUIRES: `out` has the size that `shape` says.
  absl::Status ReadFloats(std::string_view name, std::span<const std::int64_t> shape,
                          std::span<float> out) const;

 private:
  std::vector<Entry> entries_;
  Metadata metadata_;
};

struct SafetensorsItem {
  std::string name;
  // Bytes outlive the call.
  runtime::TensorView tensor;
};

// Items in the given order; data starts at a multiple of 64. REQUIRES: names are unique UTF-8 and
// not "__metadata__", metadata is UTF-8, byte counts fit.
std::string WriteSafetensors(std::span<const SafetensorsItem> items, const Metadata& metadata);
// What of it comes before the items' bytes.
std::string WriteSafetensorsHeader(std::span<const SafetensorsItem> items,
                                   const Metadata& metadata);

}  // namespace shoal::model
