// What a gateway knows of the others, and so which share of a platform's limit is its own. Pure state: news come in by
// `hear`, time by `nowMs`; nothing here waits, and no wall clock is read, so clocks that differ do no harm.
//
// Each gateway says every INTERVAL_MS what its demand was, and reckons its share from what the others said last and the least
// of what it said itself the last WINDOW times. So a share shrinks at once and grows only when the others have had the time to
// shrink theirs: while everybody's last report but WINDOW - 1 has reached everybody, whatever is newer being lost, late or not,
// each reckons with no more for itself than the others reckon with for it, and the shares never add up to more than the limit.
import { fairShare } from './fair-share.ts'

export const INTERVAL_MS = 200
export const WINDOW = 3
/** A gateway silent for this long is gone, and its share is the others'. */
const SILENT_MS = 5 * INTERVAL_MS
/** Far more gateways than one broker feeds; bounds what news can make us keep. */
const PEERS_MAX = 256

/** The demand at a gateway in events a second, by tenant (`tenantKey`). Tenants that are not named had none. */
export type Demands = ReadonlyMap<string, number>
export type ShareReport = {
  readonly gateway: string
  /** Grows by one an interval, so that late and repeated reports are known as such. */
  readonly seq: number
  readonly demands: Demands
}

export type ShareBook = {
  /** Our share of `limit`, in its unit. */
  shareOf(tenantKey: string, limit: number): number
  /** Changes whenever a share may have. */
  version(): number
  /** Gateways that are there, ourselves included. */
  gateways(): number
  /** Our next report. `connected`: whether news could reach us since the last one; else nobody's silence counts. */
  report(demands: Demands, connected: boolean): ShareReport
  /** Our last report, for a gateway that has just come; null before the first. */
  lastReport(): ShareReport | null
  /** Takes another's report; one that is older than what is known changes nothing. */
  hear(report: ShareReport): void
  /** Takes the notice that a gateway stops. */
  forget(gateway: string): void
}

type Peer = { seq: number; heardAt: number; demands: Demands }

export function createShareBook(options: { gateway: string; nowMs: () => number }): ShareBook {
  const peers = new Map<string, Peer>()
  let own: readonly Demands[] = []
  let last: ShareReport | null = null
  let reportedAt = options.nowMs()
  let version = 0

  const forgetSilent = (now: number, connected: boolean): void => {
    // Time in which we could not listen, because the broker was away or this process stood still, is not their silence.
    const deafMs = connected ? Math.max(0, now - reportedAt - 2 * INTERVAL_MS) : now - reportedAt
    for (const [gateway, peer] of peers) {
      peer.heardAt += deafMs
      if (now - peer.heardAt > SILENT_MS) peers.delete(gateway)
    }
  }

  return {
    shareOf: (tenantKey, limit) => {
      if (peers.size === 0) return limit
      const asked = own.length < WINDOW ? 0 : Math.min(...own.map(demands => demands.get(tenantKey) ?? 0))
      const others = [...peers.values()].map(({ demands }) => demands.get(tenantKey) ?? 0)
      return fairShare(limit, asked, others)
    },
    version: () => version,
    gateways: () => peers.size + 1,
    report: (demands, connected) => {
      const now = options.nowMs()
      forgetSilent(now, connected)
      reportedAt = now
      own = [demands, ...own].slice(0, WINDOW)
      version += 1
      last = { gateway: options.gateway, seq: (last?.seq ?? 0) + 1, demands }
      return last
    },
    lastReport: () => last,
    hear: ({ gateway, seq, demands }) => {
      if (gateway === options.gateway) return
      const peer = peers.get(gateway)
      if (peer ? seq <= peer.seq : peers.size >= PEERS_MAX) return
      peers.set(gateway, { seq, heardAt: options.nowMs(), demands })
      version += 1
    },
    forget: gateway => {
      if (peers.delete(gateway)) version += 1
    },
  }
}
