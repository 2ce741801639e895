// Work that a stop need not wait for, as the next process repeats it.

/** Resolves or rejects as `work` does, but at the latest `graceMs` after `stop`: what it waits for may never answer. */
export function untilLeft(work: Promise<void>, stop: AbortSignal, graceMs: number): Promise<void> {
  const left = new Promise<void>(resolve => {
    const leave = (): void => {
      setTimeout(resolve, graceMs).unref()
    }
    if (stop.aborted) leave()
    else stop.addEventListener('abort', leave, { once: true })
  })
  return Promise.race([work, left])
}
