// A part of the lines of a file, with what became of each.
import type { ReadUow } from '../../../../shared/database/database.ts'
import { cursorNotFound, type Slice, type Sliced } from '../../../list/slice.ts'
import { blocksWithLines, LINE_STATUSES, type LineStatus, linesThrough } from './blocks.ts'
import { keyOf } from './content.ts'
import { readBlock } from './read-block.ts'
import type { StoredFile } from './table.ts'

export type LineView = {
  readonly file_id: string
  readonly line_item_number: number
  readonly data: string
  readonly status: LineStatus
  readonly message: string | null
}

type Wanted = { readonly statuses: readonly LineStatus[]; readonly slice: Slice }

/**
 * Lines in one of these statuses, in the order of the file. A cursor is the number of a line, whatever its status is by now, so that a
 * reader may go on while lines are processed. Throws INVALID_FIELD when the file has no such line.
 */
export async function listLines(
  uow: ReadUow,
  file: StoredFile,
  { statuses, slice }: Wanted,
): Promise<Sliced<LineView>> {
  if (slice.kind === 'PAGE') {
    const { lines, total } = await readLines(uow, file, {
      statuses,
      offset: (slice.page - 1) * slice.limit,
      limit: slice.limit,
    })
    return { rows: lines, more: total > slice.page * slice.limit, total }
  }
  const number = /^[1-9][0-9]{0,8}$/.test(slice.id) ? Number(slice.id) : 0
  const isAfter = slice.kind === 'AFTER'
  const passed = await linesThrough(uow, file.id, { statuses, line: isAfter ? number : number - 1, cursor: number })
  if (passed === null) throw cursorNotFound(slice)
  const offset = isAfter ? passed : Math.max(0, passed - slice.limit)
  const limit = isAfter ? slice.limit : passed - offset
  const { lines, total } = await readLines(uow, file, { statuses, offset, limit })
  return { rows: lines, more: isAfter ? total > offset + limit : offset > 0, total: null }
}

/** The lines `[offset, offset + limit)` of those in one of these statuses, and how many there are in all. */
async function readLines(
  uow: ReadUow,
  file: StoredFile,
  page: { readonly statuses: readonly LineStatus[]; readonly offset: number; readonly limit: number },
): Promise<{ lines: LineView[]; total: number }> {
  const { statuses, offset, limit } = page
  const counts = {
    IMPORTED: file.lines_imported,
    DONE: file.lines_done,
    SKIPPED: file.lines_skipped,
    ERROR: file.lines_error,
  }
  const total = statuses.reduce((sum, status) => sum + counts[status], 0)
  const lines: LineView[] = []
  for (const { block, before } of await blocksWithLines(uow, file.id, page)) {
    const texts = await readBlock(uow, keyOf(file), block)
    let rank = before
    for (const [place, letter] of [...block.statuses].entries()) {
      const status = LINE_STATUSES[letter as keyof typeof LINE_STATUSES]
      if (!statuses.includes(status)) continue
      if (rank >= offset && rank < offset + limit) {
        lines.push({
          file_id: file.id,
          line_item_number: block.first_line + place,
          data: texts[place]?.toString('utf8') ?? '',
          status,
          message: block.messages[place] ?? null,
        })
      }
      rank += 1
    }
  }
  return { lines, total }
}
