#include "cli/stop_signals.h"

#include <csignal>
#include <initializer_list>

namespace fullbore::cli {
namespace {

volatile std::sig_atomic_t noted = 0;

}  // namespace

void note_stop_signals() {
  struct sigaction action = {};
  action.sa_handler = [](int number) { noted = number; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int number : {SIGINT, SIGTERM}) {
    // nohup and shells without job control want it ignored.
    struct sigaction before = {};
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    ::sigaction(number, &action, nullptr);
  }
}

int stop_signal() {
  return noted;
}

}  // namespace fullbore::cli
