// SPDX-License-Identifier: Apache-2.0
// A row of one environment and its answer, as an actor holds them: one object for each row, where
// the wire has a structure of arrays. proto/act.proto says what each field means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/content/content_key.h"
#include "proto/act.pb.h"
#include "rl/model/candidate_mark.h"

namespace shoal::inference::client {

// A text by its key. The zero key has no text.
struct ContentReference {
  content::ContentKey key = {};
  std::shared_ptr<const std::string> text = nullptr;
};

// Returns `text` with its key.
ContentReference ContentOf(std::string text);

// A catalog with the texts of its candidates, or an overlay on a catalog. Immutable, and shared by
// the rows that refer to it.
class CandidateList {
 public:
  // Makes a catalog. The action index follows the order of `candidates`.
  explicit CandidateList(std::vector<ContentReference> candidates);
  // Makes an overlay: the `removed` candidates of `base` are illegal, the `appended` ones follow
  // its own. REQUIRES: `base` is a catalog, and `removed` are ascending indices into it without
  // repeats.
  CandidateList(std::shared_ptr<const CandidateList> base, std::vector<std::uint32_t> removed,
                std::vector<ContentReference> appended);

  const content::ContentKey& key() const { return key_; }
  // The number of action indices, including removed candidates.
  std::size_t size() const { return (base_ == nullptr ? 0 : base_->size()) + candidates_.size(); }
  // REQUIRES: action < size().
  const ContentReference& at(std::size_t action) const;

  // Null for a catalog.
  const std::shared_ptr<const CandidateList>& base() const { return base_; }
  const std::vector<std::uint32_t>& removed() const { return removed_; }
  // The list's own candidates: all of a catalog, or those that an overlay appends.
  const std::vector<ContentReference>& candidates() const { return candidates_; }
  // The keys of `candidates()`, concatenated, 16 bytes each.
  const std::string& key_bytes() const { return key_bytes_; }

  // The list as it is sent to peers. REQUIRES: it is a catalog or an overlay, respectively.
  proto::Catalog AsCatalog() const;
  proto::Overlay AsOverlay() const;

 private:
  const std::shared_ptr<const CandidateList> base_;
  const std::vector<std::uint32_t> removed_;
  const std::vector<ContentReference> candidates_;
  std::string key_bytes_;
  content::ContentKey key_;
};

struct Row {
  std::uint64_t environment_id = 0;
  std::uint64_t incarnation = 0;
  std::uint64_t sequence = 0;
  std::uint64_t episode_id = 0;
  // Tells the policies apart where several are trained side by side.
  std::uint32_t policy_id = 0;
  // Rows with the same group share a start. In one message either all rows have a group or none
  // has.
  std::optional<std::uint64_t> group_id = std::nullopt;
  bool evaluate = false;
  // Whether the row tells again what was done, under another goal. It then has a forced action.
  bool relabelled = false;
  // Bits of proto::RowFlag.
  std::uint32_t flags = 0;
  float reward = 0;
  // The bytes of the spec's observations, concatenated, each in its own dtype. If empty, all are
  // zero.
  std::string observation = "";
  // One entry for each content field of the spec.
  std::vector<ContentReference> contents = {};
  // Null unless the spec's actions are candidates.
  std::shared_ptr<const CandidateList> catalog = nullptr;
  // The candidates of the catalog that have marks, ascending.
  std::vector<model::CandidateMark> marks = {};
  // [count], 1 for legal discrete actions. If empty, all are legal.
  std::vector<std::uint8_t> legal = {};
  // The action to take instead of the policy's own.
  std::optional<std::int64_t> forced_action = std::nullopt;
  // The bytes of the spec's extras, concatenated. If empty, all are zero.
  std::string extras = "";
  // If not set, the current policy.
  std::optional<proto::PolicySelector> policy = std::nullopt;
};

// An episode that the server goes on with after a restart. The environment begins it again, takes
// its actions, and then sends the row that follows, with this incarnation and sequence.
struct ResumedEpisode {
  std::uint64_t incarnation = 0;
  std::uint64_t episode_id = 0;
  std::uint64_t next_sequence = 0;
  // The actions so far, at least one: either these, or [k, n] where they are points of a box.
  std::vector<std::int64_t> actions = {};
  std::vector<float> box_actions = {};
};

struct Answer {
  enum class Outcome : std::uint8_t {
    // `action` holds the answer.
    kAction,
    // An end row was taken.
    kAccepted,
    // The row has no effect: the environment goes on with the episode in `resumed`. One that cannot
    // sends a FIRST row, with a sequence above that episode's and above all before.
    kResumed,
    // The row is refused for good; `error` says why.
    kInvalid,
    // The server knows a newer incarnation of the environment.
    kFenced,
    // The stream ended before the answer. `row` is the row, to be sent again or dropped.
    kLost,
  };
  Outcome outcome = Outcome::kLost;
  std::uint64_t environment_id = 0;
  std::uint64_t sequence = 0;
  std::int64_t action = -1;
  // [n], where the spec's actions are points of a box.
  std::vector<float> box_action = {};
  // The policy version that acted.
  std::uint64_t policy_epoch = 0;
  std::uint64_t policy_step = 0;
  std::string error = "";
  std::shared_ptr<const ResumedEpisode> resumed = nullptr;
  Row row = {};
};

}  // namespace shoal::inference::client
