import { describe, expect, test } from 'vitest'
import { ackMeaning, assessDurability, type BrokerServer, durabilityFault } from './durability.ts'

type Peer = { name: string; current: boolean; offline?: boolean; active: number }
const stream = (replicas: number, leader?: string, followers: readonly Peer[] = []) => ({
  config: { num_replicas: replicas } as never,
  cluster: (leader === undefined ? undefined : { leader, replicas: followers }) as never,
})
const server = (name: string, syncAlways = true): BrokerServer => ({ name, version: '2.15.2', syncAlways })
const others: Peer[] = [
  { name: 'b', current: true, active: 0 },
  { name: 'c', current: true, active: 900e6 },
]
const three = [
  stream(3, 'a', others),
  stream(3, 'b', [
    { name: 'a', current: true, active: 0 },
    { name: 'c', current: true, active: 0 },
  ]),
]

describe('what an ack means', () => {
  test('three replicas that all sync are a promise', () => {
    const found = assessDurability(three, [server('a'), server('b'), server('c')])
    expect(found).toEqual({ replicas: 3, syncAlways: true, notAsked: [] })
    expect(durabilityFault(found)).toBeNull()
    expect(ackMeaning(found)).toBe('an ack means: synced to disk on a majority of 3 servers')
  })
  test('one that does not sync spoils it, and so does one that nobody asked', () => {
    const lazy = assessDurability(three, [server('a'), server('b', false), server('c')])
    expect(durabilityFault(lazy)).toMatch(/acknowledges before it syncs/)
    const unknown = assessDurability(three, [server('a'), server('c')])
    expect(unknown).toMatchObject({ syncAlways: null, notAsked: ['b'] })
    expect(durabilityFault(unknown)).toMatch(/not known.*: b .*NATS_MONITOR_URL/)
  })
  test('a server that is down acknowledges nothing, so a gateway may start without it', () => {
    const followers = (gone: object) => [others[0] as Peer, { name: 'c', current: true, active: 0, ...gone }]
    for (const gone of [{ offline: true }, { active: 6e9 }, { current: false }]) {
      const found = assessDurability([stream(3, 'a', followers(gone))], [server('a'), server('b')])
      expect(durabilityFault(found)).toBeNull()
    }
  })
  test('a server that catches up takes part', () => {
    const behind = [stream(3, 'a', [others[0] as Peer, { name: 'c', current: false, active: 300e6 }])]
    expect(assessDurability(behind, [server('a'), server('b')])).toMatchObject({ notAsked: ['c'] })
  })
  test('one partition with fewer replicas decides for all', () => {
    const servers = [server('a'), server('b'), server('c')]
    expect(durabilityFault(assessDurability([...three, stream(1, 'a')], servers))).toMatch(/1 of 3 replicas/)
  })
  test('a server of its own syncs, does not, or was not asked', () => {
    const lone = [stream(1)]
    expect(ackMeaning(assessDurability(lone, [server('x')]))).toBe('an ack means: synced to disk on one server')
    expect(ackMeaning(assessDurability(lone, [server('x', false)]))).toMatch(/page cache on one server/)
    expect(ackMeaning(assessDurability(lone, []))).toMatch(/on one server; whether it is synced to disk is not known/)
    expect(durabilityFault(assessDurability(lone, [server('x')]))).toMatch(/1 of 3 replicas/)
  })
})
