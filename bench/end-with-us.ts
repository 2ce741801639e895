// A benchmark that is stopped with SIGTERM or Ctrl-C leaves no server running and no folder behind.
import { rmSync } from 'node:fs'

type Started = { readonly pid: number; readonly signal: NodeJS.Signals }

const processes = new Set<Started>()
const folders = new Set<string>()
let listens = false

/** Has a process that this one started end with it, by `signal`. Returns what to call once it has ended by itself. */
export const endWithUs = (pid: number, signal: NodeJS.Signals): (() => void) => remember(processes, { pid, signal })

/** Has a folder be removed when this process ends. */
export const removeWithUs = (folder: string): (() => void) => remember(folders, folder)

function remember<T>(of: Set<T>, value: T): () => void {
  listen()
  of.add(value)
  return () => {
    of.delete(value)
  }
}

function listen(): void {
  if (listens) return
  listens = true
  // Without a listener, a signal ends the process and `exit` is never emitted.
  process.once('SIGTERM', () => process.exit(143)).once('SIGINT', () => process.exit(130))
  process.on('exit', () => {
    for (const started of processes) end(started)
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
}

function end({ pid, signal }: Started): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}
