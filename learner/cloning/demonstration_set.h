// SPDX-License-Identifier: Apache-2.0
// The demonstrations of a file, ready for training: texts are embedded, unrolls decoded and batches
// numbered.
//
// Batches are sampled without replacement, epoch after epoch over the whole file, each epoch in an
// order of its own. A batch is a function of (seed, number) alone and the ranks share it, so a
// checkpoint needs only the number. Immutable after loading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "learner/unrolls/content_table.h"
#include "learner/unrolls/unroll_decoder.h"
#include "platform/runtime/status.h"
#include "proto/demonstration.pb.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/model/policy_spec.h"
#include "text/embedding/encoder_source.h"

namespace shoal::learner {

struct DemonstrationSetOptions {
  std::string path;
  // The encoder of inference, since demonstrations hold texts and not embeddings.
  embedding::EncoderSource encoder;
  embedding::EmbeddingCacheOptions embedding_cache;
  // The number of demonstrations in one batch over all ranks, at least 1.
  std::size_t per_batch = 64;
  std::uint64_t seed = 1;
};

class DemonstrationSet {
 public:
  // Adds embeddings and catalogs to `contents`; demonstrations of discrete actions have neither,
  // and no encoder is loaded for them. Errors name the file, the offset, the demonstration and the
  // reason. Returns FAILED_PRECONDITION if the file does not fit the policy.
  static absl::StatusOr<std::unique_ptr<DemonstrationSet>> Load(
      const DemonstrationSetOptions& options, const model::PolicySpec& spec,
      ContentTable& contents);

  // Returns the part of batch `number` (from 0) that `rank` of `ranks` trains on. It may be empty.
  algorithms::UnrollBatch Batch(std::int64_t number, std::int64_t rank, std::int64_t ranks) const;

  std::size_t size() const { return unrolls_.size(); }
  // Whole episodes.
  const std::vector<DecodedUnroll>& unrolls() const { return unrolls_; }
  // Empty where demonstrations have no texts.
  const std::string& encoder_version() const { return encoder_version_; }

 private:
  DemonstrationSet(const DemonstrationSetOptions& options, model::PolicySpec spec);
  absl::Status CheckActions(const proto::ActionSpec& action) const;
  absl::Status EmbedTexts(const proto::DemonstrationChunk& all, ContentTable& contents);

  const DemonstrationSetOptions options_;
  const model::PolicySpec spec_;
  std::string encoder_version_;
  std::vector<DecodedUnroll> unrolls_;
};

}  // namespace shoal::learner
