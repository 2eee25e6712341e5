// SPDX-License-Identifier: Apache-2.0
// The demonstrations of a file, ready to be trained on: texts embedded, unrolls decoded, and which
// of them come when.
//
// They are drawn without replacement, pass after pass over the whole file, each pass in an order of
// its own: what is drawn is a function of (seed, number) alone, and the ranks share it out, so a
// number is all that a checkpoint needs. Immutable after loading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "learner/unrolls/content_table.h"
#include "learner/unrolls/unroll_decoder.h"
#include "platform/runtime/status.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/model/policy_spec.h"
#include "text/embedding/encoder_source.h"

namespace shoal::learner {

struct DemonstrationSetOptions {
  std::string path;
  // The encoder must be the one that inference uses: demonstrations hold texts, not embeddings.
  embedding::EncoderSource encoder;
  embedding::EmbeddingCacheOptions embedding_cache;
  // Demonstrations in one batch, over all ranks together; at least 1.
  std::size_t per_batch = 64;
  std::uint64_t seed = 1;
};

class DemonstrationSet {
 public:
  // Adds embeddings and catalogs to `contents`. Errors name the file, the offset, the demonstration
  // and what is wrong with it; FAILED_PRECONDITION for a policy that the file does not fit.
  static absl::StatusOr<std::unique_ptr<DemonstrationSet>> Load(
      const DemonstrationSetOptions& options, const model::PolicySpec& spec,
      ContentTable& contents);

  // The part of batch `number` (counted from 0) that `rank` of `ranks` trains on; it may be empty.
  algorithms::UnrollBatch Batch(std::int64_t number, std::int64_t rank, std::int64_t ranks) const;

  std::size_t size() const { return unrolls_.size(); }
  const std::string& encoder_version() const { return encoder_version_; }

 private:
  DemonstrationSet(const DemonstrationSetOptions& options, model::PolicySpec spec);

  const DemonstrationSetOptions options_;
  const model::PolicySpec spec_;
  std::string encoder_version_;
  std::vector<DecodedUnroll> unrolls_;
};

}  // namespace shoal::learner
