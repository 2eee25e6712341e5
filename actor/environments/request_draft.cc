// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/request_draft.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "actor/environments/episode_memory.h"
#include "platform/content/canonical_json.h"
#include "redfish/capture/redaction.h"
#include "redfish/capture/uri.h"

namespace shoal::actor {
namespace {

using Json = nlohmann::json;
using inference::client::CandidateList;
using inference::client::ContentOf;
using inference::client::ContentReference;

constexpr const char* kSend = "send the request as it is";
constexpr const char* kDrop = "drop the request";
constexpr const char* kAttributes = "/Attributes";
constexpr std::size_t kLongestOrder = 64;

// The place of a slot's value, which for an element of a list is the list.
std::string PlaceOf(const redfish::Slot& slot) {
  constexpr std::string_view kFirst = "/0";
  std::string place = slot.pointer;
  if (place.ends_with(kFirst)) place.resize(place.size() - kFirst.size());
  return place;
}

bool IsOfList(const redfish::Slot& slot) { return PlaceOf(slot) != slot.pointer; }

// Whether `body` has all that `part` has: merging it would change nothing.
bool Has(const Json& body, const Json& part) {
  if (part.is_object() && body.is_object()) {
    for (const auto& [name, value] : part.items()) {
      const auto own = body.find(name);
      if (own == body.end() || !Has(*own, value)) return false;
    }
    return true;
  }
  const bool are_members =
      part.is_array() && body.is_array() && !part.empty() && part.front().is_object();
  if (!are_members) return body == part;
  return std::all_of(part.begin(), part.end(), [&body](const Json& member) {
    return std::find(body.begin(), body.end(), member) != body.end();
  });
}

bool IsWordCharacter(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) != 0; }

// What a sentence may say of a property.
PartWords WordsOfName(const std::string& name) {
  return {.name = absl::AsciiStrToLower(name), .name_in_words = InWords(name), .value = {}};
}

// What a sentence may say of a part with one property.
PartWords WordsOf(const redfish::Candidate& part) {
  const Json* value = &part.body;
  std::string name;
  while (value->is_object() && value->size() == 1) {
    name = value->begin().key();
    value = &value->begin().value();
  }
  PartWords words = WordsOfName(name);
  if (part.slots.empty() && value->is_string()) {
    words.value = absl::AsciiStrToLower(value->get<std::string>());
  }
  return words;
}

absl::flat_hash_set<std::string> SplitWords(std::string_view text) {
  absl::flat_hash_set<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && IsWordCharacter(text[end])) ++end;
    if (end > at) words.emplace(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace

bool RequestDraft::Says(const std::string& text) const {
  if (text.empty()) return false;
  const bool is_word = std::all_of(text.begin(), text.end(), IsWordCharacter);
  return is_word ? words_.contains(text) : redfish::ContainsWords(goal_, text);
}

void RequestDraft::Begin(std::string_view sentence) {
  goal_ = absl::AsciiStrToLower(std::string(sentence));
  words_ = SplitWords(goal_);
  sentence_ = redfish::ValuesOf(sentence);
  answered_.clear();
  state_ = State::kIdle;
}

std::shared_ptr<const PartList> RequestDraft::PartsOf(const redfish::Candidate& candidate,
                                                      const SeenResources& resources) const {
  const bool is_of_catalog = resources.IsOfCatalog(candidate);
  const auto make = [&] {
    auto made = std::make_shared<PartList>();
    std::vector<const redfish::Candidate*> found;
    resources.ForEachOf(candidate.resource, [&](std::size_t, const redfish::Candidate& other) {
      const bool is_part = candidate.method == "PATCH" && other.method == "PATCH" &&
                           other.uri == candidate.uri && !other.composes();
      if (is_part) found.push_back(&other);
    });
    for (const redfish::Candidate& part : *candidate.parts) found.push_back(&part);
    if (!is_of_catalog) {
      for (const redfish::Candidate* const part : found) made->own.push_back(*part);
      found.clear();
      for (const redfish::Candidate& part : made->own) found.push_back(&part);
    }
    std::vector<ContentReference> texts;
    for (const redfish::Candidate* const part : found) {
      texts.push_back({.key = part->key, .text = std::make_shared<const std::string>(part->text)});
    }
    texts.push_back(ContentOf(kSend));
    texts.push_back(ContentOf(kDrop));
    for (const redfish::Candidate* const part : found) made->words.push_back(WordsOf(*part));
    const redfish::ServiceOutline::Attributes* const attributes =
        candidate.method == "PATCH" ? resources.catalog().outline().FindAttributes(candidate.uri)
                                    : nullptr;
    if (attributes != nullptr && attributes->registry != nullptr) {
      made->registry = attributes->registry;
      for (const std::string& name : made->registry->Lockable()) {
        made->lockable.push_back({.attribute = name, .words = WordsOfName(name)});
      }
    }
    const auto send = static_cast<std::uint32_t>(found.size());
    made->parts = std::move(found);
    made->later = std::make_shared<const CandidateList>(std::move(texts));
    made->first = std::make_shared<const CandidateList>(made->later, std::vector{send},
                                                        std::vector<ContentReference>());
    return std::shared_ptr<const PartList>(std::move(made));
  };
  if (!is_of_catalog) return make();
  const auto bytes_of = [](const std::shared_ptr<const PartList>& list) {
    std::size_t bytes = sizeof(*list);
    for (const redfish::Candidate* const part : list->parts) bytes += part->text.size() + 100;
    for (const PartWords& words : list->words) {
      bytes += sizeof(words) + words.name.size() + words.name_in_words.size() + words.value.size();
    }
    for (const PartList::Lockable& one : list->lockable) {
      bytes += sizeof(one) + 3 * one.attribute.size();
    }
    return bytes;
  };
  return lists_->FindOrMake({&resources.catalog(), candidate.key.bytes}, make, bytes_of);
}

void RequestDraft::Open(const redfish::Candidate& candidate, const SeenResources& resources,
                        DraftKnowledge known) {
  opening_ = candidate;
  known_ = std::move(known);
  shown_ = candidate.composes() ? Json::object() : candidate.body;
  parts_ = candidate.composes() ? PartsOf(candidate, resources) : nullptr;
  taken_ = 0;
  pieces_.clear();
  waiting_.clear();
  part_held_.clear();
  part_said_.clear();
  for (std::size_t i = 0; parts_ != nullptr && i < parts_->parts.size(); ++i) {
    const PartWords& words = parts_->words[i];
    part_said_.push_back((Names(words) ? MarkBit(Mark::kNamed) : 0) |
                         (Says(words.value) ? MarkBit(Mark::kLiteral) : 0) |
                         (known_.refused.contains(words.name) ? MarkBit(Mark::kInRefusal) : 0));
    part_held_.push_back(known_.held.is_object() ? CompareFixed(*parts_->parts[i], known_.held)
                                                 : Held::kUnknown);
  }
  MarkUnlocking();
  if (parts_ == nullptr) {
    Take(candidate);
  } else {
    GoOn();
  }
}

void RequestDraft::MarkUnlocking() {
  const Json* const attributes =
      parts_ != nullptr && parts_->registry != nullptr && known_.held.is_object()
          ? redfish::Resolve(known_.held, kAttributes)
          : nullptr;
  if (attributes == nullptr || !attributes->is_object()) return;
  // The attributes that keep others from being written, with these.
  std::map<std::string, std::vector<const std::string*>> locked;
  for (const PartList::Lockable& one : parts_->lockable) {
    if (!Names(one.words)) continue;
    for (const std::string& lock : parts_->registry->LocksOf(one.attribute, *attributes)) {
      locked[lock].push_back(&one.attribute);
    }
  }
  for (std::size_t i = 0; !locked.empty() && i < parts_->parts.size(); ++i) {
    const Json* const set = redfish::Resolve(parts_->parts[i]->body, kAttributes);
    if (part_held_[i] != Held::kOther || set == nullptr || !set->is_object()) continue;
    for (const auto& [name, value] : set->items()) {
      const auto found = locked.find(name);
      if (found == locked.end()) continue;
      Json after = *attributes;
      after[name] = value;
      const bool unlocks = std::any_of(
          found->second.begin(), found->second.end(), [&, &lock = name](const std::string* one) {
            return !parts_->registry->LocksOf(*one, after).contains(lock);
          });
      if (unlocks) part_said_[i] |= MarkBit(Mark::kUnlocks);
    }
  }
}

void RequestDraft::Take(const redfish::Candidate& candidate) {
  pieces_.push_back({.candidate = candidate, .values = {}});
  waiting_ = candidate.slots;
  if (parts_ != nullptr) redfish::MergePart(shown_, candidate.body);
  ++taken_;
  GoOn();
}

void RequestDraft::GoOn() {
  topic_ = {};
  for (; !waiting_.empty(); waiting_.erase(waiting_.begin())) {
    OfferValues(waiting_.front());
    if (offered_.empty()) continue;
    state_ = State::kChoosingValue;
    topic_ = ContentOf(waiting_.front().name);
    std::vector<ContentReference> texts;
    for (const OfferedValue& offered : offered_) {
      texts.push_back(ContentOf(content::CanonicalJson({{"choice", offered.description}})));
    }
    list_ = std::make_shared<const CandidateList>(std::move(texts));
    return Describe();
  }
  if (parts_ == nullptr || taken_ >= kMaximumParts) {
    state_ = State::kComplete;
    return;
  }
  state_ = State::kChoosingPart;
  list_ = taken_ == 0 ? parts_->first : parts_->later;
  Describe();
}

void RequestDraft::Offer(Json value, const std::string& description, std::uint32_t marks) {
  // Equal descriptions would be one choice with two meanings.
  std::string full = description;
  const auto is_taken = [this](const std::string& text) {
    return std::any_of(offered_.begin(), offered_.end(), [&text](const OfferedValue& offered) {
      return offered.description == text;
    });
  };
  for (int again = 2; is_taken(full); ++again) full = description + " " + std::to_string(again);
  offered_.push_back({std::move(value), std::move(full), marks});
}

void RequestDraft::OfferValues(const redfish::Slot& slot) {
  offered_.clear();
  for (const redfish::SentenceValue& value : sentence_) {
    if (redfish::Accepts(slot, value.value)) {
      Offer(value.value, value.description,
            (value.is_literal ? MarkBit(Mark::kLiteral) : 0) | PlaceBits(value.place));
    }
  }
  if (redfish::Accepts(slot, "") && !offered_.empty()) Offer("", "an empty text", 0);
  const Json* const present =
      known_.held.is_object() ? redfish::Resolve(known_.held, PlaceOf(slot)) : nullptr;
  const bool is_order = IsOfList(slot) && present != nullptr && present->is_array() &&
                        present->size() > 1 && present->size() <= kLongestOrder &&
                        redfish::Accepts(slot, *present);
  for (std::size_t i = 0; is_order && i < present->size(); ++i) {
    Json order = Json::array({present->at(i)});
    for (std::size_t j = 0; j < present->size(); ++j) {
      if (j != i) order.push_back(present->at(j));
    }
    const Json& first = present->at(i);
    const std::string name = first.is_string() ? first.get<std::string>() : first.dump();
    const bool is_named =
        !name.empty() && redfish::ContainsWords(goal_, absl::AsciiStrToLower(name));
    Offer(std::move(order), "present list beginning with " + name,
          MarkBit(is_named ? Mark::kNamed : Mark::kUnnamed));
  }
  OfferReadValues(slot);
}

void RequestDraft::OfferReadValues(const redfish::Slot& slot) {
  struct Choice {
    const ReadResource* resource;
    const ShownValue* value;
    bool is_named;
    int rank;
  };
  // A secret goes where the goal's sentence says, and nowhere else.
  if (read_values_ == 0 || redfish::IsSecretName(slot.name, {})) return;
  const std::string own_name = absl::AsciiStrToLower(slot.name);
  std::vector<Choice> choices;
  for (const ReadResource& resource : known_.read) {
    for (const ShownValue& value : resource.shown->values) {
      const bool is_itself = resource.is_target && value.name == own_name;
      if (is_itself || !Fits(slot, value)) continue;
      const bool is_named = Says(value.name) || Says(value.name_in_words);
      choices.push_back({.resource = &resource,
                         .value = &value,
                         .is_named = is_named,
                         .rank = (is_named ? 8 : 0) + (value.name == own_name ? 4 : 0) +
                                 (resource.is_named ? 2 : 0) + (resource.is_target ? 1 : 0)});
    }
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.rank > b.rank; });
  std::set<std::string> known;
  for (const OfferedValue& offered : offered_) known.insert(offered.value.dump());
  std::size_t left = read_values_;
  for (const Choice& choice : choices) {
    if (left == 0) break;
    if (!known.insert(choice.value->value.dump()).second) continue;
    --left;
    Offer(choice.value->value,
          "read " + choice.value->place_in_words + " of " +
              (choice.resource->is_target ? "this " : "another ") +
              choice.resource->shown->type_in_words +
              (choice.resource->is_named ? " named in the goal" : ""),
          MarkBit(choice.is_named ? Mark::kNamed : Mark::kUnnamed) |
              MarkBit(choice.resource->is_stale ? Mark::kStale : Mark::kRead) |
              (choice.resource->is_target ? MarkBit(Mark::kTargetRead) : 0));
  }
}

void RequestDraft::Describe() {
  Json text = {{"method", opening_.method}, {"uri", opening_.UriOfText()}, {"type", opening_.type},
               {"name", opening_.name},     {"action", opening_.action},   {"body", shown_}};
  if (state_ == State::kChoosingValue) text["slot"] = waiting_.front().name;
  text_ = ContentOf(content::CanonicalJson(text));
}

void RequestDraft::Choose(std::int64_t action) {
  const auto index = static_cast<std::size_t>(action);
  if (state_ == State::kChoosingValue) {
    pieces_.back().values[waiting_.front().name] = offered_[index].value;
    waiting_.erase(waiting_.begin());
    return GoOn();
  }
  if (index < parts_->parts.size()) return Take(*parts_->parts[index]);
  state_ = index == parts_->parts.size() ? State::kComplete : State::kDropped;
}

void RequestDraft::NoteAnswer(int status) {
  for (const Piece& piece : pieces_) {
    for (const auto& [slot, value] : piece.values) answered_[{slot, value.dump()}] = status;
  }
}

bool RequestDraft::IsUsed(const Json& value) const {
  return std::any_of(pieces_.begin(), pieces_.end(), [&value](const Piece& piece) {
    return std::any_of(piece.values.begin(), piece.values.end(),
                       [&value](const auto& chosen) { return chosen.second == value; });
  });
}

std::vector<model::CandidateMark> RequestDraft::Marks() const {
  std::vector<model::CandidateMark> marks;
  const auto add = [&marks](std::size_t index, std::uint32_t bits) {
    if (bits != 0 && marks.size() < EpisodeMemory::kMaximumMarks) {
      marks.push_back({static_cast<std::uint32_t>(index), bits});
    }
  };
  if (state_ == State::kChoosingValue) {
    const Json* const present = known_.held.is_object()
                                    ? redfish::Resolve(known_.held, PlaceOf(waiting_.front()))
                                    : nullptr;
    const bool is_held = present != nullptr && !present->is_null();
    for (std::size_t i = 0; i < offered_.size(); ++i) {
      const Json& value = offered_[i].value;
      std::uint32_t bits = offered_[i].marks;
      if (is_held) bits |= MarkBit(value == *present ? Mark::kHolds : Mark::kDiffers);
      if (IsUsed(value)) bits |= MarkBit(Mark::kChosen);
      const bool is_in_refusal =
          value.is_string() &&
          known_.refused.contains(absl::AsciiStrToLower(value.get<std::string>()));
      if (is_in_refusal) bits |= MarkBit(Mark::kInRefusal);
      const auto answered = answered_.find({waiting_.front().name, value.dump()});
      if (answered != answered_.end()) bits |= AnswerBits(answered->second);
      add(i, bits);
    }
    return marks;
  }
  // In a long list only what stands out is marked.
  const bool is_long = parts_->parts.size() > EpisodeMemory::kMaximumMarks;
  for (std::size_t i = 0; i < parts_->parts.size(); ++i) {
    const redfish::Candidate& part = *parts_->parts[i];
    // A value alone says little where many properties have it.
    std::uint32_t bits = is_long && part_said_[i] == MarkBit(Mark::kLiteral) ? 0 : part_said_[i];
    const Held held = part_held_[i];
    if (held == Held::kAll) bits |= MarkBit(Mark::kHolds);
    if (held == Held::kOther && (!is_long || bits != 0)) bits |= MarkBit(Mark::kDiffers);
    if (taken_ > 0 && Has(shown_, part.body)) bits |= MarkBit(Mark::kChosen);
    add(i, bits);
  }
  return marks;
}

redfish::Candidate RequestDraft::Finish(runtime::Random& random) const {
  redfish::Candidate request = opening_;
  request.parts = nullptr;
  request.slots.clear();
  request.body = parts_ == nullptr ? Json() : Json::object();
  for (const Piece& piece : pieces_) {
    Json bound = redfish::BindSlots(piece.candidate, piece.values, random);
    if (parts_ == nullptr) {
      request.body = std::move(bound);
    } else {
      redfish::MergePart(request.body, bound);
    }
  }
  return request;
}

std::int64_t RequestDraft::Find(const Json& wanted) const {
  if (state_ == State::kChoosingValue) {
    const Json* const value = redfish::Resolve(wanted, PlaceOf(waiting_.front()));
    if (value == nullptr) return -1;
    for (std::size_t i = 0; i < offered_.size(); ++i) {
      const Json& offered = offered_[i].value;
      const bool is_element = value->is_array() && !offered.is_array() && value->size() == 1;
      if (offered == (is_element ? value->front() : *value)) return static_cast<std::int64_t>(i);
    }
    return -1;
  }
  runtime::Random unused(0);
  Json have = Finish(unused).body;
  // A part is of use when it adds something that is wanted. Those that cover most come first.
  std::int64_t best = -1;
  std::size_t most = 0;
  for (std::size_t i = 0; i < parts_->parts.size(); ++i) {
    const redfish::Candidate& part = *parts_->parts[i];
    const auto values = redfish::UnifyPart(part, wanted);
    if (!values) continue;
    const Json bound = redfish::BindSlots(part, *values, unused);
    if (taken_ > 0 && Has(have, bound)) continue;
    const std::size_t covers = bound.flatten().size();
    if (covers > most) {
      most = covers;
      best = static_cast<std::int64_t>(i);
    }
  }
  if (best >= 0) return best;
  return taken_ > 0 && have == wanted ? static_cast<std::int64_t>(parts_->parts.size()) : -1;
}

}  // namespace shoal::actor
