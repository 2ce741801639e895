/** Runs `task` after so many milliseconds, unless what it returns is called before. */
export type Later = (task: () => void, ms: number) => () => void

/** By the process's own timers. */
export const later: Later = (task, ms) => {
  const timer = setTimeout(task, ms)
  return () => clearTimeout(timer)
}
