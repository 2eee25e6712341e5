// SPDX-License-Identifier: Apache-2.0
// Encodes rows as messages of one stream, together with the contents and catalogs that the stream
// has not carried yet.
//
// An overlay is sent after its base. Each stream has an encoder of its own, which remembers what
// the stream carried. Past `max_known` entries the encoder forgets all of them and sends them again
// when they are used. Not thread-safe.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "inference/client/row.h"
#include "platform/content/content_key.h"

namespace shoal::inference::client {

class RowEncoder {
 public:
  // Contents beyond this size go ahead in messages of their own, well below the size limit of a
  // channel.
  static constexpr std::size_t kMaxContentBytes = std::size_t{1} << 20;

  // `max_known` is the limit on remembered contents, and on remembered catalogs; one message may
  // exceed it. REQUIRES: the dtypes and shapes of `spec` are valid.
  explicit RowEncoder(proto::EnvironmentSpec spec, std::size_t max_known = std::size_t{1} << 17);

  // Returns the messages that carry `rows`, to be sent in order. The last one has the rows.
  // REQUIRES: there is a row, and all rows have the contents that the spec says, and either the
  // bytes of observations and extras that it says or none.
  std::vector<proto::ActRequest> Encode(std::span<const Row* const> rows);

  // The server asked for this content again: the next row that uses it carries it.
  void ForgetContent(const content::ContentKey& key) { contents_.erase(key); }
  // Like ForgetContent: the catalog is sent again with those of its candidates that were forgotten.
  void ForgetCatalog(const content::ContentKey& key) { catalogs_.erase(key); }

 private:
  void AddContent(const ContentReference& content, std::vector<proto::ActRequest>& messages,
                  std::size_t& bytes);
  void AddCatalog(const CandidateList& catalog, std::vector<proto::ActRequest>& messages,
                  std::size_t& bytes);
  void FillRows(std::span<const Row* const> rows, proto::Rows& out) const;

  using Specs = google::protobuf::RepeatedPtrField<proto::ObservationSpec>;
  // The bytes that one row has of each observation, or of each extra.
  using Columns = std::vector<std::size_t>;
  static Columns ColumnsOf(const Specs& specs);
  static void FillColumns(std::span<const Row* const> rows, std::string Row::*values,
                          const Columns& columns, const Specs& specs,
                          google::protobuf::RepeatedPtrField<proto::NamedTensor>& out);

  const proto::EnvironmentSpec spec_;
  const Columns observations_;
  const Columns extras_;
  const std::size_t max_known_;
  absl::flat_hash_set<content::ContentKey, content::ContentKeyHash> contents_;
  absl::flat_hash_set<content::ContentKey, content::ContentKeyHash> catalogs_;
};

}  // namespace shoal::inference::client
