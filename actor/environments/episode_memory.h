// SPDX-License-Identifier: Apache-2.0
// What an episode has read, sent and been answered, as marks on the candidates.
//
// For each resource that the episode has met the memory knows what it holds; for each request that
// was sent, how it was answered and whether something has changed since. The policy sees this as
// bits of single candidates (rl/model/candidate_mark.h). The memory is a function of the episode's
// requests and answers alone. Not thread-safe.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actor/environments/body_texts.h"
#include "actor/environments/expanded_answer.h"
#include "actor/environments/redfish_service.h"
#include "actor/environments/refusal.h"
#include "actor/environments/resource_facts.h"
#include "actor/environments/seen_resources.h"
#include "actor/environments/shown_values.h"
#include "platform/content/content_key.h"
#include "redfish/catalog/candidate.h"
#include "rl/model/candidate_mark.h"

namespace shoal::actor {

// The kinds of marks, as numbers of bits.
enum class Mark : std::uint8_t {
  // A GET whose answer the episode has: it was read, and nothing has changed since. Also a value
  // that was read like this.
  kRead,
  // A GET of what was read before something changed, and a value that was.
  kStale,
  // A request that may change a resource which was read. Also a value that this resource shows
  // elsewhere.
  kTargetRead,
  // A PATCH of what the resource already holds, and one of what it holds otherwise.
  kHolds,
  kDiffers,
  // A request to a resource that an accepted request of the episode was meant to change.
  kTargetChanged,
  // A request that was sent, by the class of its last answer: 2xx or 3xx, 4xx, 5xx. Also a value
  // that was sent in a slot of this name.
  kAccepted,
  kRefused,
  kFailed,
  // A request that was sent more than once.
  kRepeated,
  // A request that was sent, and something has changed since.
  kChangedSince,
  // A request to a resource which was read, and whose names the goal's text contains, or not. Also
  // an order of a list whose first entry the goal's text contains, or not, a part whose property it
  // names, and a value that was read under a name which it contains, or not.
  kNamed,
  kUnnamed,
  // A part or a value that the request which is being put together has already.
  kChosen,
  // A value of the goal's text that is no plain word of the language, and a part with a value that
  // the goal's text contains.
  kLiteral,
  // A value, or a request to a resource whose name is a value, which is the second of the goal's
  // text, or a later one (SentenceValue::place). It tells apart whom the text names.
  kSecond,
  kLater,
  // A part, a request or a value of which a refusal speaks (refusal.h): the property of the part, a
  // property in the request's body, or the value. A refusal counts until the request that met with
  // it is answered otherwise.
  kInRefusal,
  // A part that gives a BIOS attribute another value, where by the service's registry the present
  // one may keep an attribute from being written that the goal's text names, and the new one may
  // not (AttributeRegistry::LocksOf).
  kUnlocks,
};
inline constexpr std::int64_t kMarkKinds = 19;

inline std::uint32_t MarkBit(Mark mark) {
  return std::uint32_t{1} << static_cast<std::uint32_t>(mark);
}

// Returns the bit for the class of an answer's status; none when there was no answer.
inline std::uint32_t AnswerBits(int status) {
  if (status < 200) return 0;
  const Mark mark = status >= 500   ? Mark::kFailed
                    : status >= 400 ? Mark::kRefused
                                    : Mark::kAccepted;
  return MarkBit(mark);
}

// Returns the bits for the place of a value in the goal's text; none for the first and for -1.
inline std::uint32_t PlaceBits(int place) {
  if (place <= 0) return 0;
  return MarkBit(place == 1 ? Mark::kSecond : Mark::kLater);
}

class EpisodeMemory {
 public:
  // The most candidates of an observation that have marks. Any more are left unmarked.
  static constexpr std::size_t kMaximumMarks = 2048;

  // `facts` and `values` outlive this.
  EpisodeMemory(ResourceFactsCache& facts, ShownValuesCache& values)
      : facts_(&facts), values_shown_(&values) {}

  // Begins an episode whose goal is `text`, and forgets the one before. `service` outlives it.
  void Begin(const std::string& text, const ServiceCatalog& service);

  // Takes in that `request` was answered with `response`, whose body `text` describes. `resources`
  // has learned of it already. Returns true for a GET whose answer the episode had already.
  bool Learn(const redfish::Candidate& request, const ServiceResponse& response,
             const BodyText& text, const SeenResources& resources);

  // Takes in that `request`, which expands a collection, was answered with `answers`, as if each of
  // them had been asked for by itself. `resources` has learned of them already. Returns true when
  // the episode had all of them already. REQUIRES: there is an answer.
  bool Learn(const redfish::Candidate& request, std::span<const ReadAnswer> answers,
             const SeenResources& resources);

  // Returns what the resource at `uri` held when it was last read, without volatile properties. Of
  // a settings object these are the present attributes where it holds none itself. Returns null for
  // a resource that was not read.
  nlohmann::json HeldBy(const std::string& uri) const;

  // Returns the resources whose bodies the episode has, in the order of their URIs, as a request to
  // the resource at `target` sees them.
  std::vector<ReadResource> ReadResources(const std::string& target) const;

  // Returns the names in the refusals that still count.
  const RefusalNames& refused() const { return refused_; }

  // Returns the marks of the candidates in the list of `resources`, in ascending order.
  std::vector<model::CandidateMark> Marks(const SeenResources& resources) const;

 private:
  struct Resource {
    ResourceFactsCache::Pointer facts = nullptr;
    // The body as canonical JSON, without a text before it was seen.
    inference::client::ContentReference body = {};
    bool named = false;
    // The place in the goal's text of the value that is one of the resource's names, or -1.
    int place = -1;
    bool changed = false;
  };
  struct Sent {
    int status = 0;
    int count = 0;
    // The number of changes before it and of its own.
    std::uint64_t changes = 0;
    // Of what its last answer speaks, if that was a refusal.
    RefusalNames refusal = {};
  };

  void NoteSent(const content::ContentKey& key, int status, RefusalNames refusal = {});
  // Keeps what a body shows of its resource.
  void NoteShown(const ServiceResponse& response, const BodyText& text,
                 const SeenResources& resources);
  // Notes a GET and returns true when it repeats one.
  bool KeepRead(const redfish::Candidate& request, int status);
  std::uint32_t BitsOf(const redfish::Candidate& candidate, std::size_t place,
                       const Resource& resource, const SeenResources& resources) const;
  // Whether a refusal that still counts speaks of what the request may change.
  bool IsInRefusal(const redfish::Candidate& request, const SeenResources& resources) const;

  ResourceFactsCache* facts_;
  ShownValuesCache* values_shown_;
  const ServiceCatalog* service_ = nullptr;
  // The goal's text in lower case.
  std::string goal_;
  // The values of the goal's text that have a place, in lower case and in order.
  std::vector<std::string> values_;
  // The resources that the episode has met, by URI. `wait` is a request to the empty URI.
  std::map<std::string, Resource> resources_;
  absl::flat_hash_map<content::ContentKey, Sent> sent_;
  RefusalNames refused_;
  // What IsInRefusal has found of `refused_`, since a request has thousands of parts.
  mutable absl::flat_hash_map<content::ContentKey, bool> in_refusal_;
  // URIs that were read since the last change and the last `wait`.
  std::set<std::string> read_;
  // Accepted requests that may change something, and waits.
  std::uint64_t changes_ = 0;
};

}  // namespace shoal::actor
