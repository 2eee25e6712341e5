// SPDX-License-Identifier: Apache-2.0
// A request that is being put together: its parts are chosen one after another, then it is sent.
//
// A candidate with slots asks for the value of each slot. A candidate that composes asks for parts
// until the agent sends the request or drops it, and a part with slots asks for their values too.
// Each choice is one action among a short list, and the product of their probabilities is that of
// the whole request (an autoregressive policy; Vinyals et al., "StarCraft II: A New Challenge for
// Reinforcement Learning", 2017, section 4.2). Values come from the goal's sentence
// (redfish/goals/sentence_values.h), an order of a list also from what the resource holds, and any
// value also from the bodies that the episode has read (shown_values.h). Of these a slot is offered
// each value once, and only so many as the draft may: those first under whose name, or from whose
// resource, the goal's text speaks, then those of a property with the slot's own name. They are
// described by where they come from, never by themselves.
//
// Not thread-safe. What is open is a function of the episode's text, of what it has read, and of
// the choices.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actor/environments/generation_cache.h"
#include "actor/environments/refusal.h"
#include "actor/environments/resource_facts.h"
#include "actor/environments/seen_resources.h"
#include "actor/environments/shown_values.h"
#include "inference/client/row.h"
#include "platform/content/content_key.h"
#include "platform/runtime/random.h"
#include "redfish/catalog/candidate.h"
#include "redfish/catalog/catalog.h"
#include "redfish/goals/sentence_values.h"
#include "redfish/schema/attribute_registry.h"
#include "rl/model/candidate_mark.h"

namespace shoal::actor {

// What a sentence may say of a part.
struct PartWords {
  // The name of its property in lower case, as it is and with spaces between its words.
  std::string name;
  std::string name_in_words;
  // Its value in lower case; empty where that is chosen, or no text.
  std::string value;
};

// The parts of one candidate that composes, and the list of the choices among them: each part, then
// "send", then "drop".
struct PartList {
  std::vector<const redfish::Candidate*> parts;
  // One for each part.
  std::vector<PartWords> words;
  // The attributes of the resource that others may make read-only, and the registry that says so;
  // null where there is none.
  struct Lockable {
    std::string attribute;
    PartWords words;
  };
  std::vector<Lockable> lockable;
  std::shared_ptr<const redfish::AttributeRegistry> registry;
  // Without "send", which needs at least one part.
  std::shared_ptr<const inference::client::CandidateList> first;
  std::shared_ptr<const inference::client::CandidateList> later;
  // Holds the parts that no catalog holds.
  std::vector<redfish::Candidate> own;
};

// What the episode knows when a request is begun.
struct DraftKnowledge {
  // What the request's resource holds; null when the episode has not read it.
  nlohmann::json held = nullptr;
  // The resources that the episode has read.
  std::vector<ReadResource> read = {};
  // The names in the refusals that still count.
  RefusalNames refused = {};
};

// Keeps the part lists of catalogs. Not thread-safe: each loop has its own.
using PartLists =
    GenerationCache<std::pair<const redfish::Catalog*, decltype(content::ContentKey::bytes)>,
                    std::shared_ptr<const PartList>>;

class RequestDraft {
 public:
  // A request has at most so many parts; then it is sent.
  static constexpr std::size_t kMaximumParts = 16;

  enum class State : std::uint8_t { kIdle, kChoosingPart, kChoosingValue, kComplete, kDropped };

  // `lists` outlives this. A slot is offered at most `read_values` values that were read.
  explicit RequestDraft(PartLists& lists, std::size_t read_values = 0)
      : lists_(&lists), read_values_(read_values) {}

  // Begins an episode whose goal is `sentence`, and drops what was open.
  void Begin(std::string_view sentence);
  // Begins a request with `candidate` of the list of `resources`. Both may change while the draft
  // is open. The state is kComplete at once when nothing is to be chosen.
  void Open(const redfish::Candidate& candidate, const SeenResources& resources,
            DraftKnowledge known);
  // Takes the next choice. REQUIRES: is_open() and 0 <= action < list()->size(), and the action is
  // legal in the list.
  void Choose(std::int64_t action);
  // Notes how the service answered the request that Finish gave out. Values that are offered for
  // slots of the same names show it from then on.
  void NoteAnswer(int status);
  // Forgets the request.
  void Close() { state_ = State::kIdle; }

  State state() const { return state_; }
  bool is_open() const { return state_ == State::kChoosingPart || state_ == State::kChoosingValue; }
  // The choices that are open. REQUIRES: is_open().
  const std::shared_ptr<const inference::client::CandidateList>& list() const { return list_; }
  // What the request is so far, with the names of slots in place of their values, as a content for
  // the policy.
  const inference::client::ContentReference& text() const { return text_; }
  // What the choice is about: the name of the slot. Without a text while parts are chosen.
  const inference::client::ContentReference& topic() const { return topic_; }
  // What the episode knows of the choices.
  std::vector<model::CandidateMark> Marks() const;

  // The candidate with which the request began, with the body to send and without slots. Slots for
  // which the sentence has no value get a random one of their type.
  redfish::Candidate Finish(runtime::Random& random) const;
  // The body with the names of slots in place of their values.
  const nlohmann::json& shown_body() const { return shown_; }

  // Returns the choice that leads to a request with the body `wanted`, or -1 when none does.
  // REQUIRES: is_open().
  std::int64_t Find(const nlohmann::json& wanted) const;

 private:
  struct OfferedValue {
    nlohmann::json value;
    std::string description;
    // The marks that depend on the goal's text, and on what the episode has read.
    std::uint32_t marks = 0;
  };

  // A part of the body that was taken, with the values of its slots.
  struct Piece {
    redfish::Candidate candidate;
    redfish::SlotValues values;
  };

  void Take(const redfish::Candidate& candidate);
  // Opens the choice of the next slot that the sentence has a value for, or what comes after it.
  void GoOn();
  void OfferValues(const redfish::Slot& slot);
  // Adds a value to those that are offered, under a description that none of them has.
  void Offer(nlohmann::json value, const std::string& description, std::uint32_t marks);
  void OfferReadValues(const redfish::Slot& slot);
  void Describe();
  // Whether the goal's text contains `text`, in lower case, as whole words.
  bool Says(const std::string& text) const;
  bool Names(const PartWords& words) const { return Says(words.name) || Says(words.name_in_words); }
  // Adds kUnlocks to the parts that have it.
  void MarkUnlocking();
  // Whether a slot of the request has `value` already.
  bool IsUsed(const nlohmann::json& value) const;
  std::shared_ptr<const PartList> PartsOf(const redfish::Candidate& candidate,
                                          const SeenResources& resources) const;

  PartLists* lists_;
  std::size_t read_values_;
  // The goal's text in lower case, its words, and the values that it offers.
  std::string goal_;
  absl::flat_hash_set<std::string> words_;
  std::vector<redfish::SentenceValue> sentence_;
  // The status of the last answer to each value that was sent, by the name of its slot and the
  // value as JSON.
  std::map<std::pair<std::string, std::string>, int> answered_;
  State state_ = State::kIdle;
  redfish::Candidate opening_;
  DraftKnowledge known_;
  nlohmann::json shown_;
  // Null unless the request composes.
  std::shared_ptr<const PartList> parts_;
  std::size_t taken_ = 0;
  // How each part compares with what the resource holds.
  std::vector<Held> part_held_;
  // The marks of each part that depend on the goal's text and on refusals.
  std::vector<std::uint32_t> part_said_;
  std::vector<Piece> pieces_;
  // The slots of the last piece that wait for a value.
  std::vector<redfish::Slot> waiting_;
  std::vector<OfferedValue> offered_;
  std::shared_ptr<const inference::client::CandidateList> list_;
  inference::client::ContentReference text_;
  inference::client::ContentReference topic_;
};

}  // namespace shoal::actor
