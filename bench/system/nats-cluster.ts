// Three real nats-servers on one machine, running the production configuration of infra/nats: each of them is killed and
// started again when a test says so.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, startChild, waitUntilReady } from '../../infra/services/child.ts'
import { findNatsServer } from '../../infra/services/nats-binary.ts'
import { PROJECT_ROOT } from '../../infra/services/project.ts'
import { newDataFolder } from './data-folder.ts'
import { claimBlock } from './ports.ts'

export type NatsCluster = {
  /** All three, as NATS_URL takes them. */
  readonly url: string
  /** As NATS_MONITOR_URL takes them. */
  readonly monitorUrl: string
  /** kill -9 of one of them: 0, 1 or 2. */
  kill(server: number): Promise<void>
  /** Starts it again on its data and waits until it has caught up with the others. */
  restart(server: number): Promise<void>
  stop(): Promise<void>
}

const SERVERS = [0, 1, 2] as const
const READY_TIMEOUT_MS = 60_000
const PASSWORD = 'of-this-test'
const ROUTES_PASSWORD = 'of-these-routes'

export async function startNatsCluster(): Promise<NatsCluster> {
  const [binary, folder, firstPort] = [await findNatsServer(() => {}), await newDataFolder(), await claimBlock()]
  const portOf = (kind: 'client' | 'monitor' | 'route', server: number): number =>
    firstPort + { client: 0, monitor: 3, route: 6 }[kind] + server
  const addresses = (kind: 'client' | 'monitor' | 'route') => SERVERS.map(server => `127.0.0.1:${portOf(kind, server)}`)
  const children = new Map<number, Child>()

  const environmentOf = (server: number): NodeJS.ProcessEnv => ({
    ...process.env,
    NATS_SERVER_NAME: `nats-${server + 1}`,
    NATS_LISTEN: addresses('client')[server],
    NATS_MONITOR_LISTEN: addresses('monitor')[server],
    NATS_CLUSTER_LISTEN: addresses('route')[server],
    NATS_ROUTES: `[${addresses('route').map(address => `"nats://routes:${ROUTES_PASSWORD}@${address}"`)}]`,
    NATS_STORE_DIR: JSON.stringify(join(folder, `nats-${server + 1}`, 'store')),
    NATS_STORE_MAX: '1GB',
    NATS_PASSWORD: PASSWORD,
    NATS_ROUTES_PASSWORD: ROUTES_PASSWORD,
  })
  const start = async (server: number): Promise<Child> => {
    const dataDir = join(folder, `nats-${server + 1}`)
    const child = await startChild({
      name: `NATS ${server + 1}`,
      command: binary,
      args: ['-c', join(PROJECT_ROOT, 'infra', 'nats', 'cluster.conf')],
      env: environmentOf(server),
      port: portOf('client', server),
      pidFile: join(dataDir, 'server.pid.json'),
      logFile: join(dataDir, 'server.log'),
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 5_000,
    })
    children.set(server, child)
    return child
  }
  const caughtUp = (server: number, child: Child): Promise<void> =>
    waitUntilReady(child, { timeoutMs: READY_TIMEOUT_MS }, () => health(portOf('monitor', server)))
  const stop = async (): Promise<void> => {
    // At once, as three that stop one after the other would wait for each other's leaderships.
    await Promise.all([...children.values()].map(child => child.kill()))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    // None is ready before two of them have met.
    const all = await Promise.all(SERVERS.map(start))
    await Promise.all(all.map((child, server) => caughtUp(server, child)))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: `nats://millrace:${PASSWORD}@${addresses('client').join(',')}`,
    monitorUrl: addresses('monitor')
      .map(address => `http://${address}`)
      .join(','),
    kill: async server => children.get(server)?.kill(),
    restart: async server => caughtUp(server, await start(server)),
    stop,
  }
}

/** /healthz is 200 once JetStream has a leader and every stream of this server has caught up. */
async function health(port: number): Promise<string | null> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(2_000) })
    return response.ok ? null : (await response.text()).slice(0, 300)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
