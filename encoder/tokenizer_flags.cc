// SPDX-License-Identifier: Apache-2.0
#include "encoder/tokenizer_flags.h"

#include <memory>
#include <ostream>

#include "encoder/tokenizer_commands.h"

namespace shoal::encoder {
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
