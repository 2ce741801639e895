// Which process is ours: a pid file holds the pid and the moment it started, so a recycled pid is never killed.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export type ProcessIdentity = { readonly pid: number; readonly startedAt: string }

const POLL_MS = 50

/** An opaque mark of when `pid` was started, or null when no such process runs (a zombie counts as gone). */
export function startedAt(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command in parentheses may hold spaces and parentheses itself, so fields are counted after the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? null)
  } catch {
    // No /proc (macOS) or no such process: ps knows.
  }
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    return line === '' || line.startsWith('Z') ? null : line.replace(/^\S+\s+/, '')
  } catch {
    return null
  }
}

/** The identity of a running process, or null when it has gone. */
export function identify(pid: number): ProcessIdentity | null {
  const mark = startedAt(pid)
  return mark === null ? null : { pid, startedAt: mark }
}

export const isRunning = (identity: ProcessIdentity): boolean => startedAt(identity.pid) === identity.startedAt

/** Writes the pid file so that a reader sees it whole or not at all. */
export function writePidFile(file: string, identity: ProcessIdentity): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(identity), { mode: 0o600 })
  renameSync(`${file}.${process.pid}`, file)
}

/** The identity a pid file holds, or null when there is no such file or it holds something else. */
export function readPidFile(file: string): ProcessIdentity | null {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof value !== 'object' || value === null) return null
    const { pid, startedAt: mark } = value as Partial<ProcessIdentity>
    return Number.isSafeInteger(pid) && typeof mark === 'string' ? { pid: pid as number, startedAt: mark } : null
  } catch {
    return null
  }
}

/** Sends `signal` to exactly this process and waits for its end; true when it ended in time. */
export async function endProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  timeoutMs: number,
): Promise<boolean> {
  if (!isRunning(identity)) return true
  try {
    process.kill(identity.pid, signal)
  } catch (error) {
    // ESRCH: it ended in between. Anything else (EPERM: another user's) is for the caller to hear about.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += POLL_MS) {
    if (!isRunning(identity)) return true
    await sleep(POLL_MS)
  }
  return !isRunning(identity)
}

/**
 * Ends what an earlier start left running under this pid file (its start was killed), politely first, and removes the
 * file. Returns whether there was something to end.
 */
export async function stopOrphan(file: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<boolean> {
  const identity = readPidFile(file)
  const running = identity !== null && isRunning(identity)
  if (running && !(await endProcess(identity, signal, 15_000)) && !(await endProcess(identity, 'SIGKILL', 5_000)))
    throw new Error(`process ${identity.pid} of an earlier start does not end; stop it by hand`)
  rmSync(file, { force: true })
  return running
}

/** Removes the pid file if it still names this process: a successor may have written its own in between. */
export function forgetPidFile(file: string, identity: ProcessIdentity): void {
  const held = readPidFile(file)
  if (held && held.pid === identity.pid && held.startedAt === identity.startedAt) rmSync(file, { force: true })
}
