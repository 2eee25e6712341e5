// SPDX-License-Identifier: Apache-2.0
// How informative a feature of a text is: the logarithm of its rarity among the candidates of the
// services on which the table was fitted.
//
// Features are hashed into buckets, so there is no vocabulary. Rarity is averaged over services, so
// that a service with many candidates weighs as much as one with few. The file has the 8 bytes
// "SHOALIDF", then one byte for each bucket, idf * 16. A bucket without any candidate has 0 in the
// file and gets the weight of an unseen feature.
//
// Immutable; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::tokens {

class IdfTable {
 public:
  static constexpr std::size_t kBuckets = std::size_t{1} << 16;

  // Fits a table; not thread-safe.
  class Fit {
   public:
    Fit();
    // Starts the next service, to which the following calls of AddDocument belong.
    void StartService();
    // Adds one candidate. `features` are the hashes of its features; repeats count once. REQUIRES:
    // StartService was called.
    void AddDocument(std::span<const std::uint64_t> features);
    // Returns the bytes of the table's file.
    std::string Finish();

   private:
    void CloseService();

    std::vector<double> share_;                // [kBuckets], summed over closed services
    std::vector<std::uint32_t> documents_in_;  // [kBuckets], of the open service
    std::vector<std::uint32_t> last_seen_;     // [kBuckets], the document that last touched it
    std::uint32_t documents_ = 0;
    std::uint32_t last_document_ = 0;
    std::uint32_t services_ = 0;
  };

  // Returns DATA_LOSS when `bytes` are not such a file.
  static absl::StatusOr<IdfTable> Parse(std::string_view bytes);

  float Weight(std::uint64_t feature) const { return weight_[Bucket(feature)]; }
  static std::size_t Bucket(std::uint64_t feature) { return feature % kBuckets; }

 private:
  explicit IdfTable(std::vector<float> weight) : weight_(std::move(weight)) {}

  std::vector<float> weight_;  // [kBuckets]
};

}  // namespace shoal::tokens
