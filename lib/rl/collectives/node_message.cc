// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/node_message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <vector>

#include "rl/collectives/launch.h"

namespace shoal::collectives {
namespace {

constexpr std::int64_t kProtocol = 1;
constexpr std::size_t kMaxWord = 64;
constexpr std::int64_t kMaxNodeEpoch = std::int64_t{1} << 62;
constexpr std::array kCauses = {ChangeCause::kFormed, ChangeCause::kJoined, ChangeCause::kFailed,
                                ChangeCause::kLeft, ChangeCause::kLost};

bool IsPartOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

// Reads words one after the other. After the first one that is wrong, the rest reads as nothing.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view Next() {
    if (done_) {
      Fail("a word is missing");
      return {};
    }
    const std::size_t end = rest_.find(' ');
    const std::string_view word = rest_.substr(0, end);
    done_ = end == std::string_view::npos;
    rest_ = done_ ? std::string_view() : rest_.substr(end + 1);
    return word;
  }
  std::int64_t Number(std::int64_t min, std::int64_t max) {
    const std::string_view word = Next();
    std::int64_t number = 0;
    const auto result = std::from_chars(word.data(), word.data() + word.size(), number);
    if (result.ec == std::errc() && result.ptr == word.data() + word.size() && number >= min &&
        number <= max) {
      return number;
    }
    Fail("no number from " + std::to_string(min) + " to " + std::to_string(max));
    return min;
  }
  std::uint16_t Port() { return static_cast<std::uint16_t>(Number(1, 65535)); }
  std::uint64_t Epoch() { return static_cast<std::uint64_t>(Number(0, kMaxNodeEpoch)); }
  std::string Name() {
    const std::string_view word = Next();
    const absl::Status fits = CheckNodeName(word);
    if (!fits.ok()) Fail(runtime::Message(fits));
    return std::string(word);
  }
  // A numeric address, which may have colons and the name of an interface.
  std::string Address() {
    const std::string_view word = Next();
    const bool fits = !word.empty() && word.size() <= kMaxWord &&
                      std::all_of(word.begin(), word.end(),
                                  [](char c) { return IsPartOfName(c) || c == ':' || c == '%'; });
    if (!fits) Fail("no address");
    return std::string(word);
  }
  ChangeCause Cause() {
    const std::string_view word = Next();
    for (const ChangeCause cause : kCauses) {
      if (word == ToString(cause)) return cause;
    }
    Fail("no cause");
    return ChangeCause::kLost;
  }
  bool Either(std::string_view yes, std::string_view no) {
    const std::string_view word = Next();
    if (word != yes && word != no) Fail("neither " + std::string(yes) + " nor " + std::string(no));
    return word == yes;
  }
  std::string Rest() {
    done_ = true;
    return std::string(std::exchange(rest_, {}));
  }

  void Fail(std::string problem) {
    if (!problem_) problem_ = std::move(problem);
  }
  absl::Status End() {
    if (!done_) Fail("there are too many words");
    return problem_ ? runtime::InvalidArgument(*problem_) : absl::OkStatus();
  }

 private:
  std::string_view rest_;
  bool done_ = false;
  std::optional<std::string> problem_;
};

NodeMessage Read(std::string_view kind, Words& words) {
  if (kind == "beat") return Beat{};
  if (kind == "join") {
    NodeJoins message;
    (void)words.Number(kProtocol, kProtocol);
    message.name = words.Name();
    message.ranks = words.Number(1, kMaxLocalRanks);
    message.epoch = words.Epoch();
    message.port = words.Port();
    return message;
  }
  if (kind == "ended") {
    RanksEnded message;
    message.epoch = words.Epoch();
    message.exit_code = static_cast<int>(words.Number(0, 255));
    message.cause = words.Name();
    message.port = words.Port();
    return message;
  }
  if (kind == "leave") return NodeLeaves{.ended = words.Either("ended", "running")};
  if (kind == "start") {
    StartRanks message;
    message.epoch = words.Epoch();
    message.first_rank = words.Number(0, kMaxRanks - 1);
    message.world_size = words.Number(message.first_rank + 1, kMaxRanks);
    message.address = words.Address();
    message.port = words.Port();
    message.cause = words.Cause();
    return message;
  }
  if (kind == "stop") {
    StopRanks message;
    message.epoch = words.Epoch();
    message.cause = words.Cause();
    message.orderly = words.Either("orderly", "now");
    return message;
  }
  if (kind == "finish") return FinishNode{.exit_code = static_cast<int>(words.Number(0, 255))};
  if (kind == "refuse") return RefuseNode{.reason = words.Rest()};
  words.Fail("no message begins so");
  return Beat{};
}

std::string Line(std::initializer_list<std::string> words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line + "\n";
}

struct Writer {
  std::string operator()(const NodeJoins& message) const {
    return Line({"join", std::to_string(kProtocol), message.name, std::to_string(message.ranks),
                 std::to_string(message.epoch), std::to_string(message.port)});
  }
  std::string operator()(const RanksEnded& message) const {
    return Line({"ended", std::to_string(message.epoch), std::to_string(message.exit_code),
                 message.cause, std::to_string(message.port)});
  }
  std::string operator()(const NodeLeaves& message) const {
    return Line({"leave", message.ended ? "ended" : "running"});
  }
  std::string operator()(const StartRanks& message) const {
    return Line({"start", std::to_string(message.epoch), std::to_string(message.first_rank),
                 std::to_string(message.world_size), message.address, std::to_string(message.port),
                 ToString(message.cause)});
  }
  std::string operator()(const StopRanks& message) const {
    return Line({"stop", std::to_string(message.epoch), ToString(message.cause),
                 message.orderly ? "orderly" : "now"});
  }
  std::string operator()(const FinishNode& message) const {
    return Line({"finish", std::to_string(message.exit_code)});
  }
  std::string operator()(const RefuseNode& message) const {
    return Line({"refuse", message.reason.substr(0, kMaxNodeLine / 2)});
  }
  std::string operator()(const Beat&) const { return Line({"beat"}); }
};

}  // namespace

std::string ToString(ChangeCause cause) {
  switch (cause) {
    case ChangeCause::kFormed:
      return "formed";
    case ChangeCause::kJoined:
      return "joined";
    case ChangeCause::kFailed:
      return "failed";
    case ChangeCause::kLeft:
      return "left";
    case ChangeCause::kLost:
      return "lost";
  }
  return "";
}

std::string Encode(const NodeMessage& message) { return std::visit(Writer(), message); }

absl::StatusOr<NodeMessage> Decode(std::string_view line) {
  Words words(line);
  const std::string_view kind = words.Next();
  NodeMessage message = Read(kind, words);
  SHOAL_RETURN_IF_ERROR(words.End());
  return message;
}

absl::Status CheckNodeName(std::string_view name) {
  if (!name.empty() && name.size() <= kMaxWord &&
      std::all_of(name.begin(), name.end(), IsPartOfName)) {
    return absl::OkStatus();
  }
  return runtime::InvalidArgument("a name has 1 to " + std::to_string(kMaxWord) +
                                  " letters, digits, '-', '_' and '.'");
}

}  // namespace shoal::collectives
