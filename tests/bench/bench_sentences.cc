// SPDX-License-Identifier: Apache-2.0
// Measures texts per second of the sentence encoder for what a run gives it: the distinct phrases
// of all requests of a service. The last line is one JSON object.
//
// Each round encodes all phrases anew. "catalog_seconds" is the time of the median round, which a
// service costs once. With one thread "texts_per_processor_second" is what one core does, whatever
// runs beside it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/median.h"
#include "redfish/capture/capture.h"
#include "redfish/catalog/catalog.h"
#include "redfish/schema/schema.h"
#include "rl/model/policy.h"
#include "tests/bench/flags.h"
#include "text/embedding/sentence_encoder.h"
#include "text/lexical/phrases.h"

namespace shoal {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Options {
  std::string model = ".deps/minilm";
  std::string capture = "data/captures/dell-r750.tar.xz";
  std::string schema = "data/schema/redfish.schema.zst";
  std::int64_t slice_tokens = embedding::SentenceEncoderOptions().slice_tokens;
  int threads = 1;
  int rounds = 3;
};

absl::StatusOr<nlohmann::json> Run(const Options& options) {
  SHOAL_ASSIGN_OR_RETURN(
      const auto encoder,
      embedding::SentenceEncoder::Create(options.model, {.slice_tokens = options.slice_tokens}));
  SHOAL_ASSIGN_OR_RETURN(const auto schema, redfish::Schema::Load(options.schema));
  SHOAL_ASSIGN_OR_RETURN(const auto capture, redfish::Capture::Load(options.capture));
  SHOAL_ASSIGN_OR_RETURN(const auto catalog, redfish::Catalog::Build(*capture, *schema));
  std::set<std::string> phrases;
  for (const redfish::Candidate& candidate : catalog->candidates()) {
    for (tokens::Phrase& phrase : tokens::SplitIntoPhrases(candidate.text)) {
      phrases.insert(std::move(phrase.text));
    }
  }
  const std::vector<std::string_view> texts(phrases.begin(), phrases.end());
  std::vector<double> seconds;
  const std::clock_t used = std::clock();
  for (int round = 0; round < options.rounds; ++round) {
    const auto start = SteadyClock::now();
    SHOAL_RETURN_IF_ERROR(encoder->Encode(texts).status());
    seconds.push_back(std::chrono::duration<double>(SteadyClock::now() - start).count());
  }
  const double processor_seconds =
      static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC / options.rounds;
  const auto [best, worst] = std::minmax_element(seconds.begin(), seconds.end());
  const double median = runtime::Median(seconds);
  const auto rate = [&](double passed) { return static_cast<double>(texts.size()) / passed; };
  return nlohmann::json{{"bench", "sentences"},
                        {"threads", options.threads},
                        {"requests", catalog->size()},
                        {"texts", texts.size()},
                        {"texts_per_processor_second", rate(processor_seconds)},
                        {"texts_per_second", rate(median)},
                        {"best", rate(*best)},
                        {"worst", rate(*worst)},
                        {"catalog_seconds", median}};
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  shoal::Options options;
  shoal::bench::Flags flags(
      "Texts per second of the sentence encoder for the phrases of a service's requests.");
  flags.Add("--model", options.model, "Folder of the sentence encoder").ShowDefault();
  flags.Add("--capture", options.capture, "Where the requests come from").ShowDefault();
  flags.Add("--schema", options.schema, "Schema table").ShowDefault();
  flags.Add("--slice-tokens", options.slice_tokens, "In one pass through the model")
      .Positive()
      .ShowDefault();
  flags.Add("--threads", options.threads, "Of torch").Positive().ShowDefault();
  flags.Add("--rounds", options.rounds, "Of which the median counts").Positive().ShowDefault();
  if (const auto code = flags.Parse(argc, argv)) return *code;
  shoal::model::SetTorchThreads(options.threads);
  const auto line = shoal::Run(options);
  if (!line.ok()) {
    std::fprintf(stderr, "bench_sentences: %s\n", shoal::runtime::Message(line.status()).c_str());
    return 1;
  }
  std::printf("%s\n", line->dump().c_str());
  return 0;
}
