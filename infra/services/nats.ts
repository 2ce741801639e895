// The embedded NATS service: a real nats-server with JetStream on disk, on the loopback interface.
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type Service, startChild, waitUntilReady } from './child.ts'
import type { ServiceOptions } from './clickhouse.ts'
import { findNatsServer, natsVersion } from './nats-binary.ts'
import { secretIn } from './secret.ts'

export type NatsService = Service & {
  readonly version: string
  /** True when a message is on the disk before it is acked; false when it may still be in the page cache. */
  readonly syncAlways: boolean
}

const READY_TIMEOUT_MS = 60_000
const USER = 'millrace'

/** `sync_interval` came with 2.10; an older server refuses a configuration that has it. */
export function supportsSyncAlways(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 2 || (major === 2 && minor >= 10)
}

/** The server's configuration. Loopback only, and with a password: other users of the machine may not publish events. */
export const natsConfiguration = (options: {
  dataDir: string
  port: number
  /** NATS knows no password there, but answers below a path of one's own: a secret one is as good. */
  monitor: { readonly port: number; readonly secret: string } | undefined
  syncAlways: boolean
  password: string
  storeBytesMax?: number | undefined
}): string => `
host: 127.0.0.1
port: ${options.port}
${options.monitor === undefined ? '' : `http: 127.0.0.1:${options.monitor.port}\nhttp_base_path: ${JSON.stringify(`/${options.monitor.secret}`)}\n`}\
server_name: millrace-embedded
authorization { user: ${USER}, password: ${JSON.stringify(options.password)} }
jetstream {
  store_dir: ${JSON.stringify(join(options.dataDir, 'jetstream'))}
${options.syncAlways ? '  sync_interval: always\n' : ''}${options.storeBytesMax === undefined ? '' : `  max_file_store: ${options.storeBytesMax}\n`}}
`

const monitorSecret = (dataDir: string): string => secretIn(join(dataDir, 'monitor'))

/** Where the server that `startNats` runs on `dataDir` says how it is configured. The address is a secret. */
export const monitorUrlOf = (dataDir: string, monitorPort: number): string =>
  `http://127.0.0.1:${monitorPort}/${monitorSecret(dataDir)}/`

// The server greets with an INFO line once it takes clients, which is after its streams are recovered.
function greeting(port: number): Promise<string | null> {
  return new Promise(resolve => {
    const socket = connect({ host: '127.0.0.1', port })
    const settle = (missing: string | null) => {
      socket.destroy()
      resolve(missing)
    }
    socket.setTimeout(2_000, () => settle('no greeting within 2 s'))
    socket.once('error', error => settle(error.message))
    socket.once('data', data => {
      const text = data.toString('utf8')
      if (!text.startsWith('INFO ')) settle('what answers is not a NATS server')
      else settle(/"jetstream"\s*:\s*true/.test(text) ? null : 'JetStream is not up yet')
    })
  })
}

/** What `/healthz` says of a server whose JetStream is off, whose stream refuses everything, or that lacks one since its start. */
const STOPPED_WRITING = /write error|jetstream not enabled|could not be recovered/i

/**
 * Whether a stream met a fault when it wrote, most often a full disk. The server then refuses all that is published to it, however
 * much room there is later, until it is started again.
 */
async function stoppedWriting(monitorUrl: string): Promise<boolean> {
  const health = await fetch(new URL('healthz', monitorUrl), { signal: AbortSignal.timeout(2_000) }).catch(() => null)
  return health !== null && !health.ok && STOPPED_WRITING.test(await health.text().catch(() => ''))
}

/** Starts nats-server, finding or installing it first, and waits until it takes clients. */
export async function startNats({
  dataDir,
  port,
  monitorPort,
  log,
  signal,
  storeBytesMax,
  unsynced = false,
}: ServiceOptions & {
  /** What the streams may hold at most; without it, what the disk holds. */
  storeBytesMax?: number
  /** Syncs every two minutes instead of before each ack, for a benchmark beside systems that do not sync. */
  unsynced?: boolean
}): Promise<NatsService> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const binary = await findNatsServer(log)
  const version = await natsVersion(binary)
  const syncAlways = !unsynced && supportsSyncAlways(version)
  const configFile = join(dataDir, 'nats.conf')
  const password = secretIn(join(dataDir, 'password'))
  const monitor = monitorPort === undefined ? undefined : { port: monitorPort, secret: monitorSecret(dataDir) }
  const settings = { dataDir, port, monitor, syncAlways, password, storeBytesMax }
  writeFileSync(configFile, natsConfiguration(settings), { mode: 0o600 })
  const child = await startChild({
    name: 'NATS',
    command: binary,
    args: ['-c', configFile],
    port,
    ...(monitorPort === undefined ? {} : { metricsPort: monitorPort }),
    pidFile: join(dataDir, 'server.pid.json'),
    logFile: join(dataDir, 'server.log'),
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 20_000,
  })
  try {
    await waitUntilReady(child, { timeoutMs: READY_TIMEOUT_MS, signal }, () => greeting(port))
  } catch (error) {
    await child.kill()
    throw error
  }
  const meaning = syncAlways
    ? 'fsynced before ack'
    : 'an ack means in the page cache: it outlives a crash of the process, not a power cut; nats-server 2.10 or newer fsyncs first'
  log(`NATS ${version} answers on port ${port} (${meaning})`)
  return {
    url: `nats://${USER}:${password}@127.0.0.1:${port}`,
    version,
    syncAlways,
    child,
    stop: () => child.stop(),
    ...(monitorPort === undefined ? {} : { hasFailed: () => stoppedWriting(monitorUrlOf(dataDir, monitorPort)) }),
  }
}
