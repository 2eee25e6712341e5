// SPDX-License-Identifier: Apache-2.0
// The keys and values that a shard's database holds.
//
//   column    key                            value
//   state     'T' table                      proto::JournalTable
//   state     'R' table 0 handle             proto::JournalRow
//   state     'S' table 0 count              an id that the table has seen
//   state     'X' table 0 number             proto::JournalExclusion, numbered from 0 in order
//   state     'L'                            the id of a learner's checkpoint
//   items     'I' table 0 handle             when it came, length of a proto::Item, it, its payload
//                                            (a table without durability has only these)
//   contents  'C' number of the content      proto::SampleReply with the content
//
// A table stands for its name, 0 for a byte. Other numbers are 8 bytes, big-endian, so that keys
// sort by them. An item and its row are two records, so that a new priority does not write the
// payload again.
//
// A value ends with a checksum over key and value (XXH3, 64 bits), so that a record that was
// damaged or stands under another's key is recognised by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "proto/journal.pb.h"
#include "replay/content_store.h"
#include "replay/item.h"
#include "replay/table.h"

namespace shoal::replay::durability {

inline constexpr std::string_view kLearnerKey = "L";
// Logs that a record with this number was lost.
void ReportLoss(std::string_view table, std::uint64_t number, const absl::Status& status);
// Returns the key of a record that has a number below `prefix`.
std::string Numbered(std::string prefix, std::uint64_t number);
std::string TableKey(std::string_view name);
std::string RowKey(std::string_view table, Handle handle);
std::string SeenKey(std::string_view table, std::uint64_t count);
std::string ExclusionKey(std::string_view table, std::uint64_t number);
std::string ItemKey(std::string_view table, Handle handle);
std::string ContentRecordKey(std::uint64_t number);
// What all keys of the table's records of one kind begin with.
std::string Prefix(char kind, std::string_view table);
// Returns the number at the end of a key, or 0 if the key has fewer than 8 bytes.
std::uint64_t NumberOf(std::string_view key);

// Returns the checksum that follows a value which consists of `head` and then `tail`.
std::string Checksum(std::string_view key, std::string_view head, std::string_view tail = {});
// Returns `value` with its checksum.
std::string Seal(std::string_view key, std::string value);
// Returns what was sealed, which points into `sealed`, or DATA_LOSS.
absl::StatusOr<std::string_view> Unseal(std::string_view key, std::string_view sealed);

struct ItemRecord {
  std::shared_ptr<Item> item;
  // In nanoseconds since the Unix epoch.
  std::uint64_t came_unix_ns = 0;
};

// Returns what stands before the payload in an item's record.
std::string ItemHead(const Item& item, std::uint64_t came_unix_ns);
// These fail with DATA_LOSS if `sealed` is not what was written under `key`.
absl::StatusOr<ItemRecord> ItemFrom(std::string_view key, std::string_view sealed);
// Returns the payload of an item's record, which points into `sealed`.
absl::StatusOr<std::string_view> PayloadFrom(std::string_view key, std::string_view sealed);
absl::StatusOr<UnrollId> SeenFrom(std::string_view key, std::string_view sealed);
absl::StatusOr<Content> ContentFrom(std::string_view key, std::string_view sealed);
// Returns the data of a chunk's record. It is not hashed anew to be compared with the chunk's key.
absl::StatusOr<std::string> ChunkDataFrom(std::string_view key, std::string_view sealed);
absl::StatusOr<proto::JournalRow> RowFrom(std::string_view key, std::string_view sealed);
absl::StatusOr<VersionRange> ExclusionFrom(std::string_view key, std::string_view sealed);
absl::StatusOr<proto::JournalTable> TableFrom(std::string_view key, std::string_view sealed);

std::string SeenValue(const UnrollId& id);
proto::JournalExclusion ToProto(const VersionRange& range);
// Leaves out the exclusions, which are records of their own.
proto::JournalTable ToProto(const TableRecord& state);
// Leaves out the signature, which may be none.
TableRecord FromProto(const proto::JournalTable& table);

}  // namespace shoal::replay::durability
