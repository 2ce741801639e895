// A page of the lines of a file, with what became of each.
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { Page } from '../../../http/pagination.ts'
import { blocksWithLines, LINE_STATUSES, type LineStatus } from './blocks.ts'
import { readBlock } from './read-block.ts'
import type { StoredFile } from './table.ts'

export type LineView = {
  readonly file_id: string
  readonly line_item_number: number
  readonly data: string
  readonly status: LineStatus
  readonly message: string | null
}

/** Lines in one of these statuses, in the order of the file, and how many there are in all. */
export async function listLines(
  uow: ReadUow,
  file: StoredFile,
  { statuses, page }: { readonly statuses: readonly LineStatus[]; readonly page: Page },
): Promise<{ lines: LineView[]; total: number }> {
  const counts = {
    IMPORTED: file.lines_imported,
    DONE: file.lines_done,
    SKIPPED: file.lines_skipped,
    ERROR: file.lines_error,
  }
  const total = statuses.reduce((sum, status) => sum + counts[status], 0)
  const offset = (page.page - 1) * page.limit
  const lines: LineView[] = []
  for (const { block, before } of await blocksWithLines(uow, file.id, { statuses, offset, limit: page.limit })) {
    const texts = await readBlock(uow, { fileId: file.id, uploadId: file.upload_id ?? '' }, block)
    let rank = before
    for (const [place, letter] of [...block.statuses].entries()) {
      const status = LINE_STATUSES[letter as keyof typeof LINE_STATUSES]
      if (!statuses.includes(status)) continue
      if (rank >= offset && rank < offset + page.limit) {
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
