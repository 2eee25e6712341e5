// SPDX-License-Identifier: Apache-2.0
#include "text/lexical/idf_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace shoal::tokens {
namespace {

constexpr std::string_view kMagic = "SHOALIDF";
constexpr float kStep = 1.0F / 16;
// It lies between a common and a rare feature, since goals contain words that no service uses.
constexpr float kUnseenWeight = 3.0F;
constexpr double kRarest = 1e-4;

}  // namespace

IdfTable::Fit::Fit() : share_(kBuckets), documents_in_(kBuckets), last_seen_(kBuckets) {}

void IdfTable::Fit::StartService() {
  CloseService();
  ++services_;
}

void IdfTable::Fit::AddDocument(std::span<const std::uint64_t> features) {
  ++documents_;
  ++last_document_;
  for (const std::uint64_t feature : features) {
    const std::size_t bucket = Bucket(feature);
    if (std::exchange(last_seen_[bucket], last_document_) != last_document_) {
      ++documents_in_[bucket];
    }
  }
}

void IdfTable::Fit::CloseService() {
  for (std::size_t bucket = 0; bucket < kBuckets && documents_ > 0; ++bucket) {
    share_[bucket] += static_cast<double>(documents_in_[bucket]) / documents_;
    documents_in_[bucket] = 0;
  }
  documents_ = 0;
}

std::string IdfTable::Fit::Finish() {
  CloseService();
  std::string bytes(kMagic);
  bytes.reserve(kMagic.size() + kBuckets);
  for (const double share : share_) {
    double steps = 0;
    if (share > 0) {
      steps = std::round(std::log(1 + 1 / (share / services_ + kRarest)) / kStep);
    }
    bytes.push_back(static_cast<char>(static_cast<unsigned char>(std::clamp(steps, 0.0, 255.0))));
  }
  return bytes;
}

absl::StatusOr<IdfTable> IdfTable::Parse(std::string_view bytes) {
  if (bytes.size() != kMagic.size() + kBuckets || !bytes.starts_with(kMagic)) {
    return runtime::DataLoss("not an IDF table: " + std::to_string(bytes.size()) +
                             " bytes, expected " + std::to_string(kMagic.size() + kBuckets) +
                             " that start with " + std::string(kMagic));
  }
  bytes.remove_prefix(kMagic.size());
  std::vector<float> weight(kBuckets);
  std::transform(bytes.begin(), bytes.end(), weight.begin(), [](char steps) {
    return steps == 0 ? kUnseenWeight
                      : static_cast<float>(static_cast<unsigned char>(steps)) * kStep;
  });
  return IdfTable(std::move(weight));
}

}  // namespace shoal::tokens
