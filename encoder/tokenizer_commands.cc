// SPDX-License-Identifier: Apache-2.0
#include "encoder/tokenizer_commands.h"

#include <algorithm>
#include <functional>
#include <iomanip>
#include <map>
#include <memory>
#include <ostream>
#include <string_view>

#include "platform/content/canonical_json.h"
#include "platform/runtime/atomic_file.h"
#include "redfish/capture/capture.h"
#include "text/bpe/token_encoder.h"
#include "text/bpe/token_harvest.h"
#include "text/bpe/tokenizer_json.h"
#include "text/bpe/tokenizer_trainer.h"

namespace shoal::encoder {

namespace {

constexpr std::int32_t kReports = 10;

using Document = std::function<absl::Status(const nlohmann::json&)>;

absl::Status ForEachResource(const std::string& capture_path, const Document& document) {
  SHOAL_ASSIGN_OR_RETURN(const auto capture, redfish::Capture::Load(capture_path));
  for (const auto& [uri, body] : capture->resources()) {
    const absl::Status status = document(body);
    if (!status.ok()) return runtime::Annotate(status, capture_path + " " + uri);
  }
  return absl::OkStatus();
}

std::string TextOf(const nlohmann::json& body) {
  return content::CanonicalJson(body, content::DefaultVolatileNames());
}

void PrintSource(const std::string& path, std::size_t texts, std::size_t bytes, std::ostream& out) {
  out << path << ": texts=" << texts << " bytes=" << bytes << std::endl;
}

absl::Status AddCapture(const std::string& path, tokens::TokenizerTrainer& trainer,
                        std::ostream& out) {
  std::size_t texts = 0;
  std::size_t bytes = 0;
  SHOAL_RETURN_IF_ERROR(ForEachResource(path, [&](const nlohmann::json& body) {
    const std::string text = TextOf(body);
    ++texts;
    bytes += text.size();
    return trainer.AddText(text);
  }));
  PrintSource(path, texts, bytes, out);
  return absl::OkStatus();
}

absl::Status AddFile(const std::string& path, tokens::TokenizerTrainer& trainer,
                     std::ostream& out) {
  SHOAL_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(path));
  SHOAL_RETURN_IF_ERROR(trainer.AddText(text));
  PrintSource(path, 1, text.size(), out);
  return absl::OkStatus();
}

absl::Status Save(const tokens::Tokenizer& tokenizer, const std::string& path, std::ostream& out) {
  SHOAL_RETURN_IF_ERROR(tokens::SaveTokenizer(tokenizer, path));
  out << "wrote " << path << " tokens=" << tokenizer.size()
      << " added=" << tokenizer.added_tokens().size() << " fingerprint=" << tokenizer.fingerprint()
      << '\n';
  return absl::OkStatus();
}

// Bytes of captures' texts, and tokens before and after the extension.
struct Sizes {
  std::size_t bytes = 0;
  std::size_t before = 0;
  std::size_t after = 0;
};

absl::Status Compare(const std::vector<std::string>& captures, tokens::TokenEncoder& before,
                     tokens::TokenEncoder& after, Sizes& sizes) {
  std::vector<std::int32_t> ids;
  const auto count = [&ids](tokens::TokenEncoder& encoder, const std::string& text,
                            std::size_t& total) -> absl::Status {
    ids.clear();
    SHOAL_RETURN_IF_ERROR(encoder.Encode(text, ids));
    total += ids.size();
    return absl::OkStatus();
  };
  for (const std::string& path : captures) {
    SHOAL_RETURN_IF_ERROR(ForEachResource(path, [&](const nlohmann::json& body) -> absl::Status {
      const std::string text = TextOf(body);
      sizes.bytes += text.size();
      SHOAL_RETURN_IF_ERROR(count(before, text, sizes.before));
      return count(after, text, sizes.after);
    }));
  }
  return absl::OkStatus();
}

void PrintToken(const tokens::Tokenizer& tokenizer, std::int32_t id, std::ostream& out) {
  out << std::setw(7) << id << ' ' << nlohmann::json(tokenizer.TokenText(id)).dump() << '\n';
}

std::string StepName(const tokens::Normalizer::Step& step) {
  if (step.pattern == nullptr) return "lower case";
  return "replace " + step.pattern->expression() + " by \"" + step.content + "\"";
}

void PrintSummary(const tokens::Tokenizer& tokenizer, std::ostream& out) {
  for (const auto& step : tokenizer.normalizer().steps()) {
    out << "normalizer: " << StepName(step) << '\n';
  }
  for (const auto& split : tokenizer.pre_tokenizer().options().splits) {
    out << "split: " << split.pattern->expression() << '\n';
  }
  out << "tokens=" << tokenizer.size() << " merges=" << tokenizer.merges().rules().size()
      << " added=" << tokenizer.added_tokens().size() << " fingerprint=" << tokenizer.fingerprint()
      << '\n';
}

}  // namespace

absl::Status TrainTokenizer(const TrainTokenizerOptions& options, std::ostream& out) {
  if (options.captures.empty() && options.texts.empty()) {
    return runtime::InvalidArgument("train needs at least one capture or text");
  }
  tokens::TokenizerTrainer::Options training;
  training.vocabulary_size = options.vocabulary_size;
  training.minimum_count = options.minimum_count;
  training.split_camel_case = options.split_camel_case;
  training.lower_case = options.lower_case;
  SHOAL_ASSIGN_OR_RETURN(auto trainer, tokens::TokenizerTrainer::Create(std::move(training)));
  for (const std::string& path : options.captures) {
    SHOAL_RETURN_IF_ERROR(AddCapture(path, trainer, out));
  }
  for (const std::string& path : options.texts) {
    SHOAL_RETURN_IF_ERROR(AddFile(path, trainer, out));
  }
  out << "words=" << trainer.words() << std::endl;
  const auto report = [&out](std::int32_t made, std::int32_t wanted) {
    if (made % std::max(1, wanted / kReports) == 0) {
      out << "tokens=" << made << " of " << wanted << std::endl;
    }
  };
  SHOAL_ASSIGN_OR_RETURN(const auto tokenizer, trainer.Train(report));
  return Save(*tokenizer, options.output, out);
}

absl::Status ExtendTokenizer(const ExtendTokenizerOptions& options, std::ostream& out) {
  if (options.captures.empty()) {
    return runtime::InvalidArgument("extend needs at least one capture");
  }
  SHOAL_ASSIGN_OR_RETURN(const auto base, tokens::LoadTokenizer(options.tokenizer));
  tokens::TokenHarvest harvest;
  for (const std::string& path : options.captures) {
    std::size_t documents = 0;
    SHOAL_RETURN_IF_ERROR(ForEachResource(path, [&](const nlohmann::json& body) {
      harvest.Add(body);
      ++documents;
      return absl::OkStatus();
    }));
    out << path << ": documents=" << documents << std::endl;
  }
  const auto found = harvest.Best({.minimum_count = options.minimum_count,
                                   .minimum_length = options.minimum_length,
                                   .limit = options.limit});
  std::map<std::string_view, int> kinds;
  for (const auto& one : found) ++kinds[tokens::KindName(one.kind)];
  for (const auto& [kind, count] : kinds) out << kind << '=' << count << '\n';
  SHOAL_ASSIGN_OR_RETURN(const auto extended,
                         base->Extend(tokens::TokenHarvest::Tokens(found, *base)));
  tokens::TokenEncoder before(base);
  tokens::TokenEncoder after(extended);
  Sizes sizes;
  SHOAL_RETURN_IF_ERROR(Compare(options.captures, before, after, sizes));
  out << "bytes=" << sizes.bytes << " ids before=" << sizes.before << " after=" << sizes.after
      << '\n';
  return Save(*extended, options.output, out);
}

absl::Status ShowTokenizer(const ShowTokenizerOptions& options, std::ostream& out) {
  SHOAL_ASSIGN_OR_RETURN(const auto tokenizer, tokens::LoadTokenizer(options.tokenizer));
  for (const std::int32_t id : options.ids) {
    if (tokenizer->TokenText(id).empty()) {
      return runtime::InvalidArgument(options.tokenizer + ": " + std::to_string(id) +
                                      " is no token; ids end before " +
                                      std::to_string(tokenizer->size()));
    }
    PrintToken(*tokenizer, id, out);
  }
  if (options.added) {
    for (const auto& token : tokenizer->added_tokens()) PrintToken(*tokenizer, token.id, out);
  }
  PrintSummary(*tokenizer, out);
  return absl::OkStatus();
}

absl::Status EncodeText(const EncodeTextOptions& options, std::ostream& out) {
  if (!options.text.empty() && !options.file.empty()) {
    return runtime::InvalidArgument("encode takes a text or a file, not both");
  }
  SHOAL_ASSIGN_OR_RETURN(const auto tokenizer, tokens::LoadTokenizer(options.tokenizer));
  std::string text = options.text;
  if (!options.file.empty()) {
    SHOAL_ASSIGN_OR_RETURN(text, runtime::ReadFile(options.file));
  }
  std::vector<std::int32_t> ids;
  SHOAL_RETURN_IF_ERROR(tokenizer->Encode(text, ids));
  for (const std::int32_t id : ids) PrintToken(*tokenizer, id, out);
  SHOAL_ASSIGN_OR_RETURN(const std::string decoded, tokenizer->Decode(ids));
  out << "bytes=" << text.size() << " ids=" << ids.size()
      << (decoded == text ? " decoded=same" : " decoded=other") << '\n';
  return absl::OkStatus();
}

namespace {

constexpr char kTokenizerHelp[] = "tokenizer.json, or a folder with it or with encoder.json";
constexpr char kCapturesHelp[] = "Capture archives or folders";

void AddTrain(CLI::App& tokenizer, Action& action) {
  auto options = std::make_shared<TrainTokenizerOptions>();
  CLI::App* train = tokenizer.add_subcommand("train", "Makes a vocabulary from texts");
  train->add_option("--captures", options->captures, kCapturesHelp);
  train->add_option("--texts", options->texts, "Files, a text each");
  train->add_option("--output", options->output, "tokenizer.json to write")->required();
  train
      ->add_option("--vocabulary-size", options->vocabulary_size,
                   "Tokens at most, with 256 bytes and <|endoftext|>")
      ->capture_default_str();
  train->add_option("--minimum-count", options->minimum_count, "Of a pair that becomes a token")
      ->capture_default_str();
  train->add_flag("--split-camel-case", options->split_camel_case,
                  "AssetTag is Asset Tag; decoding does not undo it");
  train->add_flag("--lower-case", options->lower_case, "Asset is asset; decoding does not undo it");
  Bind(*train, action, options, &TrainTokenizer);
}

void AddExtend(CLI::App& tokenizer, Action& action) {
  auto options = std::make_shared<ExtendTokenizerOptions>();
  CLI::App* extend = tokenizer.add_subcommand(
      "extend", "Adds URIs, types, actions, values and structure of captures as tokens");
  extend->add_option("--tokenizer", options->tokenizer, kTokenizerHelp)->capture_default_str();
  extend->add_option("--captures", options->captures, kCapturesHelp)->required();
  extend->add_option("--output", options->output, "tokenizer.json to write")->required();
  extend->add_option("--minimum-count", options->minimum_count, "Of a name that becomes a token")
      ->capture_default_str();
  extend->add_option("--minimum-length", options->minimum_length, "Of such a name, in bytes")
      ->capture_default_str();
  extend->add_option("--limit", options->limit, "Tokens added at most, by bytes that they save")
      ->capture_default_str();
  Bind(*extend, action, options, &ExtendTokenizer);
}

void AddShow(CLI::App& tokenizer, Action& action) {
  auto options = std::make_shared<ShowTokenizerOptions>();
  CLI::App* show = tokenizer.add_subcommand("show", "Says what a tokenizer is made of");
  show->add_option("--tokenizer", options->tokenizer, kTokenizerHelp)->capture_default_str();
  show->add_option("--ids", options->ids, "Print these tokens");
  show->add_flag("--added", options->added, "Print all added tokens");
  Bind(*show, action, options, &ShowTokenizer);
}

void AddEncode(CLI::App& tokenizer, Action& action) {
  auto options = std::make_shared<EncodeTextOptions>();
  CLI::App* encode = tokenizer.add_subcommand("encode", "Prints the tokens of a text");
  encode->add_option("--tokenizer", options->tokenizer, kTokenizerHelp)->capture_default_str();
  encode->add_option("--text", options->text, "A text");
  encode->add_option("--file", options->file, "A file, instead");
  Bind(*encode, action, options, &EncodeText);
}

}  // namespace

void AddTokenizerCommands(CLI::App& app, Action& action) {
  CLI::App* tokenizer = app.add_subcommand("tokenizer", "Byte-level BPE, as GPT-2's");
  tokenizer->require_subcommand(1);
  AddTrain(*tokenizer, action);
  AddExtend(*tokenizer, action);
  AddShow(*tokenizer, action);
  AddEncode(*tokenizer, action);
}

}  // namespace shoal::encoder
