// The lines of a block, out of the bytes of the file.
import type { ReadUow } from '../../../../shared/database/database.ts'
import { type ContentKey, readBytes } from './content.ts'
import { RecordSplitter } from './csv/split-records.ts'
import type { LineBlock } from './table.ts'

/** The lines of a block, in order, without their line ends. */
export async function readBlock(
  uow: ReadUow,
  key: ContentKey,
  block: Pick<LineBlock, 'lines' | 'byte_start' | 'byte_end'>,
): Promise<Buffer[]> {
  const bytes = await readBytes(uow, key, block.byte_start, block.byte_end)
  const splitter = new RecordSplitter(block.byte_start)
  const lines = [...splitter.push(bytes), ...splitter.end()].map(record => record.bytes)
  if (lines.length !== block.lines) throw new Error(`a block of ${block.lines} lines was read as ${lines.length}`)
  return lines
}
