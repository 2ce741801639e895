// The second pass: lines become events and go through the gateway, block by block. Of each line it is first saved what is known
// without the gateway, then what the gateway said; after a crash the lines in between are sent again, which their references
// make harmless, and are not taken for repeats of themselves.
import { eventHash } from '../../../../../shared/contracts/usage-event.ts'
import { type Database, readTenant } from '../../../../../shared/database/database.ts'
import type { Failpoints } from '../../../../../shared/failpoint.ts'
import { formatInstant } from '../../../../../shared/time.ts'
import { blocksAfter, firstOpenBlock, type LineOutcome, saveBlock, withOutcomes } from '../blocks.ts'
import { keyOf } from '../content.ts'
import { parseRecords } from '../csv/parse-records.ts'
import { loadFacts, loadPlan } from '../mapping/load-plan.ts'
import type { FileFacts, Plan } from '../mapping/plan.ts'
import { type LineEvent, type ReadLine, readLine } from '../mapping/read-line.ts'
import { readBlock } from '../read-block.ts'
import type { LineBlock, StoredFile } from '../table.ts'
import type { Gateway } from './gateway.ts'
import { moveFile } from './import-file.ts'
import type { Lease } from './lease.ts'
import { ReferencesSeen } from './references-seen.ts'

export type ProcessDeps = {
  readonly database: Database
  /** Which of these events the tenant has already; sees everything accepted before the processing began. */
  readonly findUsedIds: (lease: Lease, idHashes: readonly string[]) => Promise<ReadonlySet<string>>
  /** Waits until that is so. Throws when it takes too long. */
  readonly settleUsage: () => Promise<void>
  readonly failpoint: Failpoints
}

/** Blocks whose references are looked up together: each look reads the ids of the whole tenant. */
const BLOCKS_A_LOOK = 10
/** Calls to the gateway at a time: the gateway puts what comes together into one message, so few would wait for the disk one by one. */
const SENDS_MAX = 16

type Work = {
  readonly deps: ProcessDeps
  readonly lease: Lease
  readonly gateway: Gateway
  readonly file: StoredFile
  readonly plan: Plan
  readonly facts: FileFacts
  readonly seen: ReferencesSeen
}
type OpenBlock = { block: LineBlock; readonly lines: readonly ReadLine[] }

/** Processes a file that is TO_BE_PROCESSED or PROCESSING; it is DONE after, whatever became of single lines. */
export async function processFile(deps: ProcessDeps, lease: Lease, gateway: Gateway): Promise<void> {
  const file = await lease.change(uow =>
    moveFile(uow, lease.fileId, 'PROCESSING', { processing_started_at: formatInstant(uow.now) }),
  )
  await deps.settleUsage()
  const work = await readTenant(deps.database, lease.tenant, async (uow): Promise<Work> => {
    const plan = await loadPlan(uow, file, file.column_headers ?? [])
    const facts = await loadFacts(uow, file, file.processing_started_at ?? formatInstant(uow.now))
    return { deps, lease, gateway, file, plan, facts, seen: new ReferencesSeen() }
  })
  const first = await readTenant(deps.database, lease.tenant, uow => firstOpenBlock(uow, file.id))
  if (first !== null) {
    await recall(work, first)
    await processFrom(work, first)
  }
  await lease.change(uow => moveFile(uow, file.id, 'DONE'))
}

async function processFrom(work: Work, first: number): Promise<void> {
  for (let after = first - 1; ; ) {
    const open = await readBlocks(work, after)
    const last = open.at(-1)
    if (last === undefined) return
    await checkLines(work, open)
    await work.deps.failpoint('files.after-check')
    await sendBlocks(work, open)
    after = last.block.number
  }
}

/** The references of the lines that are settled already. */
async function recall(work: Work, before: number): Promise<void> {
  for (let after = -1; after < before - 1; ) {
    const blocks = (await readBlocks(work, after)).filter(({ block }) => block.number < before)
    for (const each of blocks) claimAll(work, each)
    after = blocks.at(-1)?.block.number ?? before
  }
}

async function readBlocks(work: Work, after: number): Promise<OpenBlock[]> {
  const { lease, file, plan, facts } = work
  lease.signal.throwIfAborted()
  const key = keyOf(file)
  return await readTenant(work.deps.database, lease.tenant, async uow => {
    const open: OpenBlock[] = []
    for (const block of await blocksAfter(uow, file.id, { after, limit: BLOCKS_A_LOOK })) {
      const fields = parseRecords(await readBlock(uow, key, block))
      open.push({ block, lines: fields.map(line => readLine(line, plan, facts)) })
    }
    return open
  })
}

/** The line of the file that has the reference of each event, where that is an earlier one; by place. */
function claimAll(work: Work, { block, lines }: OpenBlock): Map<number, number> {
  const earlier = new Map<number, number>()
  for (const [place, line] of lines.entries()) {
    if (line.kind !== 'event') continue
    const known = work.seen.claim(hashOf(work, line.event), block.first_line + place)
    if (known !== null) earlier.set(place, known)
  }
  return earlier
}

const hashOf = ({ lease: { tenant } }: Work, event: LineEvent): string =>
  eventHash(tenant.platformId, tenant.environment, event.reference)

/** Settles what is known of these lines without the gateway, and saves that before anything of them is sent. */
async function checkLines(work: Work, open: readonly OpenBlock[]): Promise<void> {
  const earlier = open.map(each => claimAll(work, each))
  const unchecked = open.filter(({ block }) => !block.checked)
  if (unchecked.length === 0) return
  const hashes = unchecked.flatMap(({ lines }) =>
    lines.flatMap(line => (line.kind === 'event' ? [hashOf(work, line.event)] : [])),
  )
  const used = await work.deps.findUsedIds(work.lease, hashes)
  const saved = open.map((each, index): LineBlock => {
    if (each.block.checked) return each.block
    const outcomes = new Map<number, LineOutcome>()
    for (const [place, line] of each.lines.entries()) {
      const outcome = knownOutcome(work, line, { earlier: earlier[index]?.get(place), used })
      if (outcome) outcomes.set(place, outcome)
    }
    return withOutcomes(each.block, outcomes)
  })
  await work.lease.change(async uow => {
    for (const [index, after] of saved.entries()) {
      const before = open[index]?.block
      if (before && before !== after && !(await saveBlock(uow, before, after))) throw changedMeanwhile(after)
    }
  })
  for (const [index, block] of saved.entries()) {
    const each = open[index]
    if (each) each.block = block
  }
}

const changedMeanwhile = ({ number }: LineBlock): Error => new Error(`block ${number} was settled by another worker`)

function knownOutcome(
  work: Work,
  line: ReadLine,
  known: { readonly earlier: number | undefined; readonly used: ReadonlySet<string> },
): LineOutcome | null {
  if (line.kind === 'error') return { status: 'ERROR', message: line.message }
  if (line.kind === 'skip') return { status: 'SKIPPED', message: line.message }
  if (known.earlier !== undefined) {
    return { status: 'SKIPPED', message: `Line ${known.earlier} of this file has the same reference.` }
  }
  if (!known.used.has(hashOf(work, line.event))) return null
  return { status: 'SKIPPED', message: 'There is an event with this reference already.' }
}

/** Lines of one block on their way, and what is known of all its lines so far. */
type Sending = { readonly block: LineBlock; readonly outcomes: Map<number, LineOutcome>; batchesLeft: number }
type Batch = { readonly of: Sending; readonly lines: readonly { readonly place: number; readonly event: LineEvent }[] }

/** Sends the lines of these blocks that are not settled; a block is saved as soon as all of its lines are. */
async function sendBlocks(work: Work, open: readonly OpenBlock[]): Promise<void> {
  const waiting = open.flatMap(each => batchesOf(each, work.gateway.batchMax))
  const sender = async (): Promise<void> => {
    for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
      work.lease.signal.throwIfAborted()
      await sendBatch(work, batch)
    }
  }
  // All are waited for, so that nothing is still being sent when the file is given up.
  const ends = await Promise.allSettled(Array.from({ length: SENDS_MAX }, sender))
  const failed = ends.find(end => end.status === 'rejected')
  if (failed) throw failed.reason
}

function batchesOf({ block, lines }: OpenBlock, batchMax: number): Batch[] {
  const of: Sending = { block, outcomes: new Map(), batchesLeft: 0 }
  const events: { place: number; event: LineEvent }[] = []
  for (const [place, line] of lines.entries()) {
    if (block.statuses[place] !== 'I') continue
    if (line.kind === 'event') events.push({ place, event: line.event })
    // It was an event when it was checked: the settings have been changed since.
    else of.outcomes.set(place, { status: line.kind === 'skip' ? 'SKIPPED' : 'ERROR', message: line.message })
  }
  const batches: Batch[] = []
  while (events.length > 0) batches.push({ of, lines: events.splice(0, batchMax) })
  // A block without events still has to be saved when there is something to say of it.
  if (batches.length === 0 && of.outcomes.size > 0) batches.push({ of, lines: [] })
  of.batchesLeft = batches.length
  return batches
}

async function sendBatch(work: Work, { of, lines }: Batch): Promise<void> {
  const verdicts = await work.gateway.send(lines.map(({ event }) => event))
  for (const [index, { place }] of lines.entries()) {
    const message = verdicts[index] ?? null
    of.outcomes.set(place, message === null ? { status: 'DONE' } : { status: 'ERROR', message })
  }
  await work.deps.failpoint('files.after-send')
  of.batchesLeft -= 1
  if (of.batchesLeft > 0) return
  await work.lease.change(async uow => {
    if (!(await saveBlock(uow, of.block, withOutcomes(of.block, of.outcomes)))) throw changedMeanwhile(of.block)
  })
  await work.deps.failpoint('files.after-block')
}
