// SPDX-License-Identifier: Apache-2.0
#include "rl/training/shared_checkpoints.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <system_error>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/check.h"
#include "rl/collectives/gathered_bytes.h"
#include "rl/collectives/rank_name.h"

namespace shoal::training {
namespace {

using collectives::GradientReducer;
using collectives::RankName;
using nlohmann::json;

// The limit on what a rank says of its folder.
constexpr std::size_t kMaxListBytes = std::size_t{64} << 20;

using Pieces = std::map<std::string, FileContent>;
using Holders = std::map<std::string, std::vector<std::int64_t>>;

std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Lists of texts that every rank tells the others.
using Lists = std::array<std::vector<std::string>, 2>;

absl::StatusOr<std::vector<Lists>> GatherLists(GradientReducer& reducer, const Lists& own) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                         collectives::GatherBytes(reducer, Dump(json(own)), kMaxListBytes));
  std::vector<Lists> all;
  for (const std::string& text : texts) {
    const json read = json::parse(text, nullptr, /*allow_exceptions=*/false);
    Lists& lists = all.emplace_back();
    bool whole = read.is_array() && read.size() == lists.size();
    for (std::size_t i = 0; whole && i < lists.size(); ++i) {
      whole = read[i].is_array();
      for (const json& item : read[i]) {
        whole = whole && item.is_string();
        if (whole) lists[i].push_back(item.get<std::string>());
      }
    }
    if (!whole) {
      return runtime::DataLoss(RankName(all.size() - 1) + " sent what is no list of checkpoints");
    }
  }
  return all;
}

// A manifest that ranks have, and how many of them.
struct Candidate {
  CheckpointManifest manifest;
  std::string text;
  std::size_t ranks = 0;
};

// Whether `a` is to be tried before `b`.
bool ComesFirst(const Candidate& a, const Candidate& b, const CheckpointChoice& choice) {
  const auto later = [&choice](const Candidate& one) {
    return choice.rather_up_to && one.manifest.number > *choice.rather_up_to;
  };
  const auto evaluated = [&choice](const Candidate& one) {
    const std::optional<MeanReturn>& found = one.manifest.mean_return;
    return choice.rather_best && found && found->is_of_evaluation ? std::optional(found->value)
                                                                  : std::nullopt;
  };
  const auto unwanted = [&choice](const Candidate& one) {
    return choice.rather_not.contains(one.text);
  };
  if (unwanted(a) != unwanted(b)) return unwanted(b);
  if (unwanted(a)) return a.manifest.number < b.manifest.number;
  if (evaluated(a) != evaluated(b)) return evaluated(a) > evaluated(b);
  if (later(a) != later(b)) return later(b);
  if (a.manifest.number != b.manifest.number) {
    return later(a) ? a.manifest.number < b.manifest.number : a.manifest.number > b.manifest.number;
  }
  return a.ranks > b.ranks;
}

// Returns the manifests of all ranks, those to be tried first first.
absl::StatusOr<std::vector<Candidate>> Candidates(const CheckpointFolder& folder,
                                                  GradientReducer& reducer,
                                                  const CheckpointChoice& choice,
                                                  std::vector<std::string>& problems) {
  Lists own;
  std::set<std::string> texts;
  for (const CheckpointManifest& manifest : folder.Manifests(own[1])) {
    texts.insert(ToText(manifest));
  }
  own[0].assign(texts.begin(), texts.end());
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Lists> all, GatherLists(reducer, own));
  std::map<std::string, Candidate> found;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    for (const std::string& text : all[rank][0]) {
      Candidate& candidate = found[text];
      if (candidate.ranks++ > 0) continue;
      SHOAL_ASSIGN_OR_RETURN(candidate.manifest,
                             ParseManifest(text, "what " + RankName(rank) + " sent"));
      candidate.text = text;
    }
    problems.insert(problems.end(), all[rank][1].begin(), all[rank][1].end());
  }
  std::vector<Candidate> candidates;
  for (auto& [text, candidate] : found) {
    if (choice.number && candidate.manifest.number != *choice.number) continue;
    candidates.push_back(std::move(candidate));
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&choice](const auto& a, const auto& b) { return ComesFirst(a, b, choice); });
  return candidates;
}

// Reads the pieces that this folder has.
Pieces ReadPieces(const CheckpointFolder& folder, const CheckpointManifest& manifest,
                  std::vector<std::string>& problems) {
  Pieces pieces;
  for (const auto& [name, digest] : manifest.Pieces()) {
    absl::StatusOr<FileContent> content = folder.Read(manifest.number, name, digest);
    if (content.ok()) {
      pieces[name] = *std::move(content);
    } else if (!absl::IsNotFound(content.status())) {
      problems.push_back(runtime::Message(content.status()));
    }
  }
  return pieces;
}

// Sends each piece that some rank lacks from one that has it, so that no rank has to send much more
// than another one.
absl::Status Exchange(const CheckpointManifest& manifest, const Holders& holders,
                      GradientReducer& reducer, Pieces& pieces) {
  const std::map<std::string, FileDigest> all = manifest.Pieces();
  const auto ranks = static_cast<std::size_t>(reducer.world_size());
  std::vector<std::vector<std::string>> sent(ranks);
  std::vector<std::uint64_t> load(ranks, 0);
  for (const auto& [name, digest] : all) {
    const std::vector<std::int64_t>& from = holders.at(name);
    if (from.size() == ranks) continue;
    const auto least = static_cast<std::size_t>(
        *std::min_element(from.begin(), from.end(), [&](std::int64_t a, std::int64_t b) {
          return load[static_cast<std::size_t>(a)] < load[static_cast<std::size_t>(b)];
        }));
    sent[least].push_back(name);
    load[least] += digest.bytes;
  }
  const std::uint64_t most = *std::max_element(load.begin(), load.end());
  if (most == 0 && std::all_of(sent.begin(), sent.end(), [](auto& s) { return s.empty(); })) {
    return absl::OkStatus();
  }
  std::string own;
  for (const std::string& name : sent[static_cast<std::size_t>(reducer.rank())]) {
    for (const runtime::SharedBytes& piece : pieces.at(name).pieces()) own += piece.bytes;
  }
  SHOAL_ASSIGN_OR_RETURN(std::vector<std::string> gathered,
                         collectives::GatherBytes(reducer, own, most));
  own = {};
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::size_t place = 0;
    for (const std::string& name : sent[rank]) {
      const FileDigest& digest = all.at(name);
      FileContent content =
          gathered[rank].substr(std::min(place, gathered[rank].size()), digest.bytes);
      place += digest.bytes;
      if (pieces.contains(name)) continue;
      if (DigestOf(content) != digest) {
        return runtime::DataLoss(RankName(rank) + " sent another " + name + " than was written");
      }
      pieces[name] = std::move(content);
    }
    gathered[rank] = {};
  }
  return absl::OkStatus();
}

// Tells which ranks have each piece. `own` are the names of those that this rank has, and what is
// wrong with others. Returns NOT_FOUND, on all ranks, where a piece is nowhere.
absl::StatusOr<Holders> FindHolders(const CheckpointManifest& manifest, const Lists& own,
                                    GradientReducer& reducer, std::vector<std::string>& problems) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Lists> all, GatherLists(reducer, own));
  Holders holders;
  for (const auto& [name, digest] : manifest.Pieces()) holders[name];
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    problems.insert(problems.end(), all[rank][1].begin(), all[rank][1].end());
    for (const std::string& name : all[rank][0]) {
      const auto found = holders.find(name);
      if (found != holders.end()) found->second.push_back(static_cast<std::int64_t>(rank));
    }
  }
  for (const auto& [name, ranks] : holders) {
    if (!ranks.empty()) continue;
    return runtime::NotFound("checkpoint " + std::to_string(manifest.number) + ": no rank has " +
                             name);
  }
  return holders;
}

// Returns NOT_FOUND, on all ranks, where a piece is nowhere.
absl::StatusOr<SharedCheckpoint> Collect(const CheckpointFolder& folder, const Candidate& candidate,
                                         GradientReducer& reducer,
                                         std::vector<std::string>& problems) {
  const CheckpointManifest& manifest = candidate.manifest;
  Lists own;
  Pieces pieces = ReadPieces(folder, manifest, own[1]);
  for (const auto& [name, content] : pieces) own[0].push_back(name);
  SharedCheckpoint found;
  found.identity = candidate.text;
  SHOAL_ASSIGN_OR_RETURN(found.holders, FindHolders(manifest, own, reducer, problems));
  SHOAL_RETURN_IF_ERROR(Exchange(manifest, found.holders, reducer, pieces));
  absl::StatusOr<Checkpoint> checkpoint = PutTogether(manifest, std::move(pieces));
  if (!checkpoint.ok()) {
    return runtime::NotFound("checkpoint " + std::to_string(manifest.number) + ": " +
                             runtime::Message(checkpoint.status()));
  }
  found.checkpoint = *std::move(checkpoint);
  return found;
}

// The same without the large files, of which only the sizes are looked at.
absl::StatusOr<ListedCheckpoint> Outline(const CheckpointFolder& folder, const Candidate& candidate,
                                         GradientReducer& reducer,
                                         std::vector<std::string>& problems) {
  const CheckpointManifest& manifest = candidate.manifest;
  CheckpointManifest small{
      .number = manifest.number, .files = manifest.files, .mean_return = manifest.mean_return};
  std::erase_if(small.files, [](const auto& file) { return IsDivided(file.first); });
  Lists own;
  Pieces pieces = ReadPieces(folder, small, own[1]);
  for (const auto& [name, digest] : manifest.Pieces()) {
    const bool has = small.files.contains(name) ? pieces.contains(name)
                                                : folder.Holds(manifest.number, name, digest);
    if (has) own[0].push_back(name);
  }
  SHOAL_ASSIGN_OR_RETURN(const Holders holders, FindHolders(manifest, own, reducer, problems));
  SHOAL_RETURN_IF_ERROR(Exchange(small, holders, reducer, pieces));
  SHOAL_ASSIGN_OR_RETURN(Checkpoint checkpoint, PutTogether(small, std::move(pieces)));
  return ListedCheckpoint{candidate.text, std::move(checkpoint)};
}

// A name that nobody has used before: a file system that remembers which names it did not find
// knows nothing of it. What a crash leaves is removed like a checkpoint that was never committed.
std::string NewName(std::int64_t rank) {
  std::random_device device;
  std::string name = ".writing-rank-" + std::to_string(rank);
  for (int i = 0; i < 4; ++i) name += "-" + std::to_string(device());
  return name;
}

// Returns for each rank the lowest one that has the same folder.
absl::StatusOr<std::vector<std::int64_t>> KeeperOfEach(const std::string& root,
                                                       GradientReducer& reducer) {
  const std::string own = root + "/" + NewName(reducer.rank());
  SHOAL_RETURN_IF_ERROR(runtime::WriteFileAtomically(own, ""));
  const std::string name = own.substr(root.size() + 1);
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Lists> names,
                         GatherLists(reducer, {std::vector<std::string>{name}, {}}));
  Lists seen;
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    const bool plain = names[rank][0].size() == 1 && IsPlainName(names[rank][0][0]);
    if (!plain) return runtime::DataLoss(RankName(rank) + " sent no name of a file");
    const std::string path = root + "/" + names[rank][0][0];
    if (::access(path.c_str(), F_OK) == 0) seen[0].push_back(std::to_string(rank));
  }
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Lists> views, GatherLists(reducer, seen));
  ::unlink(own.c_str());
  const auto sees = [&](std::size_t a, std::size_t b) {
    const std::vector<std::string>& list = views[a][0];
    return std::find(list.begin(), list.end(), std::to_string(b)) != list.end();
  };
  std::vector<std::int64_t> keepers;
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    std::size_t lowest = 0;
    while (lowest < rank && !(sees(rank, lowest) && sees(lowest, rank))) ++lowest;
    keepers.push_back(static_cast<std::int64_t>(lowest));
  }
  return keepers;
}

// Tells all ranks whether this one has failed, and returns the failure of the first that has. Full
// disks are told apart, and returned where nothing else failed.
absl::Status ShareStatus(const absl::Status& own, GradientReducer& reducer) {
  Lists told;
  if (!own.ok()) told[absl::IsResourceExhausted(own) ? 0 : 1].push_back(runtime::Message(own));
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Lists> all, GatherLists(reducer, told));
  absl::Status full;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::string where = "a checkpoint of " + RankName(rank) + ": ";
    if (!all[rank][1].empty()) return runtime::Internal(where + all[rank][1][0]);
    if (full.ok() && !all[rank][0].empty()) {
      full = runtime::ResourceExhausted(where + all[rank][0][0]);
    }
  }
  return full;
}

// Says how much room is missing for a checkpoint.
absl::Status NoRoom(const CheckpointFolder& folder, const Checkpoint& checkpoint,
                    const absl::Status& failure) {
  std::uint64_t bytes = 0;
  for (const auto& [name, file] : checkpoint.files) bytes += file.size();
  std::error_code unknown;
  const std::filesystem::space_info space = std::filesystem::space(folder.root(), unknown);
  return runtime::Annotate(
      failure, folder.root() + " has room for " +
                   (unknown ? "an unknown number" : std::to_string(space.available)) + " of the " +
                   std::to_string(bytes) + " bytes of checkpoint " +
                   std::to_string(checkpoint.number));
}

}  // namespace

absl::StatusOr<SharedCheckpoint> ReadSharedCheckpoint(const std::string& root,
                                                      GradientReducer& reducer,
                                                      const CheckpointChoice& choice) {
  const CheckpointFolder folder(root);
  std::vector<std::string> problems;
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Candidate> candidates,
                         Candidates(folder, reducer, choice, problems));
  for (const Candidate& candidate : candidates) {
    absl::StatusOr<SharedCheckpoint> found = Collect(folder, candidate, reducer, problems);
    if (found.ok()) {
      found->problems = std::move(problems);
      return found;
    }
    if (!absl::IsNotFound(found.status())) return found.status();
    problems.push_back(runtime::Message(found.status()));
  }
  std::string text = "no whole checkpoint " +
                     (choice.number ? std::to_string(*choice.number) + " " : "") + "in " + root;
  for (const std::string& problem : problems) text += "; " + problem;
  const bool divided =
      std::any_of(candidates.begin(), candidates.end(),
                  [](const Candidate& candidate) { return !candidate.manifest.parts.empty(); });
  return divided ? runtime::DataLoss(text) : runtime::NotFound(text);
}

absl::StatusOr<std::vector<ListedCheckpoint>> ListSharedCheckpoints(
    const std::string& root, GradientReducer& reducer, const CheckpointChoice& choice) {
  const CheckpointFolder folder(root);
  std::vector<std::string> problems;
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Candidate> candidates,
                         Candidates(folder, reducer, choice, problems));
  std::vector<ListedCheckpoint> listed;
  for (const Candidate& candidate : candidates) {
    absl::StatusOr<ListedCheckpoint> one = Outline(folder, candidate, reducer, problems);
    if (one.ok()) {
      listed.push_back(*std::move(one));
    } else if (!absl::IsNotFound(one.status())) {
      return one.status();
    }
  }
  return listed;
}

absl::StatusOr<std::unique_ptr<SharedCheckpoints>> SharedCheckpoints::Create(
    const Options& options, GradientReducer& reducer) {
  std::vector<std::int64_t> keeper_of = {reducer.rank()};
  if (reducer.world_size() > 1) {
    SHOAL_ASSIGN_OR_RETURN(keeper_of, KeeperOfEach(options.root, reducer));
  }
  return std::unique_ptr<SharedCheckpoints>(
      new SharedCheckpoints(options, reducer, std::move(keeper_of)));
}

SharedCheckpoints::SharedCheckpoints(const Options& options, GradientReducer& reducer,
                                     std::vector<std::int64_t> keeper_of)
    : folder_(options.root),
      keep_(options.keep),
      reducer_(reducer),
      rank_(reducer.rank()),
      keeper_of_(std::move(keeper_of)),
      keeper_(keeper_of_.size() == 1 ? rank_ : keeper_of_[static_cast<std::size_t>(rank_)]) {
  const std::set<std::int64_t> keepers(keeper_of_.begin(), keeper_of_.end());
  keepers_.assign(keepers.begin(), keepers.end());
}

bool SharedCheckpoints::Survives(const SharedCheckpoint& found) const {
  return folders() == 1 ||
         std::all_of(found.holders.begin(), found.holders.end(), [&](const auto& piece) {
           std::set<std::int64_t> keepers;
           for (const std::int64_t rank : piece.second) {
             keepers.insert(keeper_of_[static_cast<std::size_t>(rank)]);
           }
           return keepers.size() > 1;
         });
}

void SharedCheckpoints::Begin(const std::function<MakeFiles()>& take) {
  SHOAL_CHECK(!under_way_);
  if (keeps()) {
    written_.store(false, std::memory_order_relaxed);
    writing_ = runtime::Thread("checkpoint", [this, make = take()]() mutable {
      Checkpoint files = make();
      make = nullptr;
      own_ = WriteOwn(files);
      if (absl::IsResourceExhausted(own_.status())) {
        // Others may need the room until the next one is begun.
        folder_.RemoveUncommitted().IgnoreError();
        own_ = NoRoom(folder_, files, own_.status());
      }
      // What they share is given back before anybody may ask for it again.
      files = {};
      written_.store(true, std::memory_order_release);
    });
  }
  under_way_ = true;
}

absl::StatusOr<CheckpointManifest> SharedCheckpoints::WriteOwn(const Checkpoint& checkpoint) const {
  CheckpointManifest manifest{.number = checkpoint.number, .mean_return = checkpoint.mean_return};
  if (folders() == 1) {
    SHOAL_RETURN_IF_ERROR(WriteCheckpoint(folder_.root(), checkpoint, keep_.newest, keep_.best));
    return manifest;
  }
  SHOAL_RETURN_IF_ERROR(folder_.Begin(checkpoint.number));
  for (const auto& [name, content] : checkpoint.files) {
    if (IsDivided(name)) {
      manifest.divided[name] = content.size();
      continue;
    }
    SHOAL_ASSIGN_OR_RETURN(manifest.files[name], folder_.Put(checkpoint.number, name, content));
  }
  manifest.parts.resize(folders());
  const auto place = static_cast<std::size_t>(std::find(keepers_.begin(), keepers_.end(), keeper_) -
                                              keepers_.begin());
  for (const std::size_t part : {place, Before(place)}) {
    SHOAL_ASSIGN_OR_RETURN(manifest.parts[part],
                           folder_.Put(checkpoint.number, PartName(part, folders()),
                                       WritePart(checkpoint, part, folders())));
  }
  return manifest;
}

absl::StatusOr<CheckpointManifest> SharedCheckpoints::Agree() const {
  SHOAL_RETURN_IF_ERROR(ShareStatus(own_.status(), reducer_));
  Lists own;
  if (keeps()) own[0].push_back(ToText(*own_));
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Lists> all, GatherLists(reducer_, own));
  std::vector<CheckpointManifest> manifests;
  for (const std::int64_t keeper : keepers_) {
    const std::vector<std::string>& texts = all[static_cast<std::size_t>(keeper)][0];
    SHOAL_ASSIGN_OR_RETURN(
        manifests.emplace_back(),
        ParseManifest(texts.empty() ? "" : texts[0], "what " + RankName(keeper) + " wrote"));
    if (manifests.back().parts.size() != folders()) {
      return runtime::DataLoss(RankName(keeper) + " wrote another number of parts");
    }
  }
  CheckpointManifest agreed = manifests[0];
  for (std::size_t place = 0; place < folders(); ++place) {
    CheckpointManifest other = manifests[place];
    const FileDigest copy = other.parts[Before(place)];
    agreed.parts[place] = other.parts[place];
    other.parts = agreed.parts;
    if (other != agreed || copy != manifests[Before(place)].parts[Before(place)]) {
      return runtime::Internal(
          RankName(keepers_[place]) + " and " + RankName(keepers_[Before(place)]) +
          " saved different states as checkpoint " + std::to_string(agreed.number));
    }
  }
  return agreed;
}

absl::StatusOr<std::set<std::int64_t>> SharedCheckpoints::AgreeOnBest(std::int64_t last) const {
  // The manifest and the name of each piece that this folder has. Ranks that keep no best ones
  // take part as well, since not all may have been told to keep none.
  Lists own;
  std::vector<std::string> problems;
  std::vector<CheckpointManifest> manifests;
  if (keeps() && keep_.best > 0) manifests = folder_.Manifests(problems);
  for (const CheckpointManifest& manifest : manifests) {
    if (!manifest.mean_return || manifest.number > last) continue;
    for (const auto& [name, digest] : manifest.Pieces()) {
      if (!folder_.Holds(manifest.number, name, digest)) continue;
      own[0].push_back(ToText(manifest));
      own[1].push_back(name);
    }
  }
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Lists> all, GatherLists(reducer_, own));
  std::map<std::string, std::set<std::string>> held;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto& [texts, names] = all[rank];
    if (texts.size() != names.size()) {
      return runtime::DataLoss(RankName(rank) + " sent what is no list of checkpoints");
    }
    for (std::size_t i = 0; i < texts.size(); ++i) held[texts[i]].insert(names[i]);
  }
  std::vector<CheckpointManifest> whole;
  // What may become whole again once folders that are away come back.
  std::vector<CheckpointManifest> own_parts;
  const std::set<std::string> own_texts(own[0].begin(), own[0].end());
  for (const auto& one : held) {
    SHOAL_ASSIGN_OR_RETURN(CheckpointManifest manifest,
                           ParseManifest(one.first, "what a rank sent"));
    const auto pieces = manifest.Pieces();
    if (std::all_of(pieces.begin(), pieces.end(),
                    [&one](const auto& piece) { return one.second.contains(piece.first); })) {
      whole.push_back(std::move(manifest));
    } else if (own_texts.contains(one.first)) {
      own_parts.push_back(std::move(manifest));
    }
  }
  own_parts.insert(own_parts.end(), whole.begin(), whole.end());
  std::set<std::int64_t> best = CheckpointFolder::BestOf(std::move(whole), keep_.best);
  best.merge(CheckpointFolder::BestOf(std::move(own_parts), keep_.best));
  return best;
}

absl::Status SharedCheckpoints::Settle() {
  if (!under_way_) return absl::OkStatus();
  under_way_ = false;
  writing_.Join();
  if (folders() == 1) return own_.status();
  SHOAL_ASSIGN_OR_RETURN(const CheckpointManifest manifest, Agree());
  const bool replaces = folder_.Has(manifest.number);
  const absl::Status committed = keeps() ? folder_.Commit(manifest) : absl::OkStatus();
  const absl::Status shared = ShareStatus(committed, reducer_);
  if (absl::IsResourceExhausted(shared) && keeps() && !replaces) {
    // Those for which another disk has no room do not count here either, since all go on.
    SHOAL_RETURN_IF_ERROR(folder_.Withdraw(manifest.number));
  }
  SHOAL_RETURN_IF_ERROR(shared);
  SHOAL_ASSIGN_OR_RETURN(const std::set<std::int64_t> best, AgreeOnBest(manifest.number));
  return keeps() ? folder_.Keep(keep_.newest, best, manifest.number) : absl::OkStatus();
}

absl::Status SharedCheckpoints::WithdrawAfter(std::int64_t number) const {
  SHOAL_CHECK(!under_way_);
  return ShareStatus(keeps() ? folder_.WithdrawAfter(number) : absl::OkStatus(), reducer_);
}

absl::Status SharedCheckpoints::WithdrawThese(const std::set<std::string>& identities) const {
  SHOAL_CHECK(!under_way_);
  return ShareStatus(keeps() ? folder_.WithdrawThese(identities) : absl::OkStatus(), reducer_);
}

}  // namespace shoal::training
