// SPDX-License-Identifier: Apache-2.0
// Goals as data: the request, the resources it is about, and the starts of its episodes.
//
// A goal is one TOML file (data/goals/README.md explains its keys) and names no vendor. AppliedGoal
// binds it to a capture by landmarks and by which properties exist. DrawEpisode samples one
// episode: a text with fresh values, a start, the predicate, and the least number of mutations. The
// same (seed, split, number) gives the same episode on every machine; the two splits share neither
// phrasings nor random streams. Immutable, safe for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/random.h"
#include "platform/runtime/status.h"
#include "redfish/capture/capture.h"
#include "redfish/catalog/candidate.h"
#include "redfish/goals/phrase_pattern.h"
#include "redfish/goals/plan.h"
#include "redfish/goals/situation.h"
#include "redfish/goals/text_noise.h"
#include "redfish/goals/watch.h"

namespace shoal::redfish {

enum class Split : std::uint8_t { kTrain, kEvaluate };

// Where episodes of an applied goal start.
enum class Starts : std::uint8_t {
  kDrawn,      // in drawn states, which the capture must allow
  kExchanged,  // in the same states, but with the decisive value exchanged (Situation::exchanged)
  kPresent,    // wherever a service is: only EpisodeWith makes episodes
};

struct Episode {
  // The text that the agent reads.
  std::string text;
  // The values by slot name, e.g. {"AssetTag": "RACK-17-0042"}.
  SlotValues slot_values;
  // Operations to apply in order to a fresh copy of the capture with an empty history.
  std::vector<StartOperation> start;
  // Whether the goal holds at the start already: no mutation is the best answer.
  bool satisfied = false;
  // DrawEpisode always sets it.
  std::optional<Watch> watch;
  // Milestones that hold at the start must be latched before the first request, so that they earn
  // nothing.
  std::int64_t milestone_count = 0;
  // The least number of mutating requests from this start; 0 when satisfied.
  std::int64_t optimum = 0;
  // The values of the goal's "{names}", which PlanOf needs.
  Values values;
  // The name of the situation in which the episode starts; empty for a goal with targets.
  std::string situation;
  // Whether it is not the situation that was drawn, but the one that this names as its exchange.
  bool exchanged = false;
};

// One of the situations in which episodes of an applied goal start.
struct SituationShare {
  std::string name;
  // The probability that an episode starts in it.
  double share = 1.0;
  bool satisfied = false;
};

class AppliedGoal;

class Goal {
 public:
  // NOT_FOUND, or INVALID_ARGUMENT naming the file and the wrong key.
  static absl::StatusOr<std::shared_ptr<const Goal>> Load(const std::string& path);
  ~Goal();

  std::int64_t id() const;
  // The goal's name, such as "asset_tag".
  const std::string& name() const;
  // The patterns of training, and the sentences of the evaluation.
  const std::vector<PhrasePattern>& train_patterns() const;
  const std::vector<std::string>& evaluation_phrasings() const;
  // Returns the goal with `sentences` for its evaluation. INVALID_ARGUMENT names a "{name}" that
  // the goal's own sentences do not have, or that all of them have and one of `sentences` lacks.
  absl::StatusOr<std::shared_ptr<const Goal>> WithEvaluationPhrasings(
      std::vector<std::string> sentences) const;
  // Returns different sentences of training, at most `limit`, with "{names}" for values. Those of
  // targets are not among them.
  std::set<std::string> TrainTexts(std::size_t limit) const;

  struct Definition;
  const Definition& definition() const { return *definition_; }

 private:
  explicit Goal(std::unique_ptr<const Definition> definition);
  const std::unique_ptr<const Definition> definition_;
};

// All goals of a folder, sorted by id.
using GoalSuite = std::vector<std::shared_ptr<const Goal>>;
// Loads every *.toml of `folder`. INVALID_ARGUMENT when two share an id or a name, NOT_FOUND when
// there is none.
absl::StatusOr<GoalSuite> LoadGoals(const std::string& folder);
// Returns the suite with a person's sentences for its evaluation. The TOML file at `path` has an
// array of them by the goal's name; goals that it does not name keep their own. NOT_FOUND, or
// INVALID_ARGUMENT naming the file and what is wrong.
absl::StatusOr<GoalSuite> WithEvaluationPhrasings(GoalSuite suite, const std::string& path);

class AppliedGoal {
 public:
  // Binds `goal` to `capture`. `others`, the suite, may leave leftovers in starts. NOT_FOUND,
  // naming what is missing, when the goal does not apply to this capture.
  static absl::StatusOr<std::shared_ptr<const AppliedGoal>> Create(std::shared_ptr<const Goal> goal,
                                                                   const Capture& capture,
                                                                   const GoalSuite& others,
                                                                   Starts starts = Starts::kDrawn);
  ~AppliedGoal();

  // Returns the situations that the capture allows; empty for a goal with targets.
  std::vector<SituationShare> Situations() const;
  // `noise` is that of the sentence; it changes nothing else. The episode starts in the situation
  // of this index in Situations(), or without one in a situation that is drawn; all else is drawn
  // alike. FAILED_PRECONDITION unless starts are drawn, INVALID_ARGUMENT for an index past the end.
  absl::StatusOr<Episode> DrawEpisode(std::uint64_t seed, std::uint64_t number, Split split,
                                      const TextNoise& noise = {},
                                      std::optional<std::size_t> situation = std::nullopt) const;
  // Returns the task of reaching the goal with `given` values, by name, from wherever a service is:
  // an episode without text, start, situation and optimum. `given` names parameters, second draws
  // as "other:X", orders (whole, or "X:first" for the captured one with that member first), slots
  // and values of a choice; readings come from the capture. INVALID_ARGUMENT names a value that is
  // missing, that has the wrong type, or that the goal does not know, and the choices where `given`
  // leaves more than one or none.
  absl::StatusOr<Episode> EpisodeWith(const Values& given) const;
  // Returns a sentence of training that asks for the goal with the episode's values. The same
  // `number` gives the same sentence, and other numbers mostly others.
  std::string SentenceOf(const Episode& episode, std::uint64_t number) const;
  // Returns the requests with which an expert reaches the goal from the episode's start; empty when
  // the file has no plan.
  Plan PlanOf(const Episode& episode) const;

  // Returns what the goal requires, in the capture's own terms, when `values` stand for the
  // "{names}" of its phrasings. Names that are not among `values` get what the capture or the
  // goal's file says. `targets` are the names of the wanted targets; empty means all of them.
  // INVALID_ARGUMENT naming a value that is missing or does not fit.
  absl::StatusOr<Predicate> RequirementWith(Values values,
                                            const std::set<std::string>& targets) const;

  const Goal& goal() const;
  const std::string& capture_name() const;

  struct Binding;
  const Binding& binding() const { return *binding_; }

 private:
  explicit AppliedGoal(std::unique_ptr<const Binding> binding);
  const std::unique_ptr<const Binding> binding_;
};

// Returns all goals of the suite that apply to `capture`, sorted by id.
absl::StatusOr<std::vector<std::shared_ptr<const AppliedGoal>>> ApplyGoals(
    const GoalSuite& suite, const Capture& capture, Starts starts = Starts::kDrawn);

}  // namespace shoal::redfish
