// SPDX-License-Identifier: Apache-2.0
// How telling a feature of a text is: the logarithm of how rare it is among the candidates of the
// services that the table was fitted on.
//
// Features are hashed into buckets, so there is no vocabulary. Rarity is averaged over services, so
// that a service with many candidates weighs no more than one with few. On disk: 8 bytes
// "SHOALIDF", then one byte a bucket, idf * 16; a bucket that no candidate touched is 0 there and
// gets the weight of an unseen feature.
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
    // Starts the next service; AddDocument counts for it.
    void StartService();
    // `features`: hashes of one candidate's features; repeats count once.
    // REQUIRES: StartService was called.
    void AddDocument(std::span<const std::uint64_t> features);
    // The table's file.
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

  // DATA_LOSS when `bytes` are no such file.
  static absl::StatusOr<IdfTable> Parse(std::string_view bytes);

  float Weight(std::uint64_t feature) const { return weight_[Bucket(feature)]; }
  static std::size_t Bucket(std::uint64_t feature) { return feature % kBuckets; }

 private:
  explicit IdfTable(std::vector<float> weight) : weight_(std::move(weight)) {}

  std::vector<float> weight_;  // [kBuckets]
};

}  // namespace shoal::tokens
