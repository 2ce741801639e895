// npm run bench:sync: what `sync_interval: always` costs, on this disk: the same messages into a broker that syncs before
// each ack and into one that does not, by turns, with one message in flight a partition, as a gateway publishes.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { freePort, startChild, waitUntilReady } from '../../infra/services/child.ts'
import { natsConfiguration } from '../../infra/services/nats.ts'
import { findNatsServer } from '../../infra/services/nats-binary.ts'
import { temporaryFolder } from '../../infra/services/temporary.ts'
import { streamSubject } from '../../shared/contracts/streams.ts'
import { ensureStreams } from '../../shared/log/streams.ts'

const PARTITIONS = 4
const TURNS = 3
const TURN_MS = 2_000
/** A line of the log for an event like the demo's. */
const EVENT_BYTES = 400
/** From the quietest gateway to a busy one. */
const EVENTS_PER_MESSAGE = [1, 50, 500] as const
const PASSWORD = 'of-this-run'

type Broker = { readonly port: number; stop(): Promise<void> }
type Figures = { readonly messages: number; readonly p50Ms: number; readonly p99Ms: number }

async function startBroker(folder: string, syncAlways: boolean): Promise<Broker> {
  const dataDir = join(folder, syncAlways ? 'always' : 'later')
  mkdirSync(dataDir, { recursive: true })
  const configFile = join(dataDir, 'nats.conf')
  const [port, monitorPort] = [await freePort(), await freePort()]
  writeFileSync(configFile, natsConfiguration({ dataDir, port, monitorPort, syncAlways, password: PASSWORD }))
  const child = await startChild({
    name: 'NATS',
    command: await findNatsServer(line => console.log(line)),
    args: ['-c', configFile],
    port,
    pidFile: join(dataDir, 'server.pid.json'),
    logFile: join(dataDir, 'server.log'),
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 20_000,
  })
  await waitUntilReady(child, { timeoutMs: 20_000 }, async () =>
    fetch(`http://127.0.0.1:${monitorPort}/healthz`).then(
      response => (response.ok ? null : `/healthz answers ${response.status}`),
      (error: unknown) => String(error),
    ),
  )
  return { port, stop: () => child.stop() }
}

/** One turn: every partition publishes its next message when the last is acknowledged. */
async function turn(port: number, events: number): Promise<Figures> {
  const connection = await connect({ servers: `127.0.0.1:${port}`, user: 'millrace', pass: PASSWORD })
  try {
    await ensureStreams(await jetstreamManager(connection), { partitions: PARTITIONS, replicas: 1 })
    const js = jetstream(connection)
    const body = Buffer.alloc(events * EVENT_BYTES, 'x')
    const times: number[] = []
    const end = performance.now() + TURN_MS
    const lanes = Array.from({ length: PARTITIONS }, async (_, partition) => {
      while (performance.now() < end) {
        const begun = performance.now()
        await js.publish(streamSubject(partition), body)
        times.push(performance.now() - begun)
      }
    })
    await Promise.all(lanes)
    times.sort((a, b) => a - b)
    const at = (share: number) => times[Math.floor(times.length * share)] ?? 0
    return { messages: (times.length * 1000) / TURN_MS, p50Ms: at(0.5), p99Ms: at(0.99) }
  } finally {
    await connection.close()
  }
}

const median = (figures: readonly Figures[]): Figures => {
  const middle = figures.toSorted((a, b) => a.messages - b.messages)[Math.floor(figures.length / 2)]
  if (!middle) throw new Error('nothing was measured')
  return middle
}
const figure = (value: number): string => Math.round(value).toLocaleString('en')

async function main(): Promise<void> {
  const folder = temporaryFolder('millrace-sync-cost-')
  const brokers: { readonly name: string; readonly broker: Broker }[] = []
  try {
    brokers.push({ name: 'always', broker: await startBroker(folder, true) })
    brokers.push({ name: 'every 2 minutes', broker: await startBroker(folder, false) })
    console.log(
      '| events a message | sync_interval | messages/s | events/s | ack p50 ms | ack p99 ms |\n|---|---|---|---|---|---|',
    )
    for (const events of EVENTS_PER_MESSAGE) {
      const turns = new Map<string, Figures[]>()
      for (let each = 0; each < TURNS; each += 1)
        for (const { name, broker } of brokers)
          turns.set(name, [...(turns.get(name) ?? []), await turn(broker.port, events)])
      for (const [name, figures] of turns) {
        const { messages, p50Ms, p99Ms } = median(figures)
        console.log(
          `| ${events} | ${name} | ${figure(messages)} | ${figure(messages * events)} | ${p50Ms.toFixed(2)} | ${p99Ms.toFixed(2)} |`,
        )
      }
    }
  } finally {
    for (const { broker } of brokers) await broker.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

await main()
