// Makes snmalloc's queue of messages between threads safe across fork. The compiler reads this file before
// snmalloc's sources (`-include`, in .cargo/config.toml).
//
// A thread sends blocks that it freed to their owner in two steps: it swaps the end of the owner's queue, and then
// links the old end to its first block. `fork` copies one thread only. When another thread was between the two
// steps, the child's copy of the queue stays torn for ever, and whoever drains it (a thread that ends) waits for ever.
// The authors know this, and left the remedy in their source as a comment, because it costs time: a PreventFork
// around both steps, as around every lock of theirs. Here it is switched on: the name of the function that is called
// right before the first step becomes a macro while that one header is read, which adds the PreventFork.
// One message carries many blocks; docs/PROOFS.md has the cost. Cargo does not watch this file: after a change of it,
// `cargo clean --package snmalloc-sys`.
#pragma once

// The build first tries the compiler's options on files that have nothing to do with snmalloc.
#if __has_include(<snmalloc/mem/freelist_queue.h>)

#include <snmalloc/mem/metadata.h>

namespace underhood
{
  constexpr int uses_before = __COUNTER__;
}

#define atomic_store_null(...) \
  atomic_store_null(__VA_ARGS__); \
  const PreventFork both_steps; \
  snmalloc::UNUSED(both_steps, __COUNTER__)
#include <snmalloc/mem/freelist_queue.h>
#undef atomic_store_null

// The name is used once. Another count means that the header has changed, and the place must be looked at again.
static_assert(__COUNTER__ == underhood::uses_before + 2, "snmalloc's freelist_queue.h is not as it was");

#endif
