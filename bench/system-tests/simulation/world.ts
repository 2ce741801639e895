// Virtual time and chance for a whole system in one process. Everything that takes time is a step; steps run one after the
// other in an order that the seed alone decides, and between two of them every promise settles that can. A process that is
// killed gets no further step: its memory is gone, while what it sent may still arrive.
import { type Random, randomFrom } from '../../system/random.ts'

/** One life of one process. */
export type Life = {
  readonly name: string
  dead: boolean
  /** Asleep until then, as by SIGSTOP: its timers and answers wait. */
  pausedUntil: number
  /** Awaits until it dies. */
  fuse: number
  onDeath: () => void
}
/** How bad things are now; each is one in so many, 0 for never. */
export type Weather = {
  readonly refused: number
  readonly unanswered: number
  readonly late: number
  readonly lost: number
  readonly pause: number
  /** The slowest answer, in ms. */
  readonly slowMs: number
  /** The longest between what a statement reads and what it writes, in ms. */
  readonly statementMs: number
}
export const CALM: Weather = { refused: 0, unanswered: 0, late: 0, lost: 0, pause: 0, slowMs: 20, statementMs: 20 }

/** What the world itself made fail; anything else that fails is a finding. */
export class InjectedFault extends Error {}

export type World = {
  readonly random: Random
  weather: Weather
  nowMs: number
  /** The life whose step it is. */
  current: Life | null
  steps: number
  /** A digest of all steps so far: two runs of a seed must agree in it. */
  digest: number
  kills: number
  pauses: number
  faults: number
  /** Effects that were sent and will still take place although their sender was told otherwise. */
  lateEffects: number
  failure: unknown
  chance(oneIn: number): boolean
  /** In so many whole milliseconds. */
  later(delayMs: number, task: () => void): void
  newLife(name: string, fuse: number, onDeath: () => void): Life
  /** Runs a step of this life, unless it is dead by then; later when it is asleep. */
  deliver(life: Life, delayMs: number, task: () => void): void
  /** An await at which the life may die, fall asleep, or take long. */
  pass(life: Life): Promise<void>
  kill(life: Life): void
  fail(error: unknown): void
  /** Runs steps until it holds; throws what failed, or after `withinMs` of virtual time. */
  runUntil(holds: () => boolean, withinMs: number, what: () => string): Promise<void>
}

type Step = { readonly atMs: number; readonly order: number; readonly task: () => void }

// Taken now: the tests put other clocks in the place of the global ones.
const turn = setImmediate

export function createWorld(seed: number): World {
  const random = randomFrom(seed)
  const steps = createHeap()
  let order = 0
  const world: World = {
    random,
    weather: CALM,
    nowMs: 0,
    current: null,
    steps: 0,
    digest: 0,
    kills: 0,
    pauses: 0,
    faults: 0,
    lateEffects: 0,
    failure: null,
    chance: oneIn => oneIn > 0 && random.below(oneIn) === 0,
    later(delayMs, task) {
      steps.push({ atMs: world.nowMs + Math.ceil(delayMs), order: order++, task })
    },
    newLife: (name, fuse, onDeath) => ({ name, dead: false, pausedUntil: 0, fuse, onDeath }),
    deliver(life, delayMs, task) {
      world.later(delayMs, function arrive() {
        if (life.dead) return
        if (life.pausedUntil > world.nowMs) return world.later(life.pausedUntil - world.nowMs, arrive)
        world.current = life
        task()
      })
    },
    pass: life =>
      new Promise(resolve => {
        if (tire(life)) return
        world.deliver(life, random.below(world.weather.slowMs), resolve)
      }),
    kill(life) {
      if (life.dead) return
      life.dead = true
      world.kills += 1
      life.onDeath()
    },
    fail(error) {
      world.failure ??= error
    },
    async runUntil(holds, withinMs, what) {
      const endMs = world.nowMs + withinMs
      for (;;) {
        if (world.failure !== null) throw world.failure
        if (holds()) return
        const step = steps.pop()
        if (step === undefined || step.atMs > endMs) throw new Error(`after ${withinMs} ms: ${what()}`)
        world.nowMs = step.atMs
        world.current = null
        world.steps += 1
        step.task()
        await new Promise(resolve => turn(resolve))
        world.digest = (Math.imul(world.digest, 31) + world.nowMs * 7 + random.below(1_000_000)) | 0
      }
    },
  }

  /** Whether the life ends here. */
  function tire(life: Life): boolean {
    life.fuse -= 1
    if (life.fuse < 0) world.kill(life)
    else if (world.chance(world.weather.pause)) {
      world.pauses += 1
      life.pausedUntil = world.nowMs + random.between(500, 12_000)
    }
    return life.dead
  }
  return world
}

/** A call over the network, by the weather: refused, answered late or never, done although the caller was told nothing. */
export function call<T>(world: World, life: Life, effect: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const { weather, random } = world
    const answer = (settle: () => void, afterMs = random.below(weather.slowMs)) => {
      world.deliver(life, afterMs, settle)
    }
    const fault = (what: string, afterMs?: number) => {
      world.faults += 1
      answer(() => reject(new InjectedFault(what)), afterMs)
    }
    void world.pass(life).then(() => {
      if (world.chance(weather.refused)) return fault('refused')
      if (world.chance(weather.unanswered)) {
        attempt(effect)
        return fault('no answer', random.between(200, 3_000))
      }
      if (world.chance(weather.late)) {
        world.lateEffects += 1
        world.later(random.between(50, 15_000), () => {
          world.lateEffects -= 1
          attempt(effect)
        })
        return fault('timed out', random.between(200, 3_000))
      }
      const value = attempt(effect)
      if (value !== undefined) answer(() => resolve(value.value))
    })
  })

  /** What the simulated servers themselves throw is a flaw of the simulation or a statement they do not know. */
  function attempt(work: () => T): { value: T } | undefined {
    try {
      return { value: work() }
    } catch (error) {
      world.fail(error)
      return undefined
    }
  }
}

/** `setTimeout` of node:timers/promises, in the time of the world. */
export function sleepIn(
  world: World,
  delayMs: number,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<void> {
  const life = world.current
  if (life === null) throw new Error('nobody is asleep outside of a step')
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error('aborted'))
    if (signal?.aborted) return abort()
    signal?.addEventListener('abort', abort, { once: true })
    world.deliver(life, delayMs, () => {
      signal?.removeEventListener('abort', abort)
      resolve()
    })
  })
}

function createHeap(): { push(step: Step): void; pop(): Step | undefined } {
  const heap: Step[] = []
  const before = (a: Step, b: Step): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
  const at = (index: number): Step => heap[index] as Step
  const swap = (a: number, b: number) => {
    const kept = at(a)
    heap[a] = at(b)
    heap[b] = kept
  }
  return {
    push(step) {
      heap.push(step)
      for (let index = heap.length - 1; index > 0; ) {
        const parent = (index - 1) >> 1
        if (!before(at(index), at(parent))) return
        swap(index, parent)
        index = parent
      }
    },
    pop() {
      const first = heap[0]
      const last = heap.pop()
      if (first === undefined || last === undefined || heap.length === 0) return first
      heap[0] = last
      for (let index = 0; ; ) {
        let least = index
        for (const child of [2 * index + 1, 2 * index + 2]) {
          if (child < heap.length && before(at(child), at(least))) least = child
        }
        if (least === index) return first
        swap(index, least)
        index = least
      }
    },
  }
}
