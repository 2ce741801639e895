// Child processes of the benchmark.
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { nodeArgs } from '../infra/services/project.ts'

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
  stop(): Promise<void>
}

/** Starts a module of ours and waits for the first line of its output that tells a port. */
export async function startModule(module: string, env: Record<string, string>): Promise<Running> {
  const child = spawn(process.execPath, nodeArgs(module), {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  const exited = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', line => {
      const told = /"port":([0-9]+)/.exec(line)
      if (told) resolve(Number(told[1]))
    })
    void exited.then(() => reject(new Error(`${module} ended before it listened`)))
  })
  return {
    child,
    pid: child.pid ?? 0,
    port,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}
