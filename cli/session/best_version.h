// SPDX-License-Identifier: Apache-2.0
// Keeps the parameters of the best version that was evaluated while training went on, since the
// last version of a run is not always its best.
//
// The learner keeps a version for a short time only, so the best one is fetched as soon as its
// evaluation ends. It is kept in a folder of its own, beside the run's initial version, and the
// learner serves what lies there. Beside it, best.json holds its score, by which a run that goes on
// judges later ones. Methods are for one thread; fetching runs on a thread of its own.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cli/results/evaluation.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "rl/parameters/fetcher.h"
#include "rl/parameters/parameters_file.h"

namespace shoal::cli {

// Returns whether an evaluation with `score` is better than one with `other`, where `highest` is
// the highest success of all: it succeeds more often by more than half a percent, or it takes fewer
// steps and its success is within half a percent of the highest. Without goals the mean return
// counts.
bool IsBetter(bool has_goals, const Score& score, const Score& other, double highest);

class BestVersion {
 public:
  struct Options {
    // The "host:port" of the learner, which serves single versions.
    std::string learner = {};
    // The folder in which the learner saves versions.
    std::string learner_folder = {};
    // Where the best version is kept, and from where the learner serves it.
    std::string folder = {};
  };

  // Goes on with the best version that the folder holds. Returns INVALID_ARGUMENT without an
  // address.
  static absl::StatusOr<std::unique_ptr<BestVersion>> Create(Options options);

  // Takes the evaluation of one version of the learned policy, named "epoch.step". Other names are
  // ignored.
  void Observe(const std::string& version, const Evaluation& evaluation)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits for a version that is being fetched, and returns the name of the best one; nullopt when
  // no version was kept.
  std::optional<std::string> Await() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Skipped {
    parameters::Version version;
    Score score;
    bool has_goals = false;
  };

  explicit BestVersion(Options options);
  void ReadScore() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status WriteScoreLocked(const parameters::Version& version, const Score& score) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Keep(const parameters::WantedVersion& wanted, absl::StatusOr<parameters::Parameters> fetched)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the version that was passed over, now to be fetched, once nothing is fetched any more
  // and the folder holds none that is as good.
  std::optional<parameters::Version> TakeSkippedLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  const parameters::ParametersFolder folder_;
  runtime::Mutex mutex_;
  runtime::CondVar fetched_;
  // The highest success that was seen.
  double highest_ ABSL_GUARDED_BY(mutex_) = 0;
  // The scores of versions that are being fetched.
  std::map<parameters::Version, Score> pending_ ABSL_GUARDED_BY(mutex_);
  // The best version that was passed over for a better one that was being fetched. It is fetched
  // when that fails.
  std::optional<Skipped> skipped_ ABSL_GUARDED_BY(mutex_);
  // The version that the folder holds, and its score.
  std::optional<parameters::Version> kept_ ABSL_GUARDED_BY(mutex_);
  std::optional<Score> best_ ABSL_GUARDED_BY(mutex_);
  // It ends before the members above.
  std::unique_ptr<parameters::Fetcher> fetcher_;
};

}  // namespace shoal::cli
