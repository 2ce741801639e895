// The first pass over a file: whether it can be read at all, and where its lines stand. Nothing is sent before it is through,
// so a file that cannot be read has sent nothing. Continues after the last block that is saved.
import { isUtf8 } from 'node:buffer'
import type { Uow } from '../../../../../shared/database/database.ts'
import { type Database, readTenant } from '../../../../../shared/database/database.ts'
import type { Failpoints } from '../../../../../shared/failpoint.ts'
import { type Id, idOf } from '../../../../../shared/ids.ts'
import { saveChange } from '../../../../resource/commands.ts'
import { lockOne } from '../../../../resource/store.ts'
import { addBlocks, LINES_MAX, lastBlock, type NewBlock } from '../blocks.ts'
import { BlockBuilder } from '../build-blocks.ts'
import { type ContentKey, keyOf, streamContent } from '../content.ts'
import { readHeader } from '../csv/read-header.ts'
import { type RawRecord, RecordSplitter } from '../csv/split-records.ts'
import { fileResource } from '../file.ts'
import { loadPlan } from '../mapping/load-plan.ts'
import type { FileStatus, StoredFile } from '../table.ts'
import { UnreadableFile } from '../unreadable-file.ts'
import type { Lease } from './lease.ts'

export type ImportDeps = { readonly database: Database; readonly failpoint: Failpoints }

/** Saved in one transaction. */
const BLOCKS_A_COMMIT = 20

/** Moves the file to a status, with what else changes; a file that is there already, or is moved nowhere, stays as it is. */
export async function moveFile(
  uow: Uow,
  fileId: Id<'file'>,
  status: FileStatus | null,
  more: Partial<StoredFile> = {},
): Promise<StoredFile> {
  const row = await lockOne(uow, fileResource, fileId)
  if (!row) throw new Error(`the file ${fileId} is gone`)
  if (status === null || row.status === status) return row
  return await saveChange(uow, fileResource, row, { status, ...more })
}

/** Imports a file that is UPLOADED, DOWNLOADED or IMPORTING; it is TO_BE_PROCESSED after. Throws UnreadableFile. */
export async function importFile(deps: ImportDeps, lease: Lease): Promise<void> {
  const file = await lease.change(uow => moveFile(uow, lease.fileId, 'IMPORTING'))
  const key = keyOf(file)
  const header = await firstRecord(deps.database, lease, key)
  if (header === null) throw new UnreadableFile('The file is empty: its first line must name the columns.')
  const columns = readHeader(header.bytes)
  await readTenant(deps.database, lease.tenant, uow => loadPlan(uow, file, columns))
  const lines = await importLines(deps, lease, { key, after: header.end })
  await lease.change(async uow => {
    await moveFile(uow, file.id, 'IMPORTED', { column_headers: columns, number_of_lines: lines })
    await moveFile(uow, file.id, 'TO_BE_PROCESSED')
  })
}

async function* recordsFrom(
  database: Database,
  lease: Lease,
  key: ContentKey,
  start: number,
): AsyncGenerator<RawRecord> {
  const splitter = new RecordSplitter(start)
  for await (const bytes of streamContent(database, lease.tenant, key, start)) {
    lease.signal.throwIfAborted()
    yield* splitter.push(bytes)
  }
  yield* splitter.end()
}

async function firstRecord(database: Database, lease: Lease, key: ContentKey): Promise<RawRecord | null> {
  for await (const record of recordsFrom(database, lease, key, 0)) return record
  return null
}

/** Adds the blocks that are still missing. Returns the number of lines of the file. */
async function importLines(
  { database, failpoint }: ImportDeps,
  lease: Lease,
  { key, after }: { readonly key: ContentKey; readonly after: number },
): Promise<number> {
  const last = await readTenant(database, lease.tenant, uow => lastBlock(uow, idOf('file', lease.fileId)))
  const builder = new BlockBuilder(last)
  let blocks: NewBlock[] = []
  const save = async (): Promise<void> => {
    const saved = blocks
    blocks = []
    await lease.change(uow => addBlocks(uow, idOf('file', lease.fileId), saved))
    await failpoint('files.after-import')
  }
  for await (const record of recordsFrom(database, lease, key, last?.byte_end ?? after)) {
    const block = builder.add(record)
    const { lines } = builder
    if (lines > LINES_MAX) throw new UnreadableFile(`The file has more than ${LINES_MAX} lines; split it.`)
    if (!isUtf8(record.bytes)) throw new UnreadableFile(`Line ${lines} is not UTF-8; save the file as UTF-8.`)
    if (block) blocks.push(block)
    if (blocks.length === BLOCKS_A_COMMIT) await save()
  }
  const rest = builder.close()
  if (rest) blocks.push(rest)
  if (blocks.length > 0) await save()
  return builder.lines
}
