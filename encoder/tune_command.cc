// SPDX-License-Identifier: Apache-2.0
#include "encoder/tune_command.h"

#include <memory>

namespace shoal::encoder {

void AddTuningFlags(CLI::App& command, TuningOptions& options) {
  const auto add = [&command](const char* flag, auto& value, const char* help) {
    command.add_option(flag, value, help)->capture_default_str();
  };
  add("--descriptions", options.descriptions,
      "DMTF's JSON Schema, whose descriptions are learned too; '' for none");
  add("--variants", options.variants, "Variants of each capture to learn from, beside itself");
  add("--sentences-of-goal", options.episodes,
      "Sentences of each goal on a capture; half as many on a variant");
  add("--base-share", options.base_share, "Share of the base's vectors in the cosines");
  add("--size", options.trainer.size, "Numbers of a mapped vector");
  add("--steps", options.trainer.steps, "Steps of the training");
  add("--batch", options.trainer.batch, "Sentences of a step");
  add("--negatives", options.trainer.negatives, "Requests of a step beside those asked for");
  add("--learning-rate", options.trainer.learning_rate, "At its peak");
  add("--weight-decay", options.trainer.weight_decay, "Of the maps");
  add("--temperature", options.trainer.temperature, "At the start; it is learned");
  add("--description-share", options.trainer.description_share, "Share of steps on descriptions");
  add("--cache", options.cache.encoder_cache,
      "SQLite file that keeps the sentence encoder's vectors; empty: none");
}

void AddTuneCommand(CLI::App& app, Action& action) {
  const auto options = std::make_shared<TuningOptions>();
  CLI::App* command = app.add_subcommand(
      "tune", "Trains an adapter that brings goals' sentences near to their requests");
  command
      ->add_option("--captures", options->captures,
                   "Names, archives or folders; without: all of <data>/captures")
      ->capture_default_str();
  command->add_option("--hold-out", options->hold_out,
                      "Captures to leave out, with their variants");
  command->add_option("--output", options->output, "Folder of the adapter")->required();
  command->add_option("--seed", options->trainer.seed, "Of sentences, maps and batches")
      ->capture_default_str();
  command
      ->add_option("--encoder", options->source.encoder,
                   "Whose vectors are mapped: lexical, sentence or both:sentence")
      ->capture_default_str();
  command
      ->add_option("--sentences", options->source.encoder_sentences,
                   "Folder of the sentence encoder")
      ->capture_default_str();
  command
      ->add_option("--precision", options->source.encoder_precision,
                   "As the knob inference.encoder_precision")
      ->capture_default_str();
  command->add_option("--data", options->data, "Folder with captures/ and goals/")
      ->capture_default_str();
  command->add_option("--schema", options->schema, "Schema table")->capture_default_str();
  AddTuningFlags(*command, *options);
  Bind(*command, action, options, Tune);
}

}  // namespace shoal::encoder
