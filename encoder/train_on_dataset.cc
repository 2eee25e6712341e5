// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>
#include <thread>

#include "encoder/pretraining.h"
#include "platform/runtime/stop_signals.h"
#include "rl/model/policy.h"
#include "text/dataset/dataset.h"

namespace shoal::encoder {
namespace {

absl::StatusOr<TrainingMaterial> Divide(const dataset::Dataset& data,
                                        const PretrainingOptions& options) {
  const std::set<std::string> wanted(options.hold_out.begin(), options.hold_out.end());
  std::set<std::string> found;
  TrainingMaterial material;
  material.vocabulary_size = data.manifest().vocabulary_size;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const Chunk chunk{data.tokens(i), data.spans(i)};
    if (chunk.tokens.empty()) continue;
    material.longest = std::max(material.longest, static_cast<std::int64_t>(chunk.tokens.size()));
    const bool held_out = wanted.contains(data.capture(i));
    if (held_out) found.insert(data.capture(i));
    (held_out ? material.held_out : material.training).push_back(chunk);
  }
  for (const std::string& name : wanted) {
    if (!found.contains(name)) {
      return runtime::NotFound(options.dataset + " has no text of a capture '" + name + "'");
    }
  }
  const auto file = data.manifest().files.find(dataset::kChunksFile);
  if (file != data.manifest().files.end()) material.fingerprint = file->second.sha256;
  const auto tokenizer = std::filesystem::path(options.dataset) / dataset::kTokenizerFile;
  std::error_code error;
  if (std::filesystem::exists(tokenizer, error)) material.tokenizer = tokenizer.string();
  return material;
}

int ThreadsOf(const PretrainingOptions& options, std::int64_t ranks) {
  if (options.threads > 0) return options.threads;
  const auto processors = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  return static_cast<int>(std::max<std::int64_t>(1, processors / ranks));
}

}  // namespace

absl::Status TrainOnDataset(const PretrainingOptions& options, std::ostream& out) {
  SHOAL_ASSIGN_OR_RETURN(const auto data, dataset::Dataset::Open(options.dataset));
  SHOAL_ASSIGN_OR_RETURN(const TrainingMaterial material, Divide(*data, options));
  SHOAL_ASSIGN_OR_RETURN(const auto reducer, collectives::JoinGroup(options.group));
  const runtime::StopSignals signals;
  model::SetTorchThreads(ThreadsOf(options, reducer->world_size()));
  if (reducer->rank() == 0) {
    out << options.dataset << ": texts=" << material.training.size()
        << " held_out=" << material.held_out.size() << " vocabulary=" << material.vocabulary_size
        << " ranks=" << reducer->world_size() << std::endl;
  }
  const absl::Status end = Pretrain(
      options, material, *reducer, [&] { return signals.pending(); }, out);
  if (!end.ok()) reducer->Abort(end);
  return end;
}

}  // namespace shoal::encoder
