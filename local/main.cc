// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_split.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "local/order_reader.h"
#include "local/thread_cluster.h"
#include "platform/runtime/log.h"
#include "platform/runtime/open_files.h"
#include "platform/runtime/program.h"

using namespace shoal;

namespace {

// Several threads answer, and stdio locks each line.
void Answer(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void Obey(const std::string& order, local::ThreadCluster& cluster) {
  if (order == "stop actors") {
    cluster.StopActors();
  } else if (order == "stop learner") {
    cluster.StopLearner();
  } else {
    spdlog::warn("event=order_refused order={}", runtime::Quoted(order));
    return;
  }
  Answer("done " + order);
}

}  // namespace

int main(int argc, char** argv) {
  runtime::AllowAllOpenFiles();
  runtime::Program program("local", "Runs a whole cluster as threads of one process.");
  local::ClusterSetup setup;
  std::string metrics;
  program.AddSection("actor", setup.actor);
  program.AddSection("environment", setup.environment);
  program.AddSection("inference", setup.inference);
  program.AddSection("replay", setup.replay);
  program.AddSection("learner", setup.learner);
  program.AddSection("policy", setup.policy);
  program.AddSection("algorithm", setup.algorithm);
  program.AddFlag("--metrics", metrics,
                  "host:port, with commas, at which the replay shards, the inference servers, the "
                  "learner and the actors serve metrics");
  if (const auto code = program.Parse(argc, argv)) return *code;
  if (const absl::Status appended = setup.algorithm.AppendMembers(setup.policy); !appended.ok()) {
    return program.Fail(appended);
  }
  setup.run = program.run();
  setup.cluster = program.cluster();
  if (!metrics.empty()) setup.metrics = absl::StrSplit(metrics, ',');

  local::ThreadCluster cluster(
      setup,
      {.on_failure = [&](const absl::Status& end) { program.RequestStop(program.Fail(end)); },
       .on_finished =
           [](const std::string& digest) {
             std::fprintf(stderr, "digest=%s\n", digest.c_str());
             Answer("finished");
           }});
  if (const absl::Status started = cluster.Start(); !started.ok()) {
    program.RequestStop(program.Fail(started));
  }
  int code = 0;
  {
    const local::OrderReader orders(STDIN_FILENO,
                                    [&cluster](const std::string& order) { Obey(order, cluster); });
    code = program.WaitForStop();
  }
  const bool ended = cluster.Stop();
  spdlog::info("event=stopped code={} whole={}", code, ended);
  if (!ended) std::_Exit(code);
  return code;
}
