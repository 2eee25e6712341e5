// SPDX-License-Identifier: Apache-2.0
// Reads and writes safetensors weight files; the reader is strict.
//
// A file is an 8-byte little-endian header length, a JSON header {name: {dtype, shape,
// data_offsets}, "__metadata__": {text: text}}, and the data. The reader accepts a header of up to
// 16 MiB, unique names, offsets that tile the data without gap or overlap, and byte counts that fit
// dtype and shape. Everything else is INVALID_ARGUMENT (DATA_LOSS when the file ends early), naming
// the tensor or the byte of the file. safetensors_file.h handles large files on disk.
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

// A parsed file. It borrows from the bytes that it was parsed from.
class SafetensorsView {
 public:
  struct Entry {
    std::string name;
    runtime::DType dtype;
    runtime::Shape shape;
    // The bytes may be unaligned.
    std::span<const std::byte> bytes;
  };

  static absl::StatusOr<SafetensorsView> Parse(std::string_view file);

  const std::vector<Entry>& entries() const { return entries_; }
  const Metadata& metadata() const { return metadata_; }
  // Returns null when absent.
  const Entry* Find(std::string_view name) const;
  // Returns the bytes of the FLOAT32 values of `name`; INVALID_ARGUMENT when absent or of another
  // dtype or shape.
  absl::StatusOr<std::span<const std::byte>> FloatBytes(std::string_view name,
                                                        std::span<const std::int64_t> shape) const;
  // The same values, copied.
  absl::StatusOr<std::vector<float>> Floats(std::string_view name,
                                            std::span<const std::int64_t> shape) const;
  // Reads the values of `name`, stored as F32, F16, BF16 or F64, into `out`. Returns
  // INVALID_ARGUMENT when absent or of another dtype or shape. REQUIRES: `out` has the size that
  // `shape` implies.
  absl::Status ReadFloats(std::string_view name, std::span<const std::int64_t> shape,
                          std::span<float> out) const;

 private:
  std::vector<Entry> entries_;
  Metadata metadata_;
};

struct SafetensorsItem {
  std::string name;
  // The viewed bytes must outlive the call.
  runtime::TensorView tensor;
};

// Returns a file of the items in the given order; data starts at a multiple of 64. REQUIRES: names
// are unique UTF-8 and not "__metadata__", metadata is UTF-8, byte counts fit.
std::string WriteSafetensors(std::span<const SafetensorsItem> items, const Metadata& metadata);
// Returns the part of that file before the items' bytes.
std::string WriteSafetensorsHeader(std::span<const SafetensorsItem> items,
                                   const Metadata& metadata);

// A tensor whose bytes the caller writes after the header.
struct SafetensorsSlot {
  std::string name;
  runtime::DType dtype;
  runtime::Shape shape;
};

// The same for tensors whose bytes follow in this order. REQUIRES: as WriteSafetensors.
std::string WriteSafetensorsHeader(std::span<const SafetensorsSlot> slots,
                                   const Metadata& metadata);

}  // namespace shoal::model
