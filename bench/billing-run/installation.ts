// An installation of `npm start` in a folder of its own, which can be killed as a whole and started again.
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { embeddedDatabaseUrl } from '../../infra/services/postgres.ts'
import { PORTS } from '../../infra/start/settings.ts'
import { statOf } from './tree-cpu.ts'

const READY_MS = 300_000
const POLL_MS = 200

export type Platform = { readonly id: string; readonly apiKey: string }

export type Installation = {
  readonly apiUrl: string
  readonly ingestUrl: string
  /** With the rights of its owner; fails until it was started once. */
  databaseUrl(): string
  /** The LIVE environments of its two platforms. */
  platforms(): readonly Platform[]
  /** Starts it, and waits until it is ready. */
  start(): Promise<void>
  /** Ends every process of it with kill -9, its servers included. Returns how many there were. */
  kill(): number
  stop(): Promise<void>
}

/** `root`: of the project, which must be built. `folder` keeps its data; ports from `portBase` on must be free. */
export function installationIn(root: string, folder: string, portBase: number): Installation {
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir, { recursive: true })
  const env = { ...process.env, DATA_DIR: dataDir, PORT_BASE: String(portBase) }
  let child: ReturnType<typeof spawn> | null = null
  const urlOf = (name: keyof typeof PORTS): string => `http://127.0.0.1:${portBase + PORTS[name]}`
  const pids = (): number[] => (child?.pid === undefined ? [] : treeOf(child.pid))
  return {
    apiUrl: urlOf('api'),
    ingestUrl: urlOf('ingest'),
    databaseUrl: () => {
      const url = embeddedDatabaseUrl(join(dataDir, 'postgres'), portBase + PORTS.postgres)
      if (url === null) throw new Error(`no database is in ${dataDir}`)
      return url
    },
    platforms: () => {
      const { platforms } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')) as Credentials
      return platforms.map(({ id, environments }) => ({ id, apiKey: environments.LIVE.api_key }))
    },
    start: async () => {
      child = spawn(process.execPath, ['infra/start.mjs'], { cwd: root, env, stdio: 'ignore' })
      const started = child
      const deadline = performance.now() + READY_MS
      while (!(await isReady(urlOf('api')))) {
        if (started.exitCode !== null) throw new Error(`npm start ended with ${started.exitCode}; see ${dataDir}/logs`)
        if (performance.now() > deadline) throw new Error(`not ready after ${READY_MS / 1000} s; see ${dataDir}/logs`)
        await sleep(POLL_MS)
      }
    },
    kill: () => {
      const all = pids()
      for (const pid of all) end(pid)
      return all.length
    },
    stop: async () => {
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise(resolve => child?.once('exit', resolve))
      child.kill('SIGINT')
      await ended
    },
  }
}

type Credentials = {
  readonly platforms: readonly {
    readonly id: string
    readonly environments: { readonly LIVE: { readonly api_key: string } }
  }[]
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/health/ready`).then(
    ({ status }) => status === 200,
    () => false,
  )

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

/** A process and all that it started, itself first: it can then start none again. */
function treeOf(root: number): number[] {
  const parents = readdirSync('/proc').flatMap((name): [number, number][] => {
    const stat = /^[0-9]+$/.test(name) ? statOf(name) : null
    return stat ? [[Number(name), stat.parent]] : []
  })
  const found = [root]
  for (const pid of found) found.push(...parents.filter(([, parent]) => parent === pid).map(([own]) => own))
  return found
}
