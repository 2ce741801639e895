// What became of the lines of a file, kept by the block. The statuses of a block change at most twice: when what is known
// without the gateway is settled, and when the gateway has answered for the rest.
import { and, asc, eq, gt, lte, type SQL, sql } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { fileLineBlocks, files, type LineBlock } from './table.ts'

/** A block ends at whichever of these it reaches first, so that one fits in memory whatever its lines are. */
export const BLOCK_LINES_MAX = 1_000
export const BLOCK_BYTES_MAX = 262_144
/** The references of a file are held in memory while it is processed, which bounds their number. */
export const LINES_MAX = 5_000_000
/** Characters of a message, most of which are the sender's own texts. */
const MESSAGE_MAX = 500

export const LINE_STATUSES = { I: 'IMPORTED', D: 'DONE', S: 'SKIPPED', E: 'ERROR' } as const
type Letter = keyof typeof LINE_STATUSES
export type LineStatus = (typeof LINE_STATUSES)[Letter]

/** What became of one line; IMPORTED lines are still to be sent. */
export type LineOutcome = { readonly status: LineStatus; readonly message?: string }

export type NewBlock = Pick<LineBlock, 'number' | 'first_line' | 'lines' | 'byte_start' | 'byte_end'>

const ofFile = (uow: ReadUow, fileId: Id<'file'>): SQL | undefined =>
  and(
    eq(fileLineBlocks.platform_id, uow.tenant.platformId),
    eq(fileLineBlocks.environment, uow.tenant.environment),
    eq(fileLineBlocks.file_id, fileId),
  )

/** The last block that is imported; null before the first. */
export async function lastBlock(uow: ReadUow, fileId: Id<'file'>): Promise<LineBlock | null> {
  const [block] = await uow.tx
    .select()
    .from(fileLineBlocks)
    .where(ofFile(uow, fileId))
    .orderBy(sql`${fileLineBlocks.number} desc`)
    .limit(1)
  return block ?? null
}

/** Adds blocks whose lines are all IMPORTED, and counts them with the file. */
export async function addBlocks(uow: Uow, fileId: Id<'file'>, blocks: readonly NewBlock[]): Promise<void> {
  if (blocks.length === 0) return
  await uow.tx.insert(fileLineBlocks).values(
    blocks.map(block => ({
      ...block,
      platform_id: uow.tenant.platformId,
      environment: uow.tenant.environment,
      file_id: fileId,
      statuses: 'I'.repeat(block.lines),
      messages: {},
      imported: block.lines,
      done: 0,
      skipped: 0,
      error: 0,
      checked: false,
    })),
  )
  await count(uow, fileId, { I: blocks.reduce((sum, block) => sum + block.lines, 0), D: 0, S: 0, E: 0 })
}

/** The next blocks, after block `after`, in the order of the file. */
export async function blocksAfter(
  uow: ReadUow,
  fileId: Id<'file'>,
  of: { readonly after: number; readonly limit: number },
): Promise<LineBlock[]> {
  return await uow.tx
    .select()
    .from(fileLineBlocks)
    .where(and(ofFile(uow, fileId), gt(fileLineBlocks.number, of.after)))
    .orderBy(asc(fileLineBlocks.number))
    .limit(of.limit)
}

/** The number of the first block with a line that is not settled; null when there is none. */
export async function firstOpenBlock(uow: ReadUow, fileId: Id<'file'>): Promise<number | null> {
  const [block] = await uow.tx
    .select({ number: fileLineBlocks.number })
    .from(fileLineBlocks)
    .where(and(ofFile(uow, fileId), gt(fileLineBlocks.imported, 0)))
    .orderBy(asc(fileLineBlocks.number))
    .limit(1)
  return block?.number ?? null
}

/** The block with these outcomes, by place; a place without one stays as it is. Pure. */
export function withOutcomes(block: LineBlock, outcomes: ReadonlyMap<number, LineOutcome>): LineBlock {
  const letters = [...block.statuses]
  const messages = { ...block.messages }
  for (const [place, { status, message }] of outcomes) {
    letters[place] = status[0] as Letter
    if (message !== undefined) messages[place] = storable(message)
  }
  const counted = { I: 0, D: 0, S: 0, E: 0 }
  for (const letter of letters) counted[letter as Letter] += 1
  const { I: imported, D: done, S: skipped, E: error } = counted
  return { ...block, statuses: letters.join(''), messages, imported, done, skipped, error, checked: true }
}

// jsonb takes neither NUL nor half a pair of surrogates, and cutting may leave one.
const storable = (message: string): string => Buffer.from(message.slice(0, MESSAGE_MAX).replaceAll('\0', '')).toString()

/** Saves `after` over `before`, and counts the difference with the file. False when the block is no more as it was. */
export async function saveBlock(uow: Uow, before: LineBlock, after: LineBlock): Promise<boolean> {
  const { statuses, messages, imported, done, skipped, error, checked } = after
  const changed = await uow.tx
    .update(fileLineBlocks)
    .set({ statuses, messages, imported, done, skipped, error, checked })
    .where(
      and(
        ofFile(uow, before.file_id),
        eq(fileLineBlocks.number, before.number),
        eq(fileLineBlocks.statuses, before.statuses),
        eq(fileLineBlocks.checked, before.checked),
      ),
    )
    .returning({ number: fileLineBlocks.number })
  if (changed.length === 0) return false
  await count(uow, before.file_id, {
    I: imported - before.imported,
    D: done - before.done,
    S: skipped - before.skipped,
    E: error - before.error,
  })
  return true
}

async function count(uow: Uow, fileId: Id<'file'>, more: Readonly<Record<Letter, number>>): Promise<void> {
  await uow.tx
    .update(files)
    .set({
      lines_imported: sql`${files.lines_imported} + ${more.I}`,
      lines_done: sql`${files.lines_done} + ${more.D}`,
      lines_skipped: sql`${files.lines_skipped} + ${more.S}`,
      lines_error: sql`${files.lines_error} + ${more.E}`,
    })
    .where(and(inThisTenant(uow, files), eq(files.id, fileId)))
}

const COUNT_COLUMNS = {
  IMPORTED: fileLineBlocks.imported,
  DONE: fileLineBlocks.done,
  SKIPPED: fileLineBlocks.skipped,
  ERROR: fileLineBlocks.error,
} as const

/**
 * The blocks that hold the lines `[offset, offset + limit)` of those in one of these statuses, each with how many such lines
 * stand before it.
 */
export async function blocksWithLines(
  uow: ReadUow,
  fileId: Id<'file'>,
  page: { readonly statuses: readonly LineStatus[]; readonly offset: number; readonly limit: number },
): Promise<{ block: LineBlock; before: number }[]> {
  const matching = sql.join(
    page.statuses.map(status => sql`${COUNT_COLUMNS[status]}`),
    sql` + `,
  )
  const placed = uow.tx
    .select({
      number: fileLineBlocks.number,
      matching: sql<number>`(${matching})`.as('matching'),
      through: sql<number>`(sum(${matching}) over (order by ${fileLineBlocks.number}))::int`.as('through'),
    })
    .from(fileLineBlocks)
    .where(ofFile(uow, fileId))
    .as('placed')
  const rows = await uow.tx
    .select({ block: fileLineBlocks, before: sql<number>`${placed.through} - ${placed.matching}` })
    .from(placed)
    .innerJoin(fileLineBlocks, and(ofFile(uow, fileId), eq(fileLineBlocks.number, placed.number)))
    .where(
      sql`${placed.matching} > 0 and ${placed.through} > ${page.offset} and ${placed.through} - ${placed.matching} < ${page.offset + page.limit}`,
    )
    .orderBy(asc(fileLineBlocks.number))
  return rows
}

/**
 * How many lines of the file up to number `line` are in one of these statuses; null when the file has no line of number `cursor`.
 */
export async function linesThrough(
  uow: ReadUow,
  fileId: Id<'file'>,
  of: { readonly statuses: readonly LineStatus[]; readonly line: number; readonly cursor: number },
): Promise<number | null> {
  const letters = Object.entries(LINE_STATUSES).filter(([, status]) => of.statuses.includes(status))
  const others = Object.keys(LINE_STATUSES).filter(each => letters.every(([letter]) => letter !== each))
  const place = sql`${of.line} - ${fileLineBlocks.first_line} + 1`
  const within = sql`length(translate(left(${fileLineBlocks.statuses}, greatest(0, ${place})), ${others.join('')}, ''))`
  const isThere = sql`${of.cursor} >= ${fileLineBlocks.first_line} and ${of.cursor} < ${fileLineBlocks.first_line} + ${fileLineBlocks.lines}`
  const [row] = await uow.tx
    .select({
      passed: sql<number>`coalesce(sum(${within}), 0)::int`,
      isThere: sql<boolean>`coalesce(bool_or(${isThere}), false)`,
    })
    .from(fileLineBlocks)
    .where(and(ofFile(uow, fileId), lte(fileLineBlocks.first_line, of.cursor)))
  return row?.isThere ? row.passed : null
}
