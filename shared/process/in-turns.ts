// Long computations in a process that answers requests.

/** The result of `work`. Whenever it pauses, whatever else waits in the process gets its turn. */
export async function inTurns<T>(work: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await new Promise(resolve => setImmediate(resolve))
  }
}
