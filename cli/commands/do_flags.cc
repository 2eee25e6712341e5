// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/do_flags.h"

#include <CLI/CLI.hpp>

#include "cli/commands/host_access.h"
#include "operate/permissions.h"

namespace shoal::cli {
namespace {

void AddLimits(CLI::App& command, DoFlags& flags) {
  command.add_option("--budget", flags.budget,
                     "requests that may change something, of all hosts together and with "
                     "repetitions; default: those announced, each repeated at most ten times");
  command
      .add_option("--allow-uri", flags.uris,
                  "a pattern of paths that may be written, * within a segment, "
                  "** across; "
                  "repeatable; default: what was announced")
      ->allow_extra_args(false);
  command
      .add_option("--allow-method", flags.methods,
                  "a method that may be used; repeatable; default: any that "
                  "was announced")
      ->check(CLI::IsMember(operate::kChangingMethods))
      ->allow_extra_args(false);
  command
      .add_option("--settle", flags.settle_seconds,
                  "seconds that a host may take to show a result, tasks included")
      ->check(CLI::Range(0.0, 86'400.0))
      ->capture_default_str();
  command
      .add_option("--doubt", flags.doubt_seconds,
                  "seconds of looking before a request whose answer was lost "
                  "counts as not done")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  command.add_option("--deadline", flags.deadline_minutes, "minutes for all requests; 0: no limit")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
}

}  // namespace

void AddDoFlags(CLI::App& command, DoFlags& flags) {
  command.add_option("SENTENCE", flags.sentence,
                     "what is wanted, in words; it may ask for several goals");
  command
      .add_option("--goal", flags.goals,
                  "the number or name of a goal; repeatable: one after the "
                  "other; default: what "
                  "the sentence asks for")
      ->allow_extra_args(false);
  command
      .add_option("--set", flags.settings,
                  "a value of the goal that has it, Name=value; repeatable")
      ->allow_extra_args(false);
  command
      .add_option("--set-file", flags.setting_files,
                  "a secret value of the goal, Name=FILE with the value in its "
                  "first line; "
                  "repeatable")
      ->allow_extra_args(false);
  command
      .add_option("--host", flags.hosts,
                  "https://host[:port]; repeatable: one host after the other, "
                  "under one budget")
      ->allow_extra_args(false);
  command.add_option("--hosts", flags.host_file,
                     "a file of further hosts, each a table [[do.host]] with url and, where they "
                     "differ from these flags, user, password_file, capture, ca_file and others; "
                     "they come after those of --host");
  AddHostAccess(command, flags.access);
  command.add_option("--capture", flags.capture,
                     "an earlier capture of the hosts, whose accounts, sessions "
                     "and the like are "
                     "those that belong there; without it each host is crawled");
  command.add_option("--data", flags.data, "folder of goals, schema and captures")
      ->capture_default_str();
  command
      .add_option("--policy", flags.policy,
                  "a run, e.g. runs/latest, whose policy finds the requests; "
                  "default: the goals' "
                  "expert plans")
      ->check(CLI::ExistingDirectory);
  command.add_option("--audit", flags.audit, "folder with a log of what was done for each host")
      ->capture_default_str();
  command.add_flag(
      "--execute", flags.execute,
      "send the announced requests without asking; otherwise a line that is exactly yes, typed or "
      "next in a pipe or a file as standard input, sends them, and any other line is left unread "
      "there; < /dev/null asks nobody");
  command.add_flag("--abandon", flags.abandon,
                   "leave an operation as it is that has not ended, and plan anew");
  AddLimits(command, flags);
}

}  // namespace shoal::cli
