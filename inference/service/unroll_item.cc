// SPDX-License-Identifier: Apache-2.0
#include "inference/service/unroll_item.h"

#include "platform/transport/wire_tensor.h"

namespace shoal::inference {
namespace {

proto::UnrollId IdOf(const Unroll& unroll) {
  proto::UnrollId id;
  id.set_environment_id(unroll.environment);
  id.set_incarnation(unroll.incarnation);
  id.set_first_sequence(unroll.first_sequence);
  return id;
}

void SetVersion(const parameters::Version& version, proto::PolicyVersion& out) {
  out.set_epoch(version.epoch);
  out.set_step(version.step);
}

void AddColumn(const UnrollColumn& column,
               google::protobuf::RepeatedPtrField<proto::NamedTensor>& out) {
  proto::NamedTensor& named = *out.Add();
  named.set_name(column.name);
  transport::ToWire(column.values, *named.mutable_tensor());
}

}  // namespace

proto::Item HeadOf(const Unroll& unroll, const UnrollDestination& to) {
  proto::Item item;
  *item.mutable_id() = IdOf(unroll);
  item.set_table(to.table);
  SetVersion(unroll.oldest, *item.mutable_oldest_version());
  SetVersion(unroll.newest, *item.mutable_newest_version());
  item.set_steps(unroll.steps);
  item.set_uncounted_steps(unroll.uncounted_steps);
  item.set_priority(static_cast<float>(unroll.priority));
  if (unroll.ends_round) SetVersion(*unroll.ends_round, *item.mutable_ends_round());
  for (const content::ContentKey& key : unroll.catalog_keys) {
    item.add_catalog_keys(std::string(key.AsBytes()));
  }
  for (const content::ContentKey& key : unroll.content_keys) {
    item.add_content_keys(std::string(key.AsBytes()));
  }
  return item;
}

proto::Unroll BodyOf(const Unroll& unroll, const UnrollDestination& to) {
  proto::Unroll body;
  *body.mutable_id() = IdOf(unroll);
  body.set_length(unroll.length);
  for (const UnrollColumn& column : unroll.unroll_columns) {
    AddColumn(column, *body.mutable_unroll_columns());
  }
  body.set_encoder_version(to.encoder_version);
  for (const content::ContentKey& key : unroll.catalog_keys) {
    body.add_catalog_keys(std::string(key.AsBytes()));
  }
  return body;
}

void AddStepColumn(const UnrollColumn& column, proto::Unroll& body) {
  AddColumn(column, *body.mutable_step_columns());
}

proto::Unroll WholeOf(const Unroll& unroll, const UnrollDestination& to) {
  proto::Unroll whole = BodyOf(unroll, to);
  for (const UnrollColumn& column : unroll.step_columns) AddStepColumn(column, whole);
  return whole;
}

}  // namespace shoal::inference
