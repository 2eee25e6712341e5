// SPDX-License-Identifier: Apache-2.0
#include "platform/http/stream_writer.h"

#include <utility>

#include "platform/http/stream_channel.h"

namespace shoal::http {

StreamWriter::StreamWriter(std::shared_ptr<StreamChannel> channel)
    : channel_(channel.get(), [channel](StreamChannel*) { channel->Close(); }) {}

bool StreamWriter::Write(std::string_view bytes) const { return channel_->Write(bytes); }
void StreamWriter::Close() const { channel_->Close(); }
void StreamWriter::OnClosed(std::function<void()> callback) const {
  channel_->OnEnd(std::move(callback));
}

}  // namespace shoal::http
