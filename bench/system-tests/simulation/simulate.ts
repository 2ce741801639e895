// One seed: storms and quiet phases in turn, with everything checked in each quiet phase.
import { createSenders, type Senders, sendMore } from './clients.ts'
import { NO_SABOTAGE, type Sabotage } from './sabotage.ts'
import { runIn } from './stand-ins.ts'
import { calmDown, createSystem, fuseOf, PARTITIONS, type System, startAll } from './system.ts'
import { markSums, recordsOf } from './tables.ts'
import { createWorld, type World } from './world.ts'

const STORMS_MAX = 2
const REQUESTS = 6
const STORM_MS = 15_000
/** Within this everything that was accepted is stored and rolled up, once nothing is wrong any more. */
const SETTLES_WITHIN_MS = 120_000

export type Story = Pick<World, 'digest' | 'steps' | 'kills' | 'pauses' | 'faults'> & {
  readonly messages: number
  readonly duplicates: number
  readonly amendments: number
  readonly deletions: number
}

/** Runs the seed to its end. Throws with what does not hold. */
export async function simulate(seed: number, sabotage: Sabotage = NO_SABOTAGE): Promise<Story> {
  const world = createWorld(seed)
  const system = createSystem(world, sabotage)
  await runIn(system, async () => {
    const senders = createSenders(system)
    for (let left = world.random.between(1, STORMS_MAX + 1); left > 0; left -= 1) {
      breakLoose(system)
      if (world.steps === 0) startAll(system)
      sendMore(system, senders, REQUESTS)
      let isOver = false
      world.later(STORM_MS, () => (isOver = true))
      await world.runUntil(
        () => isOver,
        STORM_MS + 1,
        () => 'the storm does not end',
      )
      calmDown(system)
      await world.runUntil(
        () => isQuiet(system, senders),
        SETTLES_WITHIN_MS,
        () => unsettled(system, senders),
      )
      system.checker.quiet(system.ledger)
    }
  })
  const { tables, ledger, broker } = system
  return {
    digest: world.digest,
    steps: world.steps,
    kills: world.kills,
    pauses: world.pauses,
    faults: world.faults,
    messages: broker.streams.reduce((sum, { messages }) => sum + messages.length, 0),
    duplicates: tables.duplicates.size,
    amendments: tables.amendments.size,
    deletions: ledger.deleted.size,
  }
}

/** Chooses what goes wrong in this storm, and how often. */
function breakLoose(system: System): void {
  const { world, broker } = system
  const { random } = world
  const oneIn = () => random.pick([0, 10, 30])
  system.stormy = true
  world.weather = {
    refused: random.pick([0, 2, 10]),
    unanswered: oneIn(),
    late: oneIn(),
    lost: oneIn(),
    pause: random.pick([0, 100, 500]),
    slowMs: random.pick([20, 200, 1_200]),
    statementMs: random.pick([20, 10_000]),
  }
  for (const { life } of [...system.gateways, ...system.workers]) life.fuse = fuseOf(system)
  if (random.below(3) === 0) {
    world.later(random.below(STORM_MS), () => (broker.downUntil = world.nowMs + random.between(500, 6_000)))
  }
  for (let again = random.below(4); again > 0; again -= 1) {
    world.later(random.below(STORM_MS), () => replay(system))
  }
}

/** An operator puts a message of the log into it once more. */
function replay({ broker, world }: System): void {
  const partition = world.random.below(PARTITIONS)
  const messages = broker.messages(partition)
  if (messages.length > 0) broker.append(partition, world.random.pick(messages).body)
}

function isQuiet(system: System, senders: Senders): boolean {
  const { world, broker, tables } = system
  if (world.lateEffects > 0 || senders.open > 0 || senders.clients.some(({ busy }) => busy)) return false
  const stored = broker.streams.every(
    ({ messages }, partition) => (tables.positions.get(partition)?.seq ?? 0) === messages.length,
  )
  // Adding up the marks is dear, so it is not done at every step.
  return stored && world.steps % 8 === 0 && staleBuckets(system) === 0 && uncopied(system) === 0
}

const staleBuckets = ({ tables }: System): number =>
  [...markSums(tables)].filter(([key, { seq }]) => (tables.rollups.get(`TOTALS ${key}`)?.version ?? 0n) < seq).length

/** Records that lists of a meter do not find in the table of meters yet. */
const uncopied = ({ tables }: System): number =>
  recordsOf(tables).filter(({ text }) => !tables.byMeter.has(text)).length

function unsettled(system: System, senders: Senders): string {
  const { world, broker, tables } = system
  const ends = broker.streams.map(
    ({ messages }, partition) => `${tables.positions.get(partition)?.seq ?? 0}/${messages.length}`,
  )
  const busy = senders.clients.filter(client => client.busy).length
  return `${busy} clients and ${senders.open} corrections wait, ${world.lateEffects} effects are late, stored ${ends.join(' ')}, ${staleBuckets(system)} buckets stale, ${uncopied(system)} records not copied`
}
