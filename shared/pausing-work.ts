// Long computations that can be interrupted: what a generator does between two pauses cannot be.

/** Pauses wherever it yields. */
export type PausingWork<T> = Generator<undefined, T>

/** The result of `work`, whose pauses are passed over: for work that is known to be short, or that nothing else waits for. */
export function inOneGo<T>(work: PausingWork<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

/** What `map` gives of each. Pauses after each. */
export function* mapPausing<T, R>(list: readonly T[], map: (each: T, place: number) => R): PausingWork<R[]> {
  const all: R[] = []
  for (const [place, each] of list.entries()) {
    all.push(map(each, place))
    yield
  }
  return all
}
