// SPDX-License-Identifier: Apache-2.0
// Turns rows into messages of one stream, with the contents and catalogs that it has not carried
// yet.
//
// An overlay goes after the catalog that it is on. Not thread-safe. One encoder a stream: what it
// sent is forgotten with it, and also when it has sent very many; they then go once more.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "inference/client/row.h"
#include "platform/runtime/tensor.h"

namespace shoal::inference::client {

class RowEncoder {
 public:
  // Contents past this many bytes go ahead in messages of their own, well below the size limit of a
  // channel.
  static constexpr std::size_t kMaxContentBytes = std::size_t{1} << 20;

  // `max_known`: contents, and catalogs, remembered at most, give or take those of one message.
  // REQUIRES: dtypes and shapes of `spec` are valid.
  explicit RowEncoder(proto::EnvironmentSpec spec, std::size_t max_known = std::size_t{1} << 20);

  // The messages that carry `rows`, to be sent in order; the last one has the rows. REQUIRES: at
  // least one row; each has as many contents, numbers of observation and bytes of extras as the
  // spec says.
  std::vector<proto::ActRequest> Encode(std::span<const Row* const> rows);

  // The server asked for these again: the next row that has them brings them. 16 bytes each; other
  // lengths are ignored.
  void ForgetContent(const std::string& key) { contents_.erase(key); }
  // The catalog and those of its candidates that were forgotten.
  void ForgetCatalog(const std::string& key) { catalogs_.erase(key); }

 private:
  void AddContent(const ContentReference& content, std::vector<proto::ActRequest>& messages,
                  std::size_t& bytes);
  void AddCatalog(const CandidateList& catalog, std::vector<proto::ActRequest>& messages,
                  std::size_t& bytes);
  void FillRows(std::span<const Row* const> rows, proto::Rows& out) const;
  void FillObservations(std::span<const Row* const> rows, proto::Rows& out) const;
  void FillExtras(std::span<const Row* const> rows, proto::Rows& out) const;

  // An observation or an extra of one row.
  struct Column {
    runtime::DType dtype = runtime::DType::kFloat32;
    std::size_t elements = 0;
    std::size_t bytes() const { return elements * runtime::SizeOf(dtype); }
  };
  static std::vector<Column> ColumnsOf(
      const google::protobuf::RepeatedPtrField<proto::ObservationSpec>& specs);

  const proto::EnvironmentSpec spec_;
  const std::vector<Column> observations_;
  const std::vector<Column> extras_;
  const std::size_t max_known_;
  // Keys as bytes.
  absl::flat_hash_set<std::string> contents_;
  absl::flat_hash_set<std::string> catalogs_;
};

}  // namespace shoal::inference::client
