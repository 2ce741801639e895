// Work that a start leaves for later.

/** `make`, run by the first call and remembered; a call that throws leaves it to the next one. */
export function once<T extends object>(make: () => T): () => T {
  let made: T | null = null
  return () => {
    made ??= make()
    return made
  }
}
