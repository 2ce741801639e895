// Child processes of the benchmark.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeArgs } from '../infra/services/project.ts'
import { endWithUs } from './end-with-us.ts'

/** Runs a module of ours to its end and returns the JSON of its last line. Rejects when it fails. */
export async function runModule<T>(module: string, args: readonly string[]): Promise<T> {
  const child = spawn(process.execPath, [...nodeArgs(module), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let last = ''
  for await (const line of createInterface({ input: child.stdout })) last = line
  if (child.exitCode === null) await new Promise(resolve => child.once('exit', resolve))
  if (child.exitCode !== 0) throw new Error(`${module} ended with ${child.exitCode}`)
  return JSON.parse(last) as T
}

export type Running = {
  readonly child: ChildProcess
  readonly pid: number
  readonly port: number
  /** Of a gateway: where it serves /metrics. Null for the others, or when it is the port itself. */
  readonly metricsPort: number | null
  stop(): Promise<void>
}

/**
 * Starts a module of ours and waits until it listens: the first line of its output that tells a port, or, for one that
 * serves health on a port it was given, until it says it is ready there. `folder`: of another checkout that was built.
 */
export async function startModule(
  module: string,
  env: Record<string, string>,
  { healthPort, folder }: { readonly healthPort?: number; readonly folder?: string } = {},
): Promise<Running> {
  // Such as --cpu-prof.
  const more = process.env['BENCH_NODE_ARGS']?.split(' ') ?? []
  const args = folder === undefined ? nodeArgs(module) : [join(folder, 'dist', `${module}.js`)]
  const child = spawn(process.execPath, [...more, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // A broker of the run's own is no cluster; what the secret seals ends with the run.
    env: { DURABILITY: 'local', DATA_SECRET: 'of-a-benchmark-that-keeps-nothing-at-all', ...process.env, ...env },
  })
  const forget = child.pid === undefined ? () => undefined : endWithUs(child.pid, 'SIGKILL')
  const exited = new Promise<void>(resolve =>
    child.once('exit', () => {
      forget()
      resolve()
    }),
  )
  const ended = exited.then(() => Promise.reject(new Error(`${module} ended before it listened`)))
  const reported = portReported(child.stdout)
  const listening =
    healthPort === undefined ? reported : untilReady(healthPort).then(port => ({ port, metricsPort: null }))
  const { port, metricsPort } = await Promise.race([listening, ended])
  ended.catch(() => undefined) // its end is awaited by stop
  return {
    child,
    pid: child.pid ?? 0,
    port,
    metricsPort,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}

// Goes on reading for as long as the process writes, so that it never waits for us.
const portReported = (output: Readable): Promise<{ port: number; metricsPort: number | null }> =>
  new Promise(resolve => {
    createInterface({ input: output }).on('line', line => {
      const reported = /"port":([0-9]+)/.exec(line)
      const metrics = /"metricsPort":([0-9]+)/.exec(line)
      if (reported) resolve({ port: Number(reported[1]), metricsPort: metrics ? Number(metrics[1]) : null })
    })
  })

const READY_TIMEOUT_MS = 60_000
const READY_POLL_MS = 100

async function untilReady(port: number): Promise<number> {
  const deadline = performance.now() + READY_TIMEOUT_MS
  while (performance.now() < deadline) {
    const ready = await fetch(`http://127.0.0.1:${port}/health/ready`).then(
      response => response.ok,
      () => false, // it does not listen yet
    )
    if (ready) return port
    await sleep(READY_POLL_MS)
  }
  throw new Error(`nothing was ready on port ${port} within ${READY_TIMEOUT_MS} ms`)
}
