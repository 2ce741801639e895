// Gateways, their clocks and the network between them in simulated time: the real books and buckets, everything else drawn
// from a seed.
import { instantOf } from '../../shared/time.ts'
import { createRateLimits } from '../limits/rate-limits.ts'
import { createShareBook, INTERVAL_MS, type ShareReport } from '../limits/share-book.ts'
import { randomOf } from './random.ts'

export type Network = {
  /** Most milliseconds a report is under way; beyond INTERVAL_MS they overtake each other. */
  readonly delayMs: number
  /** Whether this report, to this receiver, is lost. */
  readonly isLost: (random: () => number, inARow: number) => boolean
}

export type World = {
  readonly limit: number
  readonly network: Network
  /** Events a second senders offer a gateway at a time. */
  readonly demandAt: (gateway: number, atMs: number) => number
  readonly batch: number
}

type Task = { readonly at: number; readonly order: number; readonly run: () => void }

const TENANT = { platformId: 'plat_1', environment: 'LIVE' } as const
const KEY = 'plat_1/LIVE'

/** A simulation from time zero. `passed` holds every request that passed, as time and events. */
export function simulate(world: World, seed: number) {
  const random = randomOf(seed)
  const tasks: Task[] = []
  let nowMs = 0
  let order = 0
  const at = (time: number, run: () => void): void => {
    tasks.push({ at: time, order, run })
    order += 1
  }
  const gateways: ReturnType<typeof createGateway>[] = []
  const passed: { readonly at: number; readonly events: number }[] = []

  const createGateway = (index: number) => {
    // Clocks start anywhere and run at their own speed, by up to a thousandth.
    const offset = random() * 1e6
    const speed = 1 + (random() - 0.5) / 500
    const clock = () => instantOf(offset + nowMs * speed)
    const book = createShareBook({ gateway: `g${index}`, nowMs: clock })
    const others = gateways.filter(each => each.alive).length > 0
    const limits = { of: () => ({ eventsPerSecond: world.limit, batchMax: world.batch }), version: () => 0 }
    let joinedAt: number | null = null
    const rates = createRateLimits({ limits, shares: book, nowMs: clock, emptyAt: () => joinedAt })
    // Not before the others have made room for it (joinShareNews).
    const join = (): void => {
      joinedAt = others ? clock() : null
    }
    return { index, book, rates, join, alive: true, open: false, lostInARow: new Map<number, number>() }
  }
  type Simulated = ReturnType<typeof createGateway>

  const send = (from: Simulated, report: ShareReport): void => {
    for (const to of gateways) {
      if (to === from || !to.alive) continue
      const inARow = from.lostInARow.get(to.index) ?? 0
      const isLost = world.network.isLost(random, inARow)
      from.lostInARow.set(to.index, isLost ? inARow + 1 : 0)
      if (!isLost) at(nowMs + random() * world.network.delayMs, () => to.alive && to.book.hear(report))
    }
  }
  const turn = (gateway: Simulated): void => {
    if (!gateway.alive) return
    send(gateway, gateway.book.report(gateway.rates.measure(), true))
    at(nowMs + INTERVAL_MS + random() * 4, () => turn(gateway))
  }
  const arrive = (gateway: Simulated): void => {
    if (!gateway.alive) return
    const perSecond = world.demandAt(gateway.index, nowMs)
    if (gateway.open && perSecond > 0 && gateway.rates.take(TENANT, world.batch) === 0) {
      passed.push({ at: nowMs, events: world.batch })
    }
    at(nowMs + (perSecond > 0 ? (world.batch / perSecond) * 1000 * (0.5 + random()) : 10), () => arrive(gateway))
  }

  return {
    passed,
    random,
    /** Starts a gateway; it takes requests once the others know of it, as a real one does. */
    start: (joinMs: number): void => {
      const gateway = createGateway(gateways.length)
      gateways.push(gateway)
      const hello = gateway.book.report(new Map(), true)
      send(gateway, hello)
      for (const other of gateways) {
        const known = other.book.lastReport()
        if (other !== gateway && other.alive && known) gateway.book.hear(known)
      }
      at(nowMs + random() * INTERVAL_MS, () => turn(gateway))
      at(nowMs + joinMs, () => {
        gateway.open = true
        gateway.join()
        arrive(gateway)
      })
    },
    kill: (index: number): void => {
      const gateway = gateways[index]
      if (gateway) gateway.alive = false
    },
    living: () => gateways.filter(gateway => gateway.alive).length,
    /** What the shares of all that live add up to. */
    sharesSum: () =>
      gateways
        .filter(gateway => gateway.alive && gateway.open)
        .reduce((sum, { book }) => sum + book.shareOf(KEY, world.limit), 0),
    /** Runs until `time`, telling `observe` after every step. */
    runUntil: (time: number, observe: () => void = () => undefined): void => {
      for (;;) {
        let next = -1
        for (const [index, task] of tasks.entries()) {
          const best = tasks[next]
          if (!best || task.at < best.at || (task.at === best.at && task.order < best.order)) next = index
        }
        const task = tasks[next]
        if (!task || task.at > time) break
        tasks.splice(next, 1)
        nowMs = task.at
        task.run()
        observe()
      }
      nowMs = time
    },
  }
}

/** The most that passed beyond `limit` a second in any stretch of time, in events: a bucket's burst, and what is too much. */
export function mostBeyond(passed: readonly { at: number; events: number }[], limit: number): number {
  let most = 0
  let level = 0
  let last = 0
  for (const { at, events } of passed) {
    level = Math.max(0, level - ((at - last) * limit) / 1000) + events
    last = at
    most = Math.max(most, level)
  }
  return most
}
