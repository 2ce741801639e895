// The fsync audit (security 6.3 row 13): what the embedded broker's configuration really asks of the disk before an ack.
// Needs strace and the right to trace; where they cannot be had it says so, and no other test rests on it.
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { freePort } from '../../../infra/services/child.ts'
import { startNats } from '../../../infra/services/nats.ts'
import { findNatsServer, onPath } from '../../../infra/services/nats-binary.ts'
import { temporaryFolder } from '../../../infra/services/temporary.ts'
import { streamSubject } from '../../../shared/contracts/streams.ts'
import { brokerAddress } from '../../../shared/log/address.ts'
import { ensureStreams } from '../../../shared/log/streams.ts'
import { auditSyncs, type Published } from '../../system/audit-syncs.ts'

const MESSAGES = 300
const LANES = 6
const PARTITIONS = 2

function strace(): string | null {
  const found = onPath('strace')
  try {
    if (found) execFileSync(found, ['-f', '-o', '/dev/null', 'true'])
    return found
  } catch {
    return null // It is there and may not trace.
  }
}

/** Publishes from several lanes at once and resolves with every ack. */
async function publishAll(url: string): Promise<Published[]> {
  const connection = await connect(brokerAddress(url))
  try {
    await ensureStreams(await jetstreamManager(connection), { partitions: PARTITIONS, replicas: 1 })
    const js = jetstream(connection)
    const acks: Published[] = []
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      for (let place = lane; place < MESSAGES; place += LANES) {
        const text = `audited-message-${String(place).padStart(6, '0')}`
        const { stream, seq } = await js.publish(streamSubject(place % PARTITIONS), text)
        acks.push({ text, stream, seq })
      }
    })
    await Promise.all(lanes)
    return acks
  } finally {
    await connection.close()
  }
}

test('every message is synced to the disk before it is acknowledged, wherever the server can', async () => {
  const tracer = strace()
  if (tracer === null) {
    console.warn('NOT RUN: the fsync audit needs strace and the right to trace; no promise rests on it here')
    return
  }
  const folder = temporaryFolder('millrace-strace-')
  const trace = join(folder, 'trace')
  const wrapper = join(folder, 'nats-server')
  const before = process.env['NATS_SERVER_BIN']
  try {
    const binary = await findNatsServer(() => {})
    // -D keeps nats-server our own child, so that stopping it stops it and not its tracer.
    const options = `-D -f -y -s 16384 -o '${trace}' -e trace=fsync,fdatasync,write,writev,pwrite64,pwritev`
    writeFileSync(wrapper, `#!/bin/sh\nexec '${tracer}' ${options} '${binary}' "$@"\n`)
    chmodSync(wrapper, 0o755)
    process.env['NATS_SERVER_BIN'] = wrapper
    const service = await startNats({ dataDir: join(folder, 'nats'), port: await freePort(), log: () => {} })
    const published = await publishAll(service.url).finally(() => service.stop())
    const audit = auditSyncs(readFileSync(trace, 'utf8'), published)
    console.log(`fsync audit: ${audit.acked} acks traced, sync_interval always: ${service.syncAlways}`)
    expect(audit.acked).toBe(MESSAGES)
    // An older server acknowledges from the page cache, and the start-up says that it does.
    if (service.syncAlways) expect(audit.faults.slice(0, 5)).toEqual([])
    else expect(audit.faults.length).toBeGreaterThan(0)
  } finally {
    if (before === undefined) delete process.env['NATS_SERVER_BIN']
    else process.env['NATS_SERVER_BIN'] = before
    rmSync(folder, { recursive: true, force: true })
  }
}, 180_000)
