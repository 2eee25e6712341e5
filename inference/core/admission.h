// SPDX-License-Identifier: Apache-2.0
// Admission lets rows into the batchers. It looks up what the keys of a row name, asks the client
// for what is unknown, and holds a row back only while the encoder works on its contents.
//
// A row whose contents are embedded goes to its batcher at once, and a row that names something
// unknown is answered at once; neither waits for a row of another environment. The rows of one
// environment keep their order: if a row waits or must be sent again, so must the later ones. Not
// thread-safe: one thread calls Admit and, after each EncodingStage::on_encoded, Recheck.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "inference/core/answer_batch.h"
#include "inference/core/batcher_set.h"
#include "inference/core/catalog_store.h"
#include "inference/core/encoding_stage.h"
#include "inference/core/inference_metrics.h"
#include "inference/core/row_block.h"
#include "text/embedding/embedding_store.h"

namespace shoal::inference {

// One decoded message.
struct Arrival {
  struct Text {
    content::ContentKey key;
    std::string text;
  };
  std::vector<Text> contents;
  std::vector<CandidateList> lists;
  // Null when the message has no rows.
  std::shared_ptr<RowBlock> rows;
};

class Admission {
 public:
  // At most `max_waiting` rows are held back; further ones are answered kOverloaded. All references
  // must outlive this object.
  struct Parts {
    const PolicyShape& shape;
    embedding::EmbeddingStore& contents;
    CatalogStore& catalogs;
    EncodingStage& encoding;
    BatcherSet& batchers;
    InferenceMetrics& metrics;
  };
  Admission(const Parts& parts, std::size_t max_waiting)
      : parts_(parts), max_waiting_(max_waiting) {}

  void Admit(Arrival arrival);
  void Recheck();

  std::size_t waiting() const { return waiting_.size(); }

 private:
  // The errors of the contents and lists of this message, by key.
  using Refusals = std::unordered_map<content::ContentKey, std::string>;
  struct Verdict {
    enum class Kind : std::uint8_t { kReady, kWait, kAnswer };
    Kind kind = Kind::kReady;
    // The answer to the row if `kind` is kAnswer.
    RowAnswer answer = {};
  };
  // What this call has found out already, so that 64 rows with one catalog look it up once.
  struct Memo {
    Refusals refusals;
    std::unordered_map<content::ContentKey, CatalogStore::Resolution> catalogs;
    // The verdicts on environments whose earlier row did not pass.
    std::unordered_map<std::uint64_t, Verdict> environments;
  };

  void TakeContents(std::vector<Arrival::Text>& contents, Refusals& refusals);
  void TakeLists(std::vector<CandidateList>& lists, Refusals& refusals);
  Verdict Judge(const Row& row, Memo& memo);
  Verdict JudgeContents(const Row& row, Memo& memo);
  Verdict JudgeCatalog(const Row& row, Memo& memo);
  Verdict JudgeMissing(const Row& row, const std::vector<content::ContentKey>& keys);
  void Pass(std::vector<Row>& ready, AnswerBatch& answers);
  void Settle(Row row, Verdict verdict, std::vector<Row>& ready, AnswerBatch& answers);

  const Parts parts_;
  const std::size_t max_waiting_;
  std::deque<Row> waiting_;
  // For each unresolved catalog, one of the contents that it waits for.
  std::unordered_map<content::ContentKey, content::ContentKey> awaited_;
};

}  // namespace shoal::inference
