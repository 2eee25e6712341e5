// SPDX-License-Identifier: Apache-2.0
// Measures how fast one thread encodes the texts of captures.
//
//   bench_tokenizer [--tokenizer data/gpt2] [--captures data/captures/*.tar.xz] [--seconds 1]
//       [--write-texts FOLDER]
//
// Long texts are the canonical JSON of whole resources; short texts are their members one by one.
// Each set is encoded repeatedly through one TokenEncoder, and the long texts once more without its
// memory of words. The last line is one JSON object with megabytes (1e6 bytes) and tokens per
// second. With --write-texts the texts are written instead, as FOLDER/long and FOLDER/short with
// one text on each line, so that a peer can be measured on them (peers/huggingface.sh).
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "platform/content/canonical_json.h"
#include "platform/runtime/atomic_file.h"
#include "redfish/capture/capture.h"
#include "tests/bench/flags.h"
#include "text/bpe/token_encoder.h"
#include "text/bpe/tokenizer_json.h"

namespace {

using namespace shoal;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

struct Settings {
  std::string tokenizer = "data/gpt2";
  std::vector<std::string> captures = {
      "data/captures/dell-r750.tar.xz", "data/captures/hpe-dl380a-gen12.tar.xz",
      "data/captures/openbmc-stock.tar.xz", "data/captures/dmtf-rackmount1.tar.xz"};
  std::string write_texts;
  double seconds = 1;
};

struct Texts {
  std::vector<std::string> long_ones;
  std::vector<std::string> short_ones;
};

absl::StatusOr<Texts> ReadTexts(const Settings& settings) {
  Texts texts;
  std::set<std::string> members;
  for (const std::string& path : settings.captures) {
    SHOAL_ASSIGN_OR_RETURN(const auto capture, redfish::Capture::Load(path));
    for (const auto& [uri, body] : capture->resources()) {
      texts.long_ones.push_back(content::CanonicalJson(body, content::DefaultVolatileNames()));
      for (const auto& [name, value] : body.items()) {
        if (!value.is_structured()) members.insert(content::CanonicalJson({{name, value}}));
      }
    }
  }
  texts.short_ones.assign(members.begin(), members.end());
  return texts;
}

absl::Status WriteTexts(const Texts& texts, const std::string& folder) {
  for (const auto& [name, some] :
       {std::pair("long", &texts.long_ones), std::pair("short", &texts.short_ones)}) {
    std::string bytes;
    for (const std::string& text : *some) bytes += text + "\n";
    SHOAL_RETURN_IF_ERROR(runtime::WriteFileAtomically(folder + "/" + name, bytes));
  }
  return absl::OkStatus();
}

// Adds NAME_mb_per_s, NAME_tokens_per_s and NAME_tokens of one pass to `line`.
absl::Status Measure(tokens::TokenEncoder& encoder, const std::vector<std::string>& texts,
                     double seconds, const std::string& name, json& line) {
  std::vector<std::int32_t> ids;
  std::size_t bytes = 0;
  std::size_t count = 0;
  const auto pass = [&]() -> absl::Status {
    count = 0;
    for (const std::string& text : texts) {
      ids.clear();
      SHOAL_RETURN_IF_ERROR(encoder.Encode(text, ids));
      count += ids.size();
    }
    return absl::OkStatus();
  };
  for (const std::string& text : texts) bytes += text.size();
  SHOAL_RETURN_IF_ERROR(pass());
  const auto start = Clock::now();
  double passed = 0;
  int passes = 0;
  for (; passed < seconds; ++passes) {
    SHOAL_RETURN_IF_ERROR(pass());
    passed = std::chrono::duration<double>(Clock::now() - start).count();
  }
  line[name + "_mb_per_s"] = static_cast<double>(bytes) * passes / passed / 1e6;
  line[name + "_tokens_per_s"] = static_cast<double>(count) * passes / passed;
  line[name + "_tokens"] = count;
  return absl::OkStatus();
}

absl::Status Run(const Settings& settings) {
  SHOAL_ASSIGN_OR_RETURN(const Texts texts, ReadTexts(settings));
  if (!settings.write_texts.empty()) return WriteTexts(texts, settings.write_texts);
  SHOAL_ASSIGN_OR_RETURN(const auto tokenizer, tokens::LoadTokenizer(settings.tokenizer));
  json line = {{"bench", "tokenizer"},
               {"long_texts", texts.long_ones.size()},
               {"short_texts", texts.short_ones.size()}};
  tokens::TokenEncoder encoder(tokenizer);
  SHOAL_RETURN_IF_ERROR(Measure(encoder, texts.long_ones, settings.seconds, "long", line));
  SHOAL_RETURN_IF_ERROR(Measure(encoder, texts.short_ones, settings.seconds, "short", line));
  tokens::TokenEncoder forgetful(tokenizer, {.cached_words = 0});
  SHOAL_RETURN_IF_ERROR(Measure(forgetful, texts.long_ones, settings.seconds, "uncached", line));
  std::printf("%s\n", line.dump().c_str());
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bench::Flags flags("How fast one thread encodes the texts of captures");
  flags.Add("--tokenizer", settings.tokenizer, "tokenizer.json or a folder");
  flags.Add("--captures", settings.captures, "capture archives or folders");
  flags.Add("--seconds", settings.seconds, "of each set of texts");
  flags.Add("--write-texts", settings.write_texts, "write the texts into this folder");
  if (const auto code = flags.Parse(argc, argv)) return *code;
  const absl::Status status = Run(settings);
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench_tokenizer: %s\n", runtime::Message(status).c_str());
  return 1;
}
