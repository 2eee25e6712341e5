// SPDX-License-Identifier: Apache-2.0
// An inserter and a sampler of some shards over loopback.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/metrics.h"
#include "platform/runtime/mutex.h"
#include "platform/transport/connector.h"
#include "replay/client/inserter.h"
#include "replay/client/sampler.h"
#include "tests/doubles/eventually.h"
#include "tests/replay/messages.h"

namespace shoal::replay {

inline constexpr std::chrono::seconds kPatience{20};

struct ClientsOptions {
  std::uint32_t max_lag = 0;
  std::size_t outbox_items = 64;
  bool samples = true;
  transport::Connector connect = transport::OverSockets();
};

// The clients of some shards, as inference and the learner have them.
struct Clients {
  explicit Clients(std::vector<std::string> addresses, const ClientsOptions& options = {}) {
    catalog = CatalogOf({KeyBytes("a"), KeyBytes("b")});
    provider.catalogs[catalog.key()] = catalog;
    inserter = *client::Inserter::Create({.addresses = addresses,
                                          .client = "test",
                                          .outbox_items = options.outbox_items,
                                          .connect = options.connect},
                                         provider, metrics);
    inserter->OnSpace([this] {
      const runtime::MutexLock lock(mutex);
      ++space;
      changed.NotifyAll();
    });
    if (!options.samples) return;
    sampler = *client::Sampler::Create({.addresses = std::move(addresses),
                                        .client = "test",
                                        .table = "unrolls",
                                        .prefetch = 16,
                                        .max_lag = options.max_lag,
                                        .connect = options.connect},
                                       sink, metrics);
  }

  proto::Item Item(std::uint64_t number, std::uint64_t step = 0) const {
    proto::Item item = ItemOf(number, step);
    item.add_content_keys(KeyBytes("text " + std::to_string(number % 7)));
    item.add_catalog_keys(catalog.key());
    return item;
  }

  // Waits for room, like an inference server whose environments are parked.
  void Insert(std::uint64_t number, std::uint64_t step = 0) {
    proto::Item item = Item(number, step);
    for (;;) {
      int seen = 0;
      {
        const runtime::MutexLock lock(mutex);
        seen = space;
      }
      const absl::Status status = inserter->TryInsert(std::move(item));
      if (status.ok()) return;
      REQUIRE(absl::IsResourceExhausted(status));
      const auto deadline = std::chrono::steady_clock::now() + kPatience;
      const runtime::MutexLock lock(mutex);
      while (space == seen) REQUIRE(changed.WaitUntil(mutex, deadline));
    }
  }

  void AwaitLiveShards(std::size_t shards) const {
    REQUIRE(doubles::Eventually([&] { return inserter->stats().live_shards >= shards; }));
  }

  client::SampledUnroll Next() {
    auto unroll = sampler->Next(kPatience);
    REQUIRE(unroll.ok());
    const std::uint64_t number = unroll->unroll.id().environment_id();
    REQUIRE(sink.Has(KeyBytes("text " + std::to_string(number % 7))));
    REQUIRE(sink.Has(KeyBytes("a")));
    REQUIRE(sink.Has(catalog.key()));
    return *std::move(unroll);
  }

  runtime::Metrics metrics;
  FakeProvider provider;
  FakeSink sink;
  proto::Catalog catalog;
  runtime::Mutex mutex;
  runtime::CondVar changed;
  int space ABSL_GUARDED_BY(mutex) = 0;
  std::unique_ptr<client::Inserter> inserter;
  std::unique_ptr<client::Sampler> sampler;
};

}  // namespace shoal::replay
