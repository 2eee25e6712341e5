// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/thread.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

namespace shoal::runtime {
namespace {

void Run(const std::string& name, const std::function<void()>& body) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
  try {
    body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "thread %s: uncaught exception: %s\n", name.c_str(), error.what());
    std::abort();
  }
}

}  // namespace

Thread::Thread(std::string name, std::function<void()> body)
    : thread_([name = std::move(name), body = std::move(body)] { Run(name, body); }) {}

Thread::~Thread() { Join(); }

void Thread::Join() {
  if (thread_.joinable()) thread_.join();
}

void SetThreadNice(int nice) {
  // Linux takes a thread's id where POSIX expects a process's, and glibc has no wrapper for gettid
  // with this call.
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), nice);
}

}  // namespace shoal::runtime
