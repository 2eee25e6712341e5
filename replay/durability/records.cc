// SPDX-License-Identifier: Apache-2.0
#include "replay/durability/records.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "platform/runtime/log.h"
#include "replay/wire.h"

namespace shoal::replay::durability {
namespace {

constexpr std::size_t kChecksumBytes = 8;

template <typename Number>
void AppendNumber(Number number, std::string& out) {
  for (int shift = 8 * (int{sizeof(Number)} - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(number >> shift));
  }
}

std::uint64_t ReadNumber(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

// An older record may lack the last epoch.
VersionRange RangeFrom(const proto::JournalExclusion& range) {
  return {
      .first = {.epoch = range.epoch(), .step = range.first_step()},
      .last = {.epoch = std::max(range.epoch(), range.last_epoch()), .step = range.last_step()}};
}

absl::Status Damaged(const std::string& what) {
  return runtime::DataLoss("the record of " + what + " is damaged");
}

// The parts of an item's record, which point into it.
struct ItemParts {
  std::uint64_t came_unix_ns = 0;
  std::string_view message;
  std::string_view payload;
};

absl::StatusOr<ItemParts> Split(std::string_view key, std::string_view sealed) {
  SHOAL_ASSIGN_OR_RETURN(const std::string_view value, Unseal(key, sealed));
  constexpr std::size_t kTimeBytes = sizeof(std::uint64_t);
  constexpr std::size_t kNumbers = kTimeBytes + sizeof(std::uint32_t);
  if (value.size() < kNumbers) return Damaged("an item");
  const std::uint64_t length = ReadNumber(value.substr(kTimeBytes, sizeof(std::uint32_t)));
  const std::string_view rest = value.substr(kNumbers);
  if (length > rest.size()) return Damaged("an item");
  return ItemParts{.came_unix_ns = ReadNumber(value.substr(0, kTimeBytes)),
                   .message = rest.substr(0, length),
                   .payload = rest.substr(length)};
}

template <typename Message>
absl::StatusOr<Message> MessageFrom(std::string_view key, std::string_view sealed,
                                    const std::string& what) {
  SHOAL_ASSIGN_OR_RETURN(const std::string_view value, Unseal(key, sealed));
  Message message;
  if (!message.ParseFromArray(value.data(), static_cast<int>(value.size()))) return Damaged(what);
  return message;
}

}  // namespace

void ReportLoss(std::string_view table, std::uint64_t number, const absl::Status& status) {
  spdlog::error("event=record_lost table={} key={} reason={}", runtime::Quoted(table), number,
                runtime::Quoted(runtime::Message(status)));
}

std::string Numbered(std::string prefix, std::uint64_t number) {
  AppendNumber(number, prefix);
  return prefix;
}
std::string TableKey(std::string_view name) { return "T" + std::string(name); }
std::string RowKey(std::string_view table, Handle handle) {
  return Numbered(Prefix('R', table), handle);
}
std::string SeenKey(std::string_view table, std::uint64_t count) {
  return Numbered(Prefix('S', table), count);
}
std::string ExclusionKey(std::string_view table, std::uint64_t number) {
  return Numbered(Prefix('X', table), number);
}
std::string ItemKey(std::string_view table, Handle handle) {
  return Numbered(Prefix('I', table), handle);
}
std::string ContentRecordKey(std::uint64_t number) { return Numbered("C", number); }
std::string Prefix(char kind, std::string_view table) {
  return std::string(1, kind).append(table).append(1, '\0');
}
std::uint64_t NumberOf(std::string_view key) {
  return key.size() < 8 ? 0 : ReadNumber(key.substr(key.size() - 8));
}

std::string Checksum(std::string_view key, std::string_view head, std::string_view tail) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (const std::string_view part : {key, head, tail}) {
    XXH3_64bits_update(&state, part.data(), part.size());
  }
  std::string checksum;
  AppendNumber(std::uint64_t{XXH3_64bits_digest(&state)}, checksum);
  return checksum;
}

std::string Seal(std::string_view key, std::string value) {
  value += Checksum(key, value);
  return value;
}

absl::StatusOr<std::string_view> Unseal(std::string_view key, std::string_view sealed) {
  if (sealed.size() < kChecksumBytes) return runtime::DataLoss("a record is cut off");
  const std::string_view value = sealed.substr(0, sealed.size() - kChecksumBytes);
  if (Checksum(key, value) != sealed.substr(value.size())) {
    return runtime::DataLoss("a record does not match its checksum");
  }
  return value;
}

std::string ItemHead(const Item& item, std::uint64_t came_unix_ns) {
  proto::Item message;
  replay::ToProto(item, message);
  std::string head;
  AppendNumber(came_unix_ns, head);
  AppendNumber(static_cast<std::uint32_t>(message.ByteSizeLong()), head);
  message.AppendToString(&head);
  return head;
}

absl::StatusOr<ItemRecord> ItemFrom(std::string_view key, std::string_view sealed) {
  SHOAL_ASSIGN_OR_RETURN(const ItemParts parts, Split(key, sealed));
  ItemRecord record;
  record.came_unix_ns = parts.came_unix_ns;
  proto::Item message;
  if (!message.ParseFromArray(parts.message.data(), static_cast<int>(parts.message.size()))) {
    return Damaged("an item");
  }
  message.set_payload(parts.payload.data(), parts.payload.size());
  SHOAL_ASSIGN_OR_RETURN(record.item,
                         replay::FromProto(message, std::numeric_limits<std::size_t>::max()));
  return record;
}

absl::StatusOr<std::string_view> PayloadFrom(std::string_view key, std::string_view sealed) {
  SHOAL_ASSIGN_OR_RETURN(const ItemParts parts, Split(key, sealed));
  return parts.payload;
}

std::string SeenValue(const UnrollId& id) {
  std::string value;
  AppendNumber(id.environment_id, value);
  AppendNumber(id.incarnation, value);
  AppendNumber(id.first_sequence, value);
  return value;
}

absl::StatusOr<UnrollId> SeenFrom(std::string_view key, std::string_view sealed) {
  SHOAL_ASSIGN_OR_RETURN(const std::string_view value, Unseal(key, sealed));
  if (value.size() != 24) return Damaged("an id");
  return UnrollId{.environment_id = ReadNumber(value.substr(0, 8)),
                  .incarnation = ReadNumber(value.substr(8, 8)),
                  .first_sequence = ReadNumber(value.substr(16, 8))};
}

absl::StatusOr<Content> ContentFrom(std::string_view key, std::string_view sealed) {
  SHOAL_ASSIGN_OR_RETURN(proto::SampleReply message,
                         MessageFrom<proto::SampleReply>(key, sealed, "a content"));
  return replay::ContentFrom(std::move(message));
}

absl::StatusOr<std::string> ChunkDataFrom(std::string_view key, std::string_view sealed) {
  SHOAL_ASSIGN_OR_RETURN(proto::SampleReply message,
                         MessageFrom<proto::SampleReply>(key, sealed, "a chunk"));
  if (message.chunks_size() != 1) return Damaged("a chunk");
  return std::move(*message.mutable_chunks(0)->mutable_data());
}

absl::StatusOr<proto::JournalRow> RowFrom(std::string_view key, std::string_view sealed) {
  return MessageFrom<proto::JournalRow>(key, sealed, "an item's uses");
}

absl::StatusOr<VersionRange> ExclusionFrom(std::string_view key, std::string_view sealed) {
  SHOAL_ASSIGN_OR_RETURN(const proto::JournalExclusion message,
                         MessageFrom<proto::JournalExclusion>(key, sealed, "an exclusion"));
  return RangeFrom(message);
}

absl::StatusOr<proto::JournalTable> TableFrom(std::string_view key, std::string_view sealed) {
  return MessageFrom<proto::JournalTable>(key, sealed, "a table");
}

proto::JournalExclusion ToProto(const VersionRange& range) {
  proto::JournalExclusion out;
  out.set_epoch(range.first.epoch);
  out.set_first_step(range.first.step);
  out.set_last_step(range.last.step);
  out.set_last_epoch(range.last.epoch);
  return out;
}

proto::JournalTable ToProto(const TableRecord& state) {
  proto::JournalTable out;
  out.set_next_handle(state.next_handle);
  out.set_credit(state.credit);
  out.mutable_current_version()->set_epoch(state.current_version.epoch);
  out.mutable_current_version()->set_step(state.current_version.step);
  out.set_stream_max_lag(state.stream_max_lag);
  for (const auto& [name, field] : kTableCounts) {
    (*out.mutable_counts())[name] = state.stats.*field;
  }
  if (state.signature != nullptr) out.set_signature(state.signature->Text());
  if (state.samples_per_insert) out.set_samples_per_insert(*state.samples_per_insert);
  return out;
}

TableRecord FromProto(const proto::JournalTable& table) {
  TableRecord state{.next_handle = table.next_handle(),
                    .credit = table.credit(),
                    .current_version = replay::FromProto(table.current_version()),
                    .stream_max_lag = table.stream_max_lag(),
                    .excluded = nullptr,
                    .signature = nullptr,
                    .samples_per_insert = std::nullopt,
                    .stats = {}};
  if (table.has_samples_per_insert()) state.samples_per_insert = table.samples_per_insert();
  for (const proto::JournalExclusion& range : table.excluded()) {
    state.excluded = With(state.excluded, RangeFrom(range));
  }
  for (const auto& [name, field] : kTableCounts) {
    const auto found = table.counts().find(name);
    if (found != table.counts().end()) state.stats.*field = found->second;
  }
  return state;
}

}  // namespace shoal::replay::durability
