// Ctrl-C as a question that long work asks, so that it can end with nothing half done. The second one ends it at once.
#pragma once

namespace fullbore::cli {

// From now on SIGINT and SIGTERM are noted once and do what they always do the next time.
void note_stop_signals();

// The signal that came; 0: none.
int stop_signal();

}  // namespace fullbore::cli
