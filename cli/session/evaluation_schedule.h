// SPDX-License-Identifier: Apache-2.0
// Which published versions are evaluated where evaluations go by environment steps: for each
// multiple of the interval, the first version that the learner published at it or after and before
// the next multiple.
//
// The learner's log, learner.jsonl, tells when each version was published, and the session counts
// the steps that actors have taken. So neither the time that evaluations take nor the load of the
// machine decides which versions are judged, while inference retains those that wait. The learner's
// own count is no measure here: it leaves out rows that were never trained on. Where inference is
// about to forget the first version of a multiple, the first one takes its place that inference
// still has. A multiple of which inference has no version any more is passed over, and a line of
// the log says so. As the newest version is always there, some version is judged however few
// inference retains.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rl/parameters/version.h"

namespace shoal::cli {

// A version of the parameters, and the environment steps that the run had when it was published.
struct PublishedVersion {
  parameters::Version version;
  double environment_steps = 0;
  // How many intervals those steps are, without the part of one.
  std::int64_t multiple = 0;
};

class EvaluationSchedule {
 public:
  struct Options {
    // The learner's log. It need not be there yet.
    std::string learner_log = {};
    // Environment steps between the versions that are evaluated, above 0.
    double every = 1;
    // So many successive multiples are one group, at least 1. Versions of one group are evaluated
    // together.
    std::int64_t group = 1;
    // The steps of the version that was judged last. A run that goes on is judged from the first
    // multiple above these.
    double judged = 0;
    // How many of the newest versions inference retains, at least 1.
    std::int64_t retained = 1;
  };

  // What the log holds already is passed over.
  explicit EvaluationSchedule(Options options);

  // Says how many steps the run had at a time, and reads what the learner has logged until then.
  // Between two calls steps grow in proportion to time. REQUIRES: times and steps do not fall.
  void Count(double unix_seconds, double environment_steps);

  // Returns those of the next versions to evaluate that are of one group, in their order. A version
  // is returned once.
  std::vector<PublishedVersion> Take();

  // Returns the newest version in place of all that are due, or nothing where none is due.
  std::optional<PublishedVersion> TakeNewest();

  // Returns how many versions are due.
  std::int64_t due() const;

 private:
  struct Moment {
    double unix_seconds = 0;
    double environment_steps = 0;
  };
  struct Waiting {
    PublishedVersion published;
    // How many versions the log told of before.
    std::int64_t before = 0;
  };

  // Returns false for a line of which the session does not know the steps yet.
  bool Hear(std::string_view line);
  double StepsAt(double unix_seconds) const;
  double MultipleAbove(double steps) const;
  // Drops the versions that inference may have forgotten.
  void ForgetOldest();
  // What was published at this version's multiple is due no more.
  void PassMultipleOf(const PublishedVersion& taken);

  const Options options_;
  // A version that is older by so many publications may be gone before its episodes begin.
  const std::int64_t kept_;
  Moment earlier_;
  Moment now_;
  std::int64_t read_bytes_ = 0;
  parameters::Version newest_;
  std::int64_t publications_ = 0;
  double next_ = 0;
  // The versions that were published at the multiple next_ or after, in their order.
  std::deque<Waiting> waiting_;
};

}  // namespace shoal::cli
