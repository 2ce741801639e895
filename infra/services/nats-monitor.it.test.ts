// The monitoring address of the embedded broker: other users of the machine learn nothing from it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { brokerAddress } from '../../shared/log/address.ts'
import { readDurability } from '../../shared/log/durability.ts'
import { ensureStreams } from '../../shared/log/streams.ts'
import { freePort } from './child.ts'
import { monitorUrlOf, type NatsService, startNats } from './nats.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-nats-'))
let service: NatsService
let monitorPort: number
beforeAll(async () => {
  monitorPort = await freePort()
  service = await startNats({ dataDir, port: await freePort(), monitorPort, log: () => {} })
})
afterAll(async () => {
  await service?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

test('without the secret path there is nothing', async () => {
  for (const path of ['', 'varz', 'connz', 'jsz', 'subsz', 'healthz', 'accountz', 'x/varz']) {
    const response = await fetch(`http://127.0.0.1:${monitorPort}/${path}`)
    expect([path, response.status]).toEqual([path, 404])
  }
})

test('with it the gateway learns whether the broker syncs before an ack', async () => {
  const connection = await connect(brokerAddress(service.url))
  const jsm = await jetstreamManager(connection)
  await ensureStreams(jsm, { partitions: 1, replicas: 1 })
  const monitors = [monitorUrlOf(dataDir, monitorPort)]
  expect((await readDurability(jsm, { partitions: 1, monitors })).syncAlways).toBe(service.syncAlways)
  await connection.close()
})
