// Starts one long-running child: no orphan of it before, its port free, its output in a file, its end observed.
import { type SpawnOptions, spawn } from 'node:child_process'
import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endProcess, forgetPidFile, identify, stopOrphan, writePidFile } from '../../shared/process/pid-file.ts'
import { PROJECT_ROOT } from './project.ts'

/** One human line about what is being done; never a secret. */
export type Progress = (line: string) => void

export type ChildSpec = {
  /** As shown to a person: `PostgreSQL`. */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly user?: { readonly uid: number; readonly gid: number } | null
  readonly port: number
  /** A second port, of one that shows its metrics there. */
  readonly metricsPort?: number
  readonly pidFile: string
  readonly logFile: string
  /** What asks this child to end in order. */
  readonly stopSignal: NodeJS.Signals
  readonly stopTimeoutMs: number
}

/** Why a child that was started is not ready. */
export class StartFailure extends Error {
  /** How it ended by itself; null when it still ran. */
  readonly exit: Exit | null

  constructor(message: string, exit: Exit | null) {
    super(message)
    this.name = 'StartFailure'
    this.exit = exit
  }
}

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null }

export type Child = {
  readonly name: string
  readonly pid: number
  readonly logFile: string
  /** Settles when the process has ended, however it ended. */
  readonly exited: Promise<Exit>
  exit(): Exit | null
  /** Ends it in order, by force after the time it may take. Safe to call again. */
  stop(): Promise<void>
  /** Ends it as a crash would. */
  kill(): Promise<void>
}

/** A service that others reach at `url`; `child` is what to watch. */
export type Service = {
  readonly url: string
  readonly child: Child
  stop(): Promise<void>
  /** Whether it runs and can no longer do its work, so that only a new start helps. */
  hasFailed?(): Promise<boolean>
}

const LOG_TAIL_BYTES = 4_096
/** A log larger than this at a start is set aside as `.old`, so two files at most are kept. */
const LOG_BYTES_MAX = 32 * 1024 * 1024

function openLog(file: string): number {
  mkdirSync(dirname(file), { recursive: true })
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES_MAX) renameSync(file, `${file}.old`)
  return openSync(file, 'a', 0o600)
}

/** A TCP port nothing listens on at this moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no address')),
      )
    })
  })
}

/** Throws an error that names the port and what to set, when something listens on it. */
export async function assertPortFree(port: number, name: string): Promise<void> {
  const fault = await portFault(port, name)
  if (fault !== null) throw new Error(fault)
}

export type WantedPorts = Pick<ChildSpec, 'name' | 'port' | 'metricsPort'>

/** Throws an error that names each of these ports on which something listens, and what to set. */
export async function assertPortsFree(all: readonly WantedPorts[]): Promise<void> {
  const faults: string[] = []
  for (const { name, port, metricsPort = port } of all) {
    const own = [await portFault(port, name)]
    if (metricsPort !== port) own.push(await portFault(metricsPort, `the metrics of ${name}`))
    faults.push(...own.filter(fault => fault !== null))
  }
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

function portFault(port: number, name: string): Promise<string | null> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(
        error.code === 'EADDRINUSE'
          ? `Port ${port}, wanted for ${name}, is in use. Stop what listens there, or set PORT_BASE.`
          : `Port ${port}, wanted for ${name}, cannot be opened: ${error.message}. Set PORT_BASE.`,
      ),
    )
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(null)))
  })
}

/** The end of a log file, for an error message. */
export function logTail(file: string): string {
  try {
    const handle = openSync(file, 'r')
    try {
      const size = fstatSync(handle).size
      const buffer = Buffer.alloc(Math.min(size, LOG_TAIL_BYTES))
      readSync(handle, buffer, 0, buffer.length, size - buffer.length)
      return buffer.toString('utf8').trim().split('\n').slice(-12).join('\n  ')
    } finally {
      closeSync(handle)
    }
  } catch {
    return '(no log)'
  }
}

/**
 * Starts the child. It gets a process group of its own: Ctrl-C in a terminal then reaches only the supervisor, which
 * ends its children in order. Throws when the port is taken or the program cannot be run.
 */
export async function startChild(spec: ChildSpec): Promise<Child> {
  await stopOrphan(spec.pidFile, spec.stopSignal)
  await assertPortsFree([spec])
  const output = openLog(spec.logFile)
  const options: SpawnOptions = {
    stdio: ['ignore', output, output],
    detached: true,
    ...(spec.env ? { env: spec.env } : {}),
    cwd: spec.cwd ?? PROJECT_ROOT,
    ...(spec.user ?? {}),
  }
  const child = spawn(spec.command, spec.args, options)
  closeSync(output)
  let ended: Exit | null = null
  const exited = new Promise<Exit>(resolve => {
    child.once('exit', (code, signal) => {
      ended = { code, signal }
      resolve(ended)
    })
  })
  const { pid } = await new Promise<{ pid: number }>((resolve, reject) => {
    child.once('error', error => reject(new Error(`${spec.name} cannot be started: ${error.message}`)))
    child.once('spawn', () => resolve({ pid: child.pid ?? 0 }))
  })
  const identity = identify(pid)
  try {
    if (identity) writePidFile(spec.pidFile, identity)
  } catch (error) {
    // Without the file no later start would find it.
    child.kill('SIGKILL')
    await exited
    throw error
  }
  const end = async (signal: NodeJS.Signals, timeoutMs: number) => {
    if (ended || !identity) return
    if (!(await endProcess(identity, signal, timeoutMs))) await endProcess(identity, 'SIGKILL', 5_000)
    await exited
  }
  return {
    name: spec.name,
    pid,
    logFile: spec.logFile,
    exited,
    exit: () => ended,
    stop: async () => {
      await end(spec.stopSignal, spec.stopTimeoutMs)
      if (identity) forgetPidFile(spec.pidFile, identity)
    },
    kill: () => end('SIGKILL', 5_000),
  }
}

/** Waits until `ready` answers null; it says meanwhile what is missing. Throws when the child ends, time runs out or `signal` aborts. */
export async function waitUntilReady(
  child: Child,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined },
  ready: () => Promise<string | null>,
): Promise<void> {
  let missing: string | null = 'not asked yet'
  const deadline = performance.now() + timeoutMs
  while (performance.now() < deadline) {
    const exit = child.exit()
    if (exit)
      throw new StartFailure(
        `${child.name} ended at once (${exit.signal ?? `code ${exit.code}`}). The end of ${child.logFile}:\n  ${logTail(child.logFile)}`,
        exit,
      )
    signal?.throwIfAborted()
    missing = await ready()
    if (missing === null) return
    await sleep(100)
  }
  throw new StartFailure(
    `${child.name} was not ready within ${timeoutMs / 1000} s: ${missing}. The end of ${child.logFile}:\n  ${logTail(child.logFile)}`,
    null,
  )
}
